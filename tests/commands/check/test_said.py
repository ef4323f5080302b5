"""What a plan says beside its values: a false word is refused, and the message says where it is."""

from collections.abc import Callable
from functools import cache
from typing import Any

import pytest

import planner
from planner.plan import AnyPlan
from planner.state import AnyState
from tests.cluster import pending, running
from tests.cluster import queue as of_kueue
from tests.cluster import state_of as cluster
from tests.commands.check.test_forged import INSTANCES, OUTSIDE, TOPOLOGY, YUNIKORN, refused
from tests.proof.mutation import Path, replaced
from tests.reference.topology import racks
from tests.solver.test_stability import third_party
from tests.told import told
from tests.yunikorn.building import (
    above_max,
    allocation,
    application,
    ask,
    cluster_value,
    node,
    queue,
    state_of,
    two_queues,
)

Json = dict[str, Any]


@cache
def kueue() -> tuple[AnyState, AnyPlan]:
    """Two victims of Kueue's quickstart, where Kueue itself takes seven."""
    return _planned(planner.read(INSTANCES / "quickstart" / "cluster.json"))


@cache
def outside() -> tuple[AnyState, AnyPlan]:
    """Two victims by fair sharing, where Kueue's own one victim breaks FS-07."""
    return _planned(planner.read(OUTSIDE))


@cache
def yunikorn() -> tuple[AnyState, AnyPlan]:
    """One victim of YuniKorn's quickstart, the 18th of its candidates; the core takes two."""
    return _planned(planner.read(YUNIKORN))


@cache
def nobody() -> tuple[AnyState, AnyPlan]:
    """No node is large enough for the ask, whoever goes."""
    return _planned(state_of(two_queues(allocation("held", {"gpu": 1}), size=0)))


@cache
def required() -> tuple[AnyState, AnyPlan]:
    """Two ordinary pods on the node that the ask requires; the core reserves it first."""
    held = (allocation("old", {"gpu": 1}, 200), allocation("new", {"gpu": 1}, 100))
    return _planned(state_of(two_queues(*held, size=2, requiredNodeId="n1")))


@cache
def lowered() -> tuple[AnyState, AnyPlan]:
    """``other`` goes for a lowered quota; the core takes ``large``, and with it too much memory."""
    return _planned(state_of(above_max()), quota="root.research")


@cache
def topology() -> tuple[AnyState, AnyPlan]:
    """One victim on a rack, where Kueue itself takes four."""
    return _planned(planner.read(TOPOLOGY))


@cache
def together() -> tuple[AnyState, AnyPlan]:
    """A leader and two workers have a rack to themselves, once the one who runs there goes."""
    asked = {"required": racks.RACK, "podSetGroupName": "g"}
    wanted = [racks.pods(name, n, {"cpu": 1}, asked) for name, n in (("lead", 1), ("work", 2))]
    nodes = [*racks.node("n0", "r0", cpu=2), *racks.node("n1", "r0", cpu=1)]
    held = racks.runs("held", {"cpu": 1}, {"n0": 1})
    tree = [*racks.topology(), *racks.flavor(), *nodes]
    state = racks.state_of(tree, held, racks.room({"cpu": 100}), racks.waits(*wanted))
    return _planned(state)


@cache
def preferred() -> tuple[AnyState, AnyPlan]:
    """Of a rack that its pods fill one goes; which node they take preferences decide."""
    return _by_preference(racks.pods("main", 2, {"cpu": 1}, {"required": racks.RACK}))


@cache
def unplaced() -> tuple[AnyState, AnyPlan]:
    """Preferences decide where both podsets find a place: the plan sees to none, and draws it."""
    wanted = [racks.pods(name, 1, {"cpu": 1}, {"required": racks.RACK}) for name in "ab"]
    return _by_preference(*wanted)


def _by_preference(*wanted: Json) -> tuple[AnyState, AnyPlan]:
    nodes = [*racks.node("n0", "r0", cpu=2), *racks.node("n1", "r0", cpu=1)]
    held = racks.runs("held", {"cpu": 2}, {"n0": 1})
    tree = [*racks.topology(), *racks.flavor(), *nodes]
    state = racks.state_of(tree, held, racks.room({"cpu": 3}), racks.waits(*wanted))
    gates = {"TASRespectNodeAffinityPreferred": True}
    own = state.configuration.model_copy(update={"feature_gates": gates})
    return _planned(state.model_copy(update={"configuration": own}))


