"""Random states of Kueue with numbers of any size, quotas close to usage, and many equal workloads.

``random_state(seed)`` gives the same state for the same seed on every machine. Every resource has a
unit of its own, from 1 to 2^55, and amounts are a few units, now and then one off: sums meet
quotas exactly or miss them by one, where a rounded number would not tell the two apart.
"""

from dataclasses import dataclass
from typing import Final

from tests.oracle.random_workloads import Draw, Object, as_text

NOW: Final = "2026-03-01T12:00:00Z"
PENDING: Final = "team/incoming"
WEIGHTS: Final = ("1", "1", "2", "0.3", "0.7", "3", "0")
KUEUE: Final = {"apiVersion": "kueue.x-k8s.io/v1beta2"}


@dataclass(frozen=True)
class RandomState:
    """Objects, the flavors that the preemptor gets, if they are given, and costs."""

    seed: int
    objects: list[Object]
    assignment: dict[str, dict[str, dict[str, str]]] | None
    costs: dict[str, int]


def random_state(seed: int) -> RandomState:
    """Return the state of a seed."""
    return StateDraw(seed).state()


class StateDraw(Draw):
    """One state as it is drawn."""

    def state(self) -> RandomState:
        """Draw the state."""
        cohorts = self._cohorts()
        held = self.workloads()
        used = {
            (queue, resource): sum(
                int(each["_usage"].get(resource, 0))
                for each in held
                if each["status"]["admission"]["clusterQueue"] == queue
            )
            for queue in self.queues
            for resource in self.resources
        }
        names = [cohort["metadata"]["name"] for cohort in cohorts]
        queues = [self._queue(queue, names, used) for queue in self.queues]
        self._cover(cohorts, queues, used)
        costs = {_key(each): self.chance.randint(0, 9) for each in held}
        wish = self.wish(held)
        for each in held:
            del each["_usage"]
        objects = [*cohorts, *queues, *held, self.incoming(wish), self.local_queue()]
        kind = {"kind": "ResourceFlavor"}
        objects += [{**kind, "metadata": {"name": flavor}} for flavor in ("any", "other")]
        objects = [{**KUEUE, **each} for each in objects]
        objects += self._configuration()
        given = None if self.likely(0.4) else self._assignment()
        return RandomState(self.seed, objects, given, costs)

    def _configuration(self) -> list[Object]:
        found: Object = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
        gates = {}
        if self.fair:
            final, initial = "LessThanOrEqualToFinalShare", "LessThanInitialShare"
            strategies = self.one_of([], [final], [initial], [final, initial])
            found["fairSharing"] = {"preemptionStrategies": strategies}
            gates["FairSharingPreemptWithinNominal"] = self.likely(0.5)
        if self.likely(0.2):
            gates["PriorityBoost"] = True
        if gates:
            found["featureGates"] = gates
        return [found] if self.fair or gates else []

    def _cohorts(self) -> list[Object]:
        cohorts: list[Object] = []
        depths: list[int] = []
        for index in range(1 if self.crowded else self.chance.choice((0, 1, 1, 1, 2, 3, 4))):
            above = [place for place, depth in enumerate(depths) if depth < 2]
            parent = self.chance.choice(above) if above and self.likely(0.85) else None
            depths.append(0 if parent is None else depths[parent] + 1)
            spec: Object = {} if parent is None else {"parentName": f"pool-{parent}"}
            if self.likely(0.4):
                quotas = {name: self.amount(name, 3) for name in self.resources}
                spec["resourceGroups"] = self._groups(quotas, limits=parent is not None)
            if self.fair:
                spec["fairSharing"] = {"weight": self.one_of(*WEIGHTS)}
            cohorts.append({"kind": "Cohort", "metadata": {"name": f"pool-{index}"}, "spec": spec})
        return cohorts

    def _groups(self, quotas: dict[str, int], *, limits: bool) -> list[Object]:
        groups = []
        for names in self.groups:
            rows = []
            for name in names:
                row = {"name": name, "nominalQuota": as_text(name, quotas[name])}
                for limit in ("borrowingLimit", "lendingLimit"):
                    if limits and self.likely(0.12):
                        row[limit] = as_text(name, self.amount(name, 4))
                rows.append(row)
            if rows:
                flavor = {"name": self.flavor[names[0]], "resources": rows}
                groups.append({"coveredResources": names, "flavors": [flavor]})
        return groups

    def _queue(self, name: str, cohorts: list[str], used: dict[tuple[str, str], int]) -> Object:
        spec: Object = {"namespaceSelector": {}}
        if cohorts and self.likely(0.93):
            spec["cohortName"] = self.chance.choice(cohorts)
        quotas = {}
        for resource in self.resources:
            unit, now = self.units[resource], used[name, resource]
            near = self.chance.choice((0, 0, unit, -unit, -unit, -2 * unit, -3 * unit, -now))
            if self.crowded:
                near = self.chance.choice((0, -unit, -2 * unit, -now, -now))
            if name == self.queues[0]:
                near = self.chance.choice((0, 0, unit, 2 * unit, 3 * unit, -unit))
            if self.odd:
                near = self.chance.randint(-now, unit)
            quotas[resource] = max(0, now + near + self.chance.choice((0, 0, 0, 1, -1)))
        spec["resourceGroups"] = self._groups(quotas, limits="cohortName" in spec)
        if self.fair:
            spec["fairSharing"] = {"weight": self.one_of(*WEIGHTS)}
        if name == self.queues[0]:
            borrow = {"policy": self.one_of("Never", "LowerPriority", "LowerPriority")}
            if borrow["policy"] != "Never" and self.likely(0.4):
                borrow["maxPriorityThreshold"] = self.chance.randint(-1, 2)
            own = ["LowerPriority", "LowerPriority", "LowerOrNewerEqualPriority"]
            own += [] if self.crowded else ["Never"]
            spec["preemption"] = {
                "withinClusterQueue": self.one_of(*own),
                "reclaimWithinCohort": self.one_of(
                    *["Any", "LowerPriority"] * 4, "Any" if self.crowded else "Never"
                ),
                "borrowWithinCohort": borrow,
            }
        elif self.likely(0.06):
            spec["stopPolicy"] = "Hold"
        return {"kind": "ClusterQueue", "metadata": {"name": name}, "spec": spec}

    def _cover(
        self, cohorts: list[Object], queues: list[Object], used: dict[tuple[str, str], int]
    ) -> None:
        """Give most cohorts about the quota that the queues right below them borrow."""
        for cohort in cohorts:
            if self.likely(0.2):
                continue
            name, spec = cohort["metadata"]["name"], cohort["spec"]
            spec.pop("resourceGroups", None)
            quotas = {}
            for resource in self.resources:
                lack = sum(
                    used[queue["metadata"]["name"], resource] - _nominal(queue, resource)
                    for queue in queues
                    if queue["spec"].get("cohortName") == name
                )
                more = self.chance.choice((0, 0, 1, 1, 2, -1)) * self.units[resource]
                if self.odd:
                    more = self.chance.randint(0, self.units[resource])
                quotas[resource] = max(0, lack + more + self.chance.choice((0, 0, 1, -1)))
            spec["resourceGroups"] = self._groups(quotas, limits="parentName" in spec)

    def _assignment(self) -> dict[str, dict[str, dict[str, str]]]:
        """Return flavors without modes, which follow from the state."""
        return {"main": {name: {"flavor": self.flavor[name]} for name in self.resources}}


def _nominal(queue: Object, resource: str) -> int:
    return next(
        int(row["nominalQuota"].removesuffix("m"))
        for group in queue["spec"]["resourceGroups"]
        for row in group["flavors"][0]["resources"]
        if row["name"] == resource
    )


def _key(item: Object) -> str:
    return f"{item['metadata']['namespace']}/{item['metadata']['name']}"
