"""A scheduler is an object: one of three laws is added by the registry alone."""

import re
from collections.abc import Callable, Iterator
from inspect import isfunction, signature
from typing import Any, Final

import pytest

import planner
from planner.commands.whatif.edit import edit, settings
from planner.errors import InputError, UnsupportedError
from planner.scheduler import (
    KUEUE,
    YUNIKORN,
    AnyScheduler,
    Scheduler,
    record,
    register,
    scheduler_of,
    schedulers,
)
from planner.scheduler.kueue import Kueue
from planner.scheduler.yunikorn import YuniKorn
from planner.term import text_of
from planner.verb import declared, kind_of
from tests.conftest import ROOT
from tests.report.factory import make_plan
from tests.scheduler.toy import TOY, Job, ToyPlan, ToyState


@pytest.fixture
def state(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Six slots: two jobs of two, one of one, one above all; who wants in needs three."""
    monkeypatch.setattr(record, "_REGISTERED", {one.id: one for one in schedulers()})
    register(TOY)
    running = (Job("a", 1, 1), Job("b", 2, 2), Job("c", 2, 3), Job("top", 1, 9))
    return ToyState(6, running, (Job("wants", 3, 5), Job("huge", 7, 9)))


def test_who_is_pending(state: Any) -> None:
    assert state.pending == ("wants", "huge")


@pytest.mark.usefixtures("state")
def test_its_states_are_read() -> None:
    """Whatever it does not take is Kueue's, or nobody's."""
    value = {"slots": 4, "runs": [["a", 1, 1]], "waits": [["wants", 3, 5]]}
    found: Any = planner.read(value)
    assert found == ToyState(4, (Job("a", 1, 1),), (Job("wants", 3, 5),), source="the value")
    with pytest.raises(InputError, match="an object without a kind stands here"):
        planner.read({"places": 4})


@pytest.mark.usefixtures("state")
def test_its_words_for_terms() -> None:
    assert text_of("workloads", "toy") == ("jobs stopped", "jobs")
    assert text_of("victims@7", "toy") == ("jobs of rank 7", "jobs")
    assert (
        text_of("priority_weight", "toy")
        == text_of("priority_weight", "kueue")
        == ("priority weight", "weight")
    )


def test_a_plan_beside_the_schedulers_own(state: Any) -> None:
    """Lowest first takes a, b and then is done: as few as can be; with a 3-slot job it is not."""
    plan: Any = planner.solve(state, "wants")
    assert (plan.status, plan.keys, plan.greedy.keys) == ("optimal", ("a", "b"), ("a", "b"))
    larger = ToyState(6, (Job("a", 1, 1), Job("b", 2, 2), Job("c", 3, 3)), state.waiting)
    plan = planner.solve(larger, "wants")  # type: ignore[call-overload]
    assert (plan.keys, plan.greedy.keys) == (("c",), ("a", "b"))
    assert planner.solve(state, "huge").status == "infeasible"


@pytest.mark.parametrize(
    ("victims", "broken"),
    [((), ["T-2"]), (("a", "b"), []), (("a", "b", "c"), ["T-3"]), (("b", "top"), ["T-1"])],
)
def test_each_law(state: Any, victims: tuple[str, ...], broken: list[str]) -> None:
    plan: Any = ToyPlan("wants", "feasible", victims)
    found = planner.verify(state, plan).verdicts
    assert [one.law for one in found if not one.holds] == broken


def test_it_refuses_what_it_does_not_know(state: Any) -> None:
    with pytest.raises(InputError, match="toy jobs never come back"):
        planner.solve(state, "wants", stable=True)
    with pytest.raises(UnsupportedError, match="Toy: nothing is known about its explanation"):
        planner.explain(state, "wants")


def test_edits(state: Any) -> None:
    larger: Any = edit(state, ["slots=9"])
    assert planner.solve(larger, "huge").status == "optimal"
    with pytest.raises(InputError, match="such as slots=8"):
        edit(state, ["slots"])
    listed = settings(state, ["wants"], {})
    assert [one.key for one in listed.pending] == ["wants"]
    assert [one.name for one in listed.objects] == ["line", "a", "b", "c", "top"]


def test_one_that_nobody_registered() -> None:
    other: Any = ToyState(1, (), ())
    with pytest.raises(UnsupportedError, match='"toy" is not registered'):
        scheduler_of(other)
    assert schedulers() == (KUEUE, YUNIKORN)


VERBS: Final = {
    (name, part)
    for name in planner.__all__
    for function in [getattr(planner, name)]
    if isfunction(function)
    for part in {"state", "plan"} & set(signature(function).parameters)
}


@pytest.mark.parametrize(("name", "part"), sorted(VERBS))
def test_what_is_no_state_and_no_plan(name: str, part: str) -> None:
    """Whatever it is, where it is given, and whether by its place or by name."""
    assert len(VERBS) == 12
    plan, state = make_plan(), planner.read("instances/quickstart/cluster.json")
    things: dict[str, list[Any]] = {
        "state": ["cluster.json", None, {}, plan],
        "plan": ["plan.json", None, {}, state],
    }
    verb = getattr(planner, name)
    for thing in things[part]:
        found = f"^{type(thing).__name__} is no {part}\n  expected what planner.*\n  hint: "
        given = {"state": state, part: thing} if part == "plan" else {part: thing}
        with pytest.raises(InputError, match=found):
            verb(**given)
        with pytest.raises(InputError, match=found):
            verb(*given.values())


@pytest.mark.parametrize(
    ("name", "given", "found"),
    [
        ("whatif", {"original": "a.json"}, "original: str is no state"),
        ("whatif", {"original": make_plan()}, "original: Plan is no state"),
        ("whatif", {"added": 5}, "added: int cannot be used\n  expected a list of workloads"),
        ("whatif", {"edits": [5]}, "edits: list cannot be used\n  expected a list of edits"),
        ("whatif", {"edits": None}, "edits: NoneType cannot be used"),
        ("whatif", {"edits": []}, "edits: change nothing"),
        ("solve", {"pending": ["a/b"]}, "pending: list cannot be used\n  expected a text"),
        ("solve", {"objective": 5}, "objective: int cannot be used\n  expected the name of"),
        ("solve", {"costs": [("a/b", 5)]}, "costs: list cannot be used\n  expected a mapping"),
        ("solve", {"now": 5}, "now: int cannot be used\n  expected a time"),
        ("solve", {"certify": "no"}, "certify: str cannot be used\n  expected True, False"),
        ("boost", {"time_limit": "1h"}, "time_limit: str cannot be used\n  expected a number"),
        ("solve", {"time_limit": True}, "time_limit: bool cannot be used\n  expected a number"),
        ("explain", {"limit": True}, "limit: bool cannot be used\n  expected a whole number"),
        ("explain", {"victim": 5}, "victim: int cannot be used\n  expected a text"),
        ("explain", {"limit": "all"}, "limit: str cannot be used\n  expected a whole number"),
        ("solve_joint", {"pending": "a/b"}, "pending: str cannot be used\n  expected a list"),
        ("audit", {"objectives": "no-regret"}, "objectives: str cannot be used\n  expected a list"),
        ("audit", {"assume": "all"}, "assume: 'all' cannot be used\n  expected quota, or nothing"),
        ("solve", {"stability": "no"}, "stability: str cannot be used\n  expected True, False"),
        ("solve", {"stable": "no"}, "stable: str cannot be used\n  expected True or False"),
        ("front", {"first": None}, "first: NoneType cannot be used\n  expected a text"),
        (
            "solve",
            {"pending": ""},
            "pending: str cannot be used\n  expected a text that is not empty",
        ),
        ("solve", {"costs": {5: 1}}, "costs: the key 5 cannot be used\n  expected a workload's"),
    ],
)
def test_an_argument_of_a_wrong_kind(name: str, given: dict[str, Any], found: str) -> None:
    """Each of them was an AttributeError or a TypeError deep inside, or said nothing at all."""
    state = planner.read("instances/quickstart/cluster.json")
    with pytest.raises(InputError, match=f"^{found}"):
        getattr(planner, name)(state, **given)


def test_a_time_limit_may_be_any_number() -> None:
    """A whole number beyond all floating-point ones was an OverflowError."""
    state = planner.read("instances/quickstart/cluster.json")
    assert planner.solve(state, time_limit=10**400).status == "optimal"


@pytest.mark.parametrize("name", ["solve", "front", "solve_joint", "audit"])
def test_what_is_assumed_is_checked_before_any_work(name: str) -> None:
    """A name that is not pending would be found first, if anything were looked for."""
    state = planner.read("instances/quickstart/cluster.json")
    pending = ["no/body"] if name == "solve_joint" else "no/body"
    with pytest.raises(InputError, match=r"^assume: 'everything' cannot be used"):
        getattr(planner, name)(state, pending, assume="everything")


LOOKED_AT_BY_VERBS: Final = {"assignment"}
"""What is a type of our own, or a text with a form of its own."""


VERBS_OF_ALL: Final = [
    public.__wrapped__
    for public in (getattr(planner, name) for name in planner.__all__)
    if hasattr(public, "__wrapped__")
]


def parameters(*verbs: Callable[..., object]) -> Iterator[tuple[str, Any]]:
    """Yield the name and the kind of each parameter of some verbs; None if it is of no kind."""
    for verb in verbs:
        yield from ((name, kind_of(name, types)) for name, types in declared(verb).items())


def test_every_parameter_is_of_a_known_kind() -> None:
    """Or the verb says itself what is wrong with it."""
    unknown = {name for name, kind in parameters(*VERBS_OF_ALL) if kind is None}
    assert unknown == LOOKED_AT_BY_VERBS


def test_the_original_is_of_the_same_scheduler() -> None:
    state = planner.read("instances/quickstart/cluster.json")
    other = planner.read("instances/yunikorn/quickstart")
    with pytest.raises(InputError, match="original: is a state of yunikorn"):
        planner.whatif(state, added=["nlp/a"], original=other)


@pytest.mark.parametrize("scheduler", [KUEUE, YUNIKORN], ids=lambda one: one.id)
def test_every_attribute_is_there(scheduler: AnyScheduler) -> None:
    own = {name for name, one in vars(type(scheduler)).items() if isinstance(one, property)}
    assert len(own) > 5
    for name in own - {"with_commands"}:  # a wing has them
        assert getattr(scheduler, name)


def test_the_page_names_what_can_be_overridden() -> None:
    """Each attribute stands beside who asks for it."""
    page = (ROOT / "docs/architecture.md").read_text("utf-8")
    rows = re.findall(r"(?m)^    \| (`[^|]*) \|", page.partition("## Add a scheduler")[2])
    named = re.findall(r"`(\w+)`", " ".join(rows))
    own = {name for name in vars(Scheduler) if not name.startswith("_")}
    assert {*named} == own - {"id", "words", "likes", "lacks", "found_in"}
    assert len(rows) == 8


def test_what_only_one_has() -> None:
    """Kueue alone has boosts and joint plans, YuniKorn preemption for lowered quotas."""
    own = {"with_nodes", "renderers", "schemas", "replay_live", "own_command", "with_commands"}
    own |= {"comparing", "take_apart", "solve_joint", "add_workloads", "without_workloads"}
    assert vars(Kueue).keys() - vars(YuniKorn).keys() == own | {"kinds", "likes"}
    assert not vars(YuniKorn).keys() - vars(Kueue).keys()
    assert OF_KUEUE.planning.lowered_quotas(None) == ()


OF_KUEUE: Final[AnyScheduler] = KUEUE
OF_YUNIKORN: Final[AnyScheduler] = YUNIKORN
STATES: Final[Any] = (None, None)


@pytest.mark.parametrize(
    ("ask", "what"),
    [
        (lambda: OF_YUNIKORN.with_commands, "commands"),
        (lambda: OF_YUNIKORN.solve_joint, "joint plans"),
        (lambda: OF_YUNIKORN.add_workloads, "hypothetical workloads"),
        (lambda: OF_YUNIKORN.without_workloads(STATES[0], ()), "hypothetical workloads"),
        (lambda: OF_YUNIKORN.take_apart("", STATES[0]), "texts about preemption"),
        (lambda: OF_YUNIKORN.replay_live(*STATES), "live replay"),
    ],
)
def test_what_it_lacks_names_who_has_it(ask: Callable[[], object], what: str) -> None:
    with pytest.raises(UnsupportedError, match=f"its {what}") as told:
        ask()
    assert (told.value.where, told.value.expected) == ("YuniKorn", "a state of Kueue")


def test_what_every_scheduler_of_a_wing_has() -> None:
    """A wing says in one table whom it knows; whoever is not there is told."""
    table = {"kueue": 5}
    assert KUEUE.found_in(table, "fifth wheel") == 5
    with pytest.raises(UnsupportedError, match="nothing is known about its fifth wheel") as told:
        YUNIKORN.found_in(table, "fifth wheel")
    assert (told.value.where, told.value.expected) == ("YuniKorn", "a state of Kueue")


def test_the_attributes_of_one_that_has_none() -> None:
    bare = Bare()
    for nothing in (bare.plan, bare.explanation, bare.laws, bare.schemas, bare.renderers):
        assert not nothing
    assert bare.coverage_of(None).everything() == ()
    with pytest.raises(UnsupportedError, match="of Kueue or YuniKorn"):
        bare.planning  # noqa: B018


class Bare(Scheduler[Any, Any, Any, Any, Any]):
    """One that has nothing but words."""

    id, words = "bare", TOY.words