@cache
def unstable() -> tuple[AnyState, AnyPlan]:
    """Of both plans one victim, ``ns/small``, would preempt ``ns/loan``."""
    return _planned(cluster(*third_party()), stability=True)


def _planned(state: AnyState, **how: Any) -> tuple[AnyState, AnyPlan]:
    return state, planner.solve(state, certify=True, **how)


def changed(plan: AnyPlan, path: Path, to: object) -> AnyPlan:
    """Return a plan with another value in one place of its file."""
    return type(plan).model_validate(replaced(as_file(plan), path, to))


def as_file(plan: AnyPlan) -> Json:
    """Return a plan as it is written."""
    return plan.model_dump(mode="json", by_alias=True)


Made = Callable[[], tuple[AnyState, AnyPlan]]


@pytest.mark.parametrize(
    ("made", "path", "to", "law"),
    [
        (outside, ("greedy", "outside_rules"), [], "CT-08"),
        (lowered, ("greedy", "outside_rules"), [], "CT-08"),
        (topology, ("greedy", "placement"), None, "CT-08"),
        (topology, ("nodes", 0, "domains", 2, "used"), 9, "CT-05"),
        (together, ("nodes", 0, "flavor"), "other", "CT-05"),
        (together, ("nodes", 1, "domains", 0, "slots"), 9, "CT-05"),
        (together, ("nodes", 1, "domains", 1, "used"), 9, "CT-05"),
        (preferred, ("nodes", 0, "placed"), False, "CT-05"),
        (
            unplaced,
            ("places",),
            [{"name": "a", "flavor": "f", "levels": [], "domains": []}],
            "CT-05",
        ),
        (unstable, ("greedy", "stability"), [], "CT-08"),
        (unstable, ("stability",), [], "CT-07"),
    ],
)
def test_a_false_word_is_refused_where_it_stands(
    made: Made, path: Path, to: object, law: str
) -> None:
    """Besides those of which `test_every_field` tells."""
    state, plan = made()
    found = planner.check(state, changed(plan, path, to))
    assert refused(found) == {law}
    (said,) = (one.detail for one in found.verdicts if not one.holds)
    where = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    assert said.startswith(where.removeprefix(".").partition("kueue.")[0].rstrip("."))


@pytest.mark.parametrize("made", [kueue, yunikorn])
def test_usage_of_victims_is_all_of_it_once(made: Made) -> None:
    """It is added up: what is left out, or stands twice, makes another sum."""
    state, plan = made()
    usage = as_file(plan)["victims"][0]["usage"]
    assert len(usage) > 1
    for forged in (usage[1:], [*usage, usage[0]]):
        found = planner.check(state, changed(plan, ("victims", 0, "usage"), forged))
        assert refused(found) == {"CT-05"}
        assert any("victims[0].usage of " in one.detail for one in found.verdicts)


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (kueue, ("demand",)),
        (kueue, ("tree",)),
        (kueue, ("tree", 0, "uses")),
        (outside, ("shares",)),
        (outside, ("greedy", "tree")),
        (yunikorn, ("room",)),
        (yunikorn, ("queues",)),
        (yunikorn, ("greedy", "queues")),
        (together, ("nodes",)),
    ],
)
def test_what_is_listed_is_all_of_it_once_or_nothing(made: Made, path: Path) -> None:
    """A list without the tight resource, or the full queue, would show that all is well."""
    state, plan = made()
    rows: Any = as_file(plan)
    for step in path:
        rows = rows[step]
    assert len(rows) > 1
    for forged in (rows[1:], rows[:-1], [*rows, rows[0]]):
        assert refused(planner.check(state, changed(plan, path, forged))) == {"CT-05"}
    assert planner.check(state, changed(plan, path, [])).accepted


