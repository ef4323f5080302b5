"""The smallest boosts that make Kueue evict the victims of the best plan, as an answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Final, Literal

from planner.commands.boost.kueue.search import Choice, Found, Search
from planner.commands.boost.kueue.trial import StateTrial
from planner.plan import Published, Record
from planner.plan.base import Told
from planner.plan.kueue import Plan
from planner.plan.label import Label, Tone
from planner.quantity import plural
from planner.solver.deadline import Deadline
from planner.state.kueue import State
from planner.state.kueue_workload import BOOST_ANNOTATION
from planner.state.name import not_allowed

BoostStatus = Literal["smallest", "found", "impossible", "unknown"]
"""smallest: the boosts work, and it is proved that no smaller ones do (search.py says what is
smaller). found: the boosts work, and smaller ones are not ruled out. impossible: it is proved that
no boosts work. unknown: no boosts were found, and nothing is proved. What is proved is proved of
boosts after which the rules permit to take just whom they permit to take today."""
ANSWERS: Final[Mapping[BoostStatus, tuple[str, Tone]]] = {
    "smallest": ("Proved smallest", "good"),
    "found": ("Works, not proved smallest", "warn"),
    "impossible": ("None works", "bad"),
    "unknown": ("Unknown", "warn"),
}


class WorkloadBoost(Record):
    """The boost of one workload, which is a victim of the plan or spared by it.

    ``priority`` is its own, ``boost`` the value of the annotation, and ``effective`` their sum;
    those before are today's, with the feature gate PriorityBoost on.
    """

    workload: Annotated[str, Label("Workload", "key", unit="workload")]
    cluster_queue: Annotated[str, Label("ClusterQueue", "name", below="workload")]
    role: Annotated[Literal["victim", "spared"], Label("In the plan")]
    priority: Annotated[int, Label("Priority", unit="rank")]
    boost_before: Annotated[int, Label(plain="before")]
    boost: Annotated[int, Label("Boost", plain="value", unit="boost")]
    effective_before: Annotated[int, Label("Today", unit="rank", rank=1)]
    effective: Annotated[int, Label("Effective", unit="rank")]

    @property
    def command(self) -> str:
        """The command that sets the annotation, for a name that Kubernetes allows."""
        namespace, _, name = self.workload.partition("/")
        return (
            f"kubectl annotate workloads.kueue.x-k8s.io --namespace={namespace} --overwrite "
            f"-- {name} {BOOST_ANNOTATION}={self.boost}"
        )


class Boosts(Published, Told):
    """The boosts for one plan; none where Kueue takes the plan's victims as it is.

    ``gate_on`` says whether the feature gate PriorityBoost is on in the state as it was read;
    all plans and priorities here are those with the gate on. ``commands`` set the annotations,
    one a line. ``orders`` counts the orders of candidates that were put to the replay.
    """

    # Pydantic follows the outermost record: infinite shares would become null.

    preemptor: Annotated[str, Label("Preemptor", "title")]
    status: Annotated[BoostStatus, Label("Boosts", "verdict", said=ANSWERS)]
    explanation: Annotated[str, Label(role="answer")]
    gate_on: Annotated[bool, Label()]
    boosts: Annotated[tuple[WorkloadBoost, ...], Label("Boosts")] = ()
    commands: Annotated[tuple[str, ...], Label("Commands", "command")] = ()
    orders: Annotated[int, Label()] = 0
    plan: Plan

    @property
    def _in_a_line(self) -> str:
        """The status, for whom it is, and the answer in words."""
        return f"{self.status}: {self.preemptor}: {self.explanation}"

    @property
    def scheduler(self) -> str:
        """The scheduler that the boosts are for."""
        return self.plan.scheduler


PROVED_OF: Final = (
    "boosts that make a workload exempt from preemption, or open to it, are not considered"
)
UNKNOWN = "no boosts that work were found within the limit, and it is not proved that none do"


def find_boosts(state: State, plan: Plan, *, gate_on: bool, deadline: Deadline) -> Boosts:
    """Return the smallest boosts after which Kueue evicts exactly a plan's victims.

    Every boost that is returned was proved by deciding anew, with the replay of Kueue's own
    algorithm, on the state with the annotations set. The flavors stay those of the plan. Among
    cohorts of equal shares Kueue chooses at random (docs/semantics/kueue.md §6.4); the replay takes
    one of them.

    The plan is one for ``state``, in which the feature gate PriorityBoost is on; ``gate_on`` says
    whether the gate was on in the state as it was read. The search ends at the deadline.
    """
    answer = partial(Boosts, preemptor=plan.preemptor, gate_on=gate_on, plan=plan)
    if plan.claim in {"infeasible", "unknown"}:
        status: BoostStatus = "impossible" if plan.status == "infeasible" else "unknown"
        said = f"there is no plan to be carried out: {plan.explanation}"
        return answer(status=status, explanation=said)
    if not plan.victims:
        said = "the plan evicts nobody, and neither does Kueue"
        return answer(status="smallest", explanation=said)
    if deadline.passed:
        return answer(status="unknown", explanation=UNKNOWN)
    trial = StateTrial(state, plan.preemptor, plan.assignment, frozenset(plan.keys))
    search = Search(trial, deadline)
    missing = trial.victims - search.today.keys()
    if missing:
        why = f"Kueue evict {min(missing)}: it is no candidate of its search"
        return answer(status="impossible", explanation=f"no boosts can make {why}")
    found = search.find_smallest()
    boosts = _boosts(search, found.choice or {})
    status, said = _outcome(search, found)
    commands = tuple(boost.command for boost in boosts)
    if odd := not_allowed(boost.workload for boost in boosts):
        commands, said = (), f"{said}; there are no commands, for {odd}"
    return answer(
        status=status, explanation=said, boosts=boosts, commands=commands, orders=search.orders
    )


def _outcome(search: Search, found: Found) -> tuple[BoostStatus, str]:
    if found.choice is None:
        if not found.proved:
            chance = " and ".join(sorted(search.trial.left_open))
            said = UNKNOWN
            if chance:
                said += f"; with some boosts Kueue would leave the victims to chance: {chance}"
            elif not search.complete:
                said += "; with some boosts Kueue would choose other flavors than the plan's"
            return "unknown", said
        count, pool = search.orders, plural(len(search.pool), "candidate")
        orders = "the only order" if count == 1 else f"each of the {count} orders"
        return "impossible", (
            "no order of candidates makes Kueue evict exactly the planned victims: it evicts "
            f"others in {orders} in which it could look at its {pool}; {PROVED_OF}"
        )
    if not found.choice:
        return "smallest", "Kueue evicts exactly the planned victims as it is"
    boosts = f"boosts of {plural(len(found.choice), 'workload')}"
    text = f"{boosts} make Kueue evict exactly the planned victims"
    if found.proved:
        return "smallest", f"{text}; proved smallest; {PROVED_OF}"
    return "found", f"{text}; whether smaller ones do, too, is not proved"


def _boosts(search: Search, choice: Choice) -> tuple[WorkloadBoost, ...]:
    """Return the boosts of a choice, in the order in which Kueue looks at candidates today."""
    annotations = search.boosts(choice)
    today = search.boosts({key: search.today[key] for key in choice})
    return tuple(
        WorkloadBoost(
            workload=one.key,
            cluster_queue=search.trial.snapshot.queue_name(one.workload.queue),
            role="victim" if one.is_victim else "spared",
            priority=choice[one.key] - annotations[one.key],
            boost_before=today[one.key],
            boost=annotations[one.key],
            effective_before=one.priority,
            effective=choice[one.key],
        )
        for one in search.pool
        if one.key in choice
    )
