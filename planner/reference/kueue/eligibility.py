"""Which flavors a podset may have, which of two flavors Kueue prefers, and why none fits.

Taints, node selectors and required affinity decide which flavors a podset may have; how a request
fits and what it borrows decide the preference, and when the walk over the flavors stops.

Source: docs/semantics/kueue.md §4.2, §4.5 and §4.6; kueue ff69552e
pkg/scheduler/flavorassigner/flavorassigner.go ``checkFlavorForPodSets``, ``flavorSelector``,
``isPreferred``, ``shouldTryNextFlavor``, ``resolveNoFitReason``, ``mostSevereReason``;
pkg/resources/slice_requests.go for the order of resources.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Final, NamedTuple

from planner.quantity import is_milli
from planner.quota.kueue.assignment import Mode
from planner.quota.kueue.selector import InvalidSelectorError, meets, untolerated
from planner.state.kueue_configuration import Configuration
from planner.state.pods import PodSpec
from planner.state.queues import FlavorFungibility, ResourceFlavor, ResourceGroup


def why_ineligible(
    pod: PodSpec,
    flavor: ResourceFlavor,
    keys: AbstractSet[str] | None = None,
    *,
    compares: bool = True,
) -> str:
    """Say why a pod may not run on the nodes of a flavor, as Kueue does; empty if it may.

    Of the pod's selectors only the label keys count that this flavor defines, or else ``keys``.
    ``compares`` says that tolerations with the operators Gt and Lt count.

    Raises `InvalidSelectorError` if the pod's selector is not valid for the labels the flavor
    defines.
    """
    given = (*pod.tolerations, *flavor.spec.tolerations)
    tolerations = [one for one in given if compares or one.operator not in {"Gt", "Lt"}]
    for taint in untolerated(flavor.spec.node_taints, tolerations):
        shown = f"{{{taint.key} {taint.value} {taint.effect} <nil>}}"
        return f"untolerated taint {shown} in flavor {flavor.name}"
    labels = flavor.spec.node_labels
    if _selector_matches(pod, labels, labels.keys() if keys is None else keys):
        return ""
    return f"flavor {flavor.name} doesn't match node affinity"


def _selector_matches(pod: PodSpec, labels: Mapping[str, str], keys: AbstractSet[str]) -> bool:
    """Compare only the selectors that name one of the label keys; the others are dropped."""
    if any(labels.get(key) != value for key, value in pod.node_selector.items() if key in keys):
        return False
    # matchFields name nodes, of which a flavor says nothing: Kueue drops them (§4.2).
    terms = [
        [row for row in term.match_expressions if row.key in keys]
        for term in pod.required_nodes or ()
    ]
    # Terms are alternatives: a term that asks nothing of this flavor admits it.
    if not terms or not all(terms):
        return True
    invalid: InvalidSelectorError | None = None
    for rows in terms:
        try:
            matches = [meets(row, labels.get(row.key)) for row in rows]
        except InvalidSelectorError as error:
            invalid = error  # a later term may still match; Kubernetes reports it only if none does
            continue
        if all(matches):
            return True
    if invalid:
        raise invalid
    return False


class Possibility(IntEnum):
    """What a flavor-resource offers, from worst to best."""

    NO_FIT = 0
    NO_CANDIDATES = 1
    PREEMPT = 2
    RECLAIM = 3
    FIT = 4

    @property
    def mode(self) -> Mode:
        """The mode that an assignment shows: having no candidates shows as Preempt too."""
        if self is Possibility.NO_FIT:
            return "NoFit"
        return "Fit" if self is Possibility.FIT else "Preempt"


class Offer(NamedTuple):
    """What a flavor-resource offers, and the height of the subtree it would borrow from."""

    possibility: Possibility
    level: int


WORST = Offer(Possibility.NO_FIT, 2**31)
BEST = Offer(Possibility.FIT, 0)


class Taste(NamedTuple):
    """What decides between two offers.

    ``level_first`` says that a lower borrow level comes before a better possibility;
    ``empty_last`` that NO_CANDIDATES is worse than all other possibilities but NO_FIT.
    """

    level_first: bool
    empty_last: bool


def taste_of(fungibility: FlavorFungibility, configuration: Configuration) -> Taste:
    """Return what decides between offers in a ClusterQueue, under the rules of the release.

    Older releases take each preference for the other one (switch 1 of
    planner/state/kueue_release.py), and a gate chooses where no preference is given (17).
    """
    preference, rules = fungibility.preference, configuration.rules
    level_first = (preference == "PreemptionOverBorrowing") == rules.preference_as_named
    if preference is None:
        implied = configuration.gate("FlavorFungibilityImplicitPreferenceDefault")
        level_first = implied and fungibility.when_can_borrow == "TryNextFlavor"
    return Taste(level_first, rules.no_candidates_last)


def is_preferred(a: Offer, b: Offer, taste: Taste) -> bool:
    """Say whether a is strictly preferred over b; equal offers are not."""
    if a.possibility is Possibility.NO_FIT:
        return False
    if b.possibility is Possibility.NO_FIT:
        return True
    a_empty = a.possibility is Possibility.NO_CANDIDATES
    b_empty = b.possibility is Possibility.NO_CANDIDATES
    # Before any preference: in a flavor without candidates a workload only waits (§4.5).
    if taste.empty_last and a_empty != b_empty:
        return b_empty
    if taste.level_first:
        return (-a.level, a.possibility) > (-b.level, b.possibility)
    return (a.possibility, -a.level) > (b.possibility, -b.level)


def tries_next(offer: Offer, fungibility: FlavorFungibility) -> bool:
    """Say whether the walk goes on to the next flavor after this one."""
    if offer.possibility in {Possibility.NO_FIT, Possibility.NO_CANDIDATES}:
        return True
    if offer.possibility is not Possibility.FIT and fungibility.when_can_preempt == "TryNextFlavor":
        return True
    # Also for an offer that preempts: above level 0 both settings must say stop (§4.6).
    return offer.level > 0 and fungibility.when_can_borrow == "TryNextFlavor"


_KIBI: Final = 1024
_BINARY: Final = ("", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei")
_DECIMAL: Final = ("m", "", "k", "M", "G", "T", "P", "E")


class NoFitReason(Enum):
    """Reasons of the condition QuotaReserved, from mild to severe."""

    NONE = ""
    TOPOLOGY_PLACEMENT_FAILED = "TopologyPlacementFailed"
    WAITING_FOR_QUOTA = "WaitingForQuota"
    EXCEEDS_MAX_QUOTA = "ExceedsMaxQuota"
    NO_MATCHING_FLAVOR = "NoMatchingFlavor"


_SEVERITY: Final = {reason: severity for severity, reason in enumerate(NoFitReason)}


def most_severe(reasons: Iterable[NoFitReason]) -> NoFitReason:
    """Return the most severe of the reasons; NONE if there are none."""
    return max(reasons, key=_SEVERITY.__getitem__, default=NoFitReason.NONE)


@dataclass(slots=True)
class Attempts:
    """The flavors that were looked at for podsets that are handled together."""

    _any: bool = False
    _against: dict[int, NoFitReason] = field(default_factory=dict)

    def add(self, covering: ResourceGroup, reason: NoFitReason | None) -> None:
        """Note a flavor of a resource group, and why it is no fit; ``None`` if it fits.

        The flavors of a group are alternatives: its mildest reason counts.
        """
        self._any = True
        if reason is not None:
            known = self._against.get(id(covering), reason)
            self._against[id(covering)] = min(known, reason, key=_SEVERITY.__getitem__)

    def reason(self) -> NoFitReason:
        """Return why the podsets do not fit: all groups are needed, so the severest counts."""
        # No flavor was even looked at, as for a resource that no group covers.
        if not self._any:
            return NoFitReason.NO_MATCHING_FLAVOR
        return most_severe(self._against.values())


def kubernetes_amount(units: int, resource: str) -> str:
    """Write an amount as Kubernetes does: with the largest suffix that leaves a whole number."""
    is_bytes = resource in {"memory", "ephemeral-storage"} or resource.startswith("hugepages-")
    # Fewer bytes than a Ki are written like any other number: 1000 of them are 1k.
    base = _KIBI if is_bytes and abs(units) >= _KIBI else 1000
    suffixes = _BINARY if base == _KIBI else _DECIMAL[0 if is_milli(resource) else 1 :]
    power = 0
    while units and power + 1 < len(suffixes) and units % base == 0:
        units //= base
        power += 1
    return f"{units}{suffixes[power]}" if units else "0"