@cache
def protected() -> tuple[AnyState, AnyPlan]:
    """Nobody may go: the one workload that runs is of a queue that takes nothing back."""
    held = running("held", "alone", 4)
    return _planned(cluster(of_kueue("alone", 4), held, pending("alone", 3)))


@pytest.mark.parametrize("borrowing", [True, False])
def test_nobody_is_evicted_in_no_attempt(borrowing: bool) -> None:  # noqa: FBT001 - a parameter
    state, plan = protected()
    assert plan.status == "infeasible"
    forged = changed(plan, ("borrowing",), borrowing)
    assert refused(planner.check(state, forged)) == {"CT-05"}


@pytest.mark.parametrize("term", ["further", "unstable"])
def test_no_term_is_made_up_for_the_own_plan(term: str) -> None:
    """The core of YuniKorn does not let victims preempt: nothing says how many would."""
    state, plan = yunikorn()
    forged = changed(plan, ("greedy", "terms", term), 7)
    assert refused(planner.check(state, forged)) == {"CT-08"}


def test_no_cap_is_named_twice() -> None:
    state, plan = kueue()
    caps = as_file(plan)["certificate"]["caps"]
    forged = changed(plan, ("certificate", "caps"), [*caps, caps[0]])
    assert refused(planner.check(state, forged)) == {"CT-06"}


def test_trees_that_no_claim_rests_on_are_named() -> None:
    """They are not walked, and so may say anything: of another claim, or of one once more."""
    state, plan = kueue()
    trees = as_file(plan)["certificate"]["trees"]
    others: list[Json] = [{"claim": name, "steps": []} for name in ("infeasible", "workloads")]
    found = planner.check(state, changed(plan, ("certificate", "trees"), [*others, *trees]))
    assert found.accepted
    told(found.notes)


def test_the_words_for_a_tree_are_what_follows_from_it() -> None:
    state, plan = kueue()
    levels = as_file(plan)["certificate"]["levels"]
    number = next(i for i, level in enumerate(levels) if level["term"] == "workloads")
    said = levels[number]["says"]
    told(said)
    path = ("certificate", "levels", number, "says")
    false = planner.check(state, changed(plan, path, said[:-1] + "1"))
    assert refused(false) == {"workloads"}


@cache
def selecting() -> tuple[AnyState, AnyPlan]:
    """The pod of the ask has a nodeSelector, which is not modelled."""
    value = two_queues(allocation("held", {"gpu": 4}))
    pod = {"namespace": "a", "name": "b", "uid": "ask", "nodeSelector": {"zone": "x"}}
    return _planned(state_of({**value, "rmDiagnostics": {"cache": {"pods": {"p": pod}}}}))


@pytest.mark.parametrize(
    ("made", "path"),
    [
        (kueue, ("certificate", "levels", 1, "title")),
        (yunikorn, ("certificate", "levels", 1, "title")),
        (kueue, ("certificate", "verdicts", 2, "detail")),
        (yunikorn, ("certificate", "verdicts", 1, "title")),
        (selecting, ("coverage", 0, "title")),
        (selecting, ("coverage", 0, "effect")),
        (selecting, ("coverage", 0, "evidence")),
    ],
)
def test_words_may_change_from_one_build_to_the_next(made: Made, path: Path) -> None:
    """They are for the reader, and named as unchecked: what they tell of is compared."""
    state, plan = made()
    found = planner.check(state, changed(plan, path, "said otherwise"))
    assert found.accepted
    assert ".".join(step for step in path if isinstance(step, str)) in found.unchecked


def test_laws_that_kueue_breaks_are_compared_without_their_words() -> None:
    state, plan = outside()
    assert plan.greedy is not None
    (law,) = plan.greedy.outside_rules
    words = [f"{law.partition(' ')[0]} it is so: in other words"]
    assert planner.check(state, changed(plan, ("greedy", "outside_rules"), words)).accepted


@pytest.mark.parametrize(
    ("field", "to"), [("kind", "assumed"), ("objects", ["pod a/other"]), ("count", 2)]
)
def test_what_is_said_of_a_feature_is_held_against_the_state(field: str, to: object) -> None:
    state, plan = selecting()
    told(plan.coverage[0].evidence)
    assert planner.check(state, plan).accepted
    found = planner.check(state, changed(plan, ("coverage", 0, field), to))
    assert refused(found) == {"CT-09"}
    assert found.verdicts[-1].detail.startswith(f"coverage[0].{field} is ")


@pytest.mark.parametrize("greedy", [True, False])
def test_who_is_in_the_way_is_looked_for(greedy: bool) -> None:  # noqa: FBT001 - a parameter
    state, plan = kueue()
    forged = changed(plan, ("in_the_way",), ["ml/other"])
    if not greedy:
        forged = forged.model_copy(update={"greedy": None})
    assert refused(planner.check(state, forged)) == {"CT-08"}


def test_a_leaf_within_its_guaranteed_has_no_places() -> None:
    """The core lists nobody of it, though `safe` runs the newest pod."""
    state = state_of(
        cluster_value(
            [
                queue("low"),
                queue("safe", guaranteed={"gpu": 4}),
                queue("high", guaranteed={"gpu": 2}),
            ],
            [node("n1", {"gpu": 2})],
            [
                application("runs", "root.low", allocation("old", {"gpu": 1}, 200)),
                application("keeps", "root.safe", allocation("new", {"gpu": 1}, 100)),
                application("asks", "root.high", asks=(ask("ask", {"gpu": 1}),)),
            ],
        )
    )
    plan = planner.solve(state, certify=True)
    assert [(one.key, one.position) for one in plan.victims] == [("old", 1)]
    assert planner.check(state, plan).accepted


def test_a_tree_says_what_it_touches_and_how_much_it_leaves_out() -> None:
    """The quickstart's one cohort has a queue of the preemptor's, and three others."""
    state, plan = kueue()
    tree = as_file(plan)["tree"]
    for i, one in enumerate(tree):
        for name, to in (("touched", not one["touched"]), ("hidden", one["hidden"] + 1)):
            found = planner.check(state, changed(plan, ("tree", i, name), to))
            assert refused(found) == {"CT-05"}
            (said,) = (one.detail for one in found.verdicts if not one.holds)
            assert said.startswith(f"{name} of ")
    found = planner.check(state, changed(plan, ("tree",), tree[:-1]))
    assert refused(found) == {"CT-05"}
    assert planner.check(state, changed(plan, ("tree",), [])).accepted


def test_what_is_judged_of_laws_is_said_of_all_or_none() -> None:
    state, plan = kueue()
    path, verdicts = ("certificate", "verdicts"), as_file(plan)["certificate"]["verdicts"]
    assert planner.check(state, changed(plan, path, [])).accepted
    for forged in (verdicts[1:], [*verdicts, verdicts[0]]):
        assert refused(planner.check(state, changed(plan, path, forged))) == {"CT-10"}


def test_a_dropped_cap_is_named() -> None:
    """Where a plan names some of those that no plan keeps, it would seem to keep the others."""
    state, plan = outside()
    caps = as_file(plan)["certificate"]["dropped"]
    assert caps
    found = planner.check(state, changed(plan, ("certificate", "dropped"), caps[1:]))
    (said,) = (one.detail for one in found.claims if not one.certified)
    told(said)


def test_a_cap_is_one_of_kueues_own_victims_and_kept_or_dropped() -> None:
    """Where nobody is evicted there are none; what the plan keeps it does not drop as well."""
    for state, plan in (nobody(), topology()):
        dropped = [{"term": "workloads", "most": len(plan.greedy.victims)}] if plan.greedy else []
        found = planner.check(state, changed(plan, ("certificate", "dropped"), dropped))
        assert refused(found) == {"CT-06"}


def test_places_that_stand_twice_are_refused() -> None:
    state, plan = topology()
    found = planner.check(state, changed(plan, ("places",), 2 * as_file(plan)["places"]))
    assert refused(found) == {"KT-02"}


def test_nodes_that_nothing_is_compared_with_are_named() -> None:
    """Where preferences decide which slots are taken; or all of them, where nothing is placed."""
    by_preference, without = (planner.check(*made()).unchecked for made in (preferred, unplaced))
    assert by_preference[-2:] == ("nodes.domains.used", "nodes.domains.reused")
    assert without[-1] == "nodes"
