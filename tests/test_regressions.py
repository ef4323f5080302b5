"""The issue zoo: each dump shows what was reasoned by hand from the rules, and says so itself.

The table was written from docs/semantics/kueue.md §4 to §6 and docs/semantics/yunikorn.md §4 to §10
and §13, not from what the planner prints. Lost work is size times seconds: a GPU counts 1, a core
1/32.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

import planner
from planner.plan.kueue import Plan
from planner.plan.yunikorn import YuniKornPlan
from planner.quota.kueue.preemptor import find_preemptor
from planner.quota.kueue.snapshot import take_snapshot
from planner.reader import Ignored
from planner.state.kueue import State
from tests.brute_force import legal_sets
from tests.conftest import ROOT
from tests.kueue_state import read
from tests.yunikorn.building import read_yunikorn

ZOO = ROOT / "instances" / "regressions"
GPU = "nvidia.com/gpu"
MINUTE = 60


@dataclass(frozen=True)
class Case:
    """What is expected of one pending workload or ask.

    ``greedy`` is in the scheduler's order; ``optimum`` is ``None`` where no plan exists. ``short``
    is what is missing before any eviction, flavor by flavor, of the resource ``of``, where Kueue
    assigns flavors at all. ``lost`` is the lost work of greedy and optimum in accelerator-seconds.
    """

    name: str
    pending: str
    greedy: tuple[str, ...] = ()
    optimum: tuple[str, ...] | None = None
    short: tuple[int, ...] = ()
    lost: tuple[int, int] = (0, 0)
    of: str = GPU

    @property
    def line(self) -> str:
        """The line by which the dump states its answer."""
        kueue = self.name.startswith("kueue")
        who = "Kueue evicts" if kueue else "YuniKorn preempts"
        amounts = " + ".join(map(str, self.short))
        short = f"short of {amounts} {self.of}; " if self.short else ""
        count = len(self.greedy) or "nobody"
        best = "and no plan exists" if self.optimum is None else f"the optimum {len(self.optimum)}"
        return f"{self.pending}: {short}{who} {count}, {best}."


def alike(name: str, pending: str, victims: str, lost: int, *, short: tuple[int, ...] = ()) -> Case:
    """Return a case in which the optimum is the scheduler's own answer."""
    names = tuple(victims.split())
    return Case(name, pending, names, names, short, (lost, lost))


KUEUE = (
    Case(
        "kueue-1974-too-many-victims",
        "vision/finetune",
        ("vision/eval-4", "vision/eval-3", "vision/eval-2", "vision/eval-1", "vision/sweep"),
        ("vision/sweep", "vision/pretrain"),
        (8,),
        ((40 + 50 + 60 + 70 + 4 * 120) * MINUTE, 4 * (120 + 5) * MINUTE),
    ),
    alike(
        "kueue-1875-equal-timestamps",
        "render/urgent",
        "render/scene-3",
        2 * 30 * MINUTE,
        short=(2,),
    ),
    Case(
        "kueue-15211-already-evicted",
        "green/probe",
        ("red/scan-4",),
        ("blue/crawl-2",),
        (2,),
        (2 * 20 * MINUTE, 0),
    ),
    alike("kueue-6763-fair-sharing-tie", "green/probe", "blue/job-3", 2 * 10 * MINUTE, short=(2,)),
    Case(
        "kueue-10131-low-priority-spared",
        "c-guaranteed/claim",
        ("a-borrowing/serve",),
        ("c-borrowing/scratch",),
        (4,),
        (4 * 300 * MINUTE, 4 * 60 * MINUTE),
    ),
    alike("kueue-533-preempt-and-borrow", "alpha/report", "alpha/note-5", 20 * MINUTE, short=(1,)),
    Case("kueue-16049-larger-than-nominal", "tenant-a/important"),
    Case(
        "kueue-3948-hierarchy-ignored",
        "service/api",
        ("best-effort/small-2", "best-effort/small-1"),
        ("best-effort/large",),
        (64,),
        ((50 + 60) * MINUTE, 2 * 10 * MINUTE),
        of="cpu",
    ),
    alike(
        "kueue-6774-zero-weights", "idle-b/wants-two", "idle-a/fold-3", 2 * 30 * MINUTE, short=(2,)
    ),
    Case("kueue-6774-zero-weights", "idle-a/wants-two", short=(2,)),
    Case("kueue-14487-weight-zero-preemptor", "scavenger/leftover", short=(2,)),
    Case("kueue-6814-placeholder-queue", "urgent/too-large"),
    alike(
        "kueue-6814-placeholder-queue",
        "urgent/fits",
        "relaxed/longrun",
        8 * 120 * MINUTE,
        short=(8,),
    ),
    Case("kueue-1337-borrower-finds-nobody", "gold/demo"),
    alike(
        "kueue-1405-priority-threshold",
        "standard-a/release",
        "best-effort/crawl-2 best-effort/crawl-1 best-effort/label",
        (2 * 40 + 2 * 80 + 4 * 200) * MINUTE,
        short=(8,),
    ),
    alike(
        "kueue-10171-below-nominal-after", "birds/song", "plants/moss", 5 * 90 * MINUTE, short=(4,)
    ),
    Case("kueue-2681-lender-uses-its-own", "day/solver", short=(2,), of="cpu"),
    Case(
        "kueue-2720-reclaim-in-the-next-flavor",
        "maps/route",
        ("tiles/east",),
        ("tiles/west",),
        (4,),
        (4 * 40 * MINUTE, 4 * 5 * MINUTE),
    ),
    Case(
        "kueue-477-last-checkpoint",
        "genomics/urgent",
        ("genomics/fold",),
        ("genomics/align-1",),
        (4,),
        (4 * 150 * MINUTE, 4 * 2 * MINUTE),
    ),
    alike(
        "kueue-840-newest-first",
        "right/job",
        "left/second-2 left/second-1",
        (10 + 20) * MINUTE,
        short=(2,),
    ),
    Case("kueue-7393-borrowed-cpu-blocks-gpu", "train/epoch", short=(4,)),
    alike(
        "kueue-9406-share-from-another-flavor",
        "chem/reaction",
        "phys/plasma-2",
        4 * 50 * MINUTE,
        short=(4,),
    ),
    Case("kueue-1331-lending-limit", "north/huge"),
    alike("kueue-1331-lending-limit", "south/small", "north/ice-5", 2 * 10 * MINUTE, short=(2,)),
    Case(
        "kueue-14543-outside-the-strategies",
        "blue/wants-ten",
        ("red/train",),
        ("red/train", "blue/sweep"),
        (10,),
        (12 * 60 * MINUTE, (12 * 60 + 8 * 90) * MINUTE),
    ),
    Case("kueue-4961-weight-zero-keeps-its-own", "paid/more", short=(2,)),
    alike(
        "kueue-4961-weight-zero-keeps-its-own",
        "hobby/own",
        "paid/order-2",
        2 * 60 * MINUTE,
        short=(2,),
    ),
    alike(
        "kueue-3909-two-podsets-two-flavors", "llm/high", "llm/low", 24 * 60 * MINUTE, short=(8, 16)
    ),
)

YUNIKORN = (
    Case(
        "yunikorn-3458-oversized-pod-first",
        "training/fit-1",
        (),
        ("crawl/spider-2",),
        lost=(0, 1600 * 4 // 32),
    ),
    Case("yunikorn-1951-nothing-guaranteed", "training/fit-1"),
    Case(
        "yunikorn-3137-third-victim-dropped",
        "training/fit-1",
        ("crawl/spider-8", "crawl/spider-7"),
        ("crawl/spider-8", "crawl/spider-7", "crawl/spider-6"),
        lost=((600 + 1200) * 4 // 32, (600 + 1200 + 1800) * 4 // 32),
    ),
    Case("yunikorn-3113-over-in-another-type", "training/fit-2"),
    alike(
        "yunikorn-1877-opted-out-last",
        "training/fit-1",
        "batch/spider-4 batch/spider-3",
        (2400 + 3200) * 2 // 32,
    ),
    alike(
        "yunikorn-1659-opted-out-if-nothing-else",
        "training/fit-1",
        "batch/ledger-2",
        1600 * 4 // 32,
    ),
    Case("yunikorn-2131-behind-the-fence", "training/fit-1"),
    alike(
        "yunikorn-2507-full-parent-is-a-fence",
        "training/fit-1",
        "etl/nightly-4 etl/nightly-3",
        (2400 + 3200) * 2 // 32,
    ),
)

# Where the scheduler's own answer does not keep the rules: the laws that it breaks. Then: where a
# victim of the optimum opted out of preemption, and where shares count.
OUTSIDE = {
    "kueue-14543-outside-the-strategies": {"FS-07"},
    "yunikorn-3137-third-victim-dropped": {"YK-08", "YK-09"},
}
OPTED_OUT = {"yunikorn-1659-opted-out-if-nothing-else"}
FAIR = {
    "kueue-10131-low-priority-spared",
    "kueue-14487-weight-zero-preemptor",
    "kueue-14543-outside-the-strategies",
    "kueue-15211-already-evicted",
    "kueue-4961-weight-zero-keeps-its-own",
    "kueue-6763-fair-sharing-tie",
    "kueue-6774-zero-weights",
    "kueue-9406-share-from-another-flavor",
}


def case_id(case: Case) -> str:
    return f"{case.name}:{case.pending}"


def text_of(name: str) -> str:
    """Return what a dump says of itself: its first comment, or the page beside its folder."""
    page = ZOO / f"{name}.md"
    if page.exists():
        return page.read_text(encoding="utf-8")
    lines = (ZOO / f"{name}.yaml").read_text(encoding="utf-8").splitlines()
    end = next(i for i, line in enumerate(lines) if not line.startswith("#"))
    return "\n".join(line.removeprefix("#").strip() for line in lines[:end])


def kueue_state(case: Case) -> State:
    return read(ZOO / f"{case.name}.yaml")


def lost(plan: Plan | YuniKornPlan) -> int:
    return plan.terms.get("lost_work", 0)


def laws_of(plan: Plan | YuniKornPlan) -> set[str]:
    return {text.split()[0] for text in plan.outside_rules}


def test_every_dump_is_in_the_table() -> None:
    kueue = {path.stem for path in ZOO.glob("*.yaml")}
    folders = {path.name for path in ZOO.iterdir() if path.is_dir()}
    assert kueue == {case.name for case in KUEUE}
    assert folders == {case.name for case in YUNIKORN} == {p.stem for p in ZOO.glob("*.md")}
    assert len(kueue) + len(folders) >= 15
    assert {path.suffix for path in ZOO.iterdir()} == {".yaml", ".md", ""}
    assert {path.name for folder in folders for path in (ZOO / folder).iterdir()} == {
        "queues.yaml",
        "statedump.json",
    }


@pytest.mark.parametrize("name", sorted({case.name for case in (*KUEUE, *YUNIKORN)}))
def test_every_dump_names_its_issue_and_states_its_answers(name: str) -> None:
    text = text_of(name)
    scheduler, number, *_ = name.split("-")
    project = (
        f"kubernetes-sigs/kueue#{number}:" if scheduler == "kueue" else f"(YUNIKORN-{number}):"
    )
    assert project in text
    stated = [
        line for line in text.splitlines() if line.endswith(".") and "/" in line.split(":")[0]
    ]
    expected = [case.line for case in (*KUEUE, *YUNIKORN) if case.name == name]
    assert stated[-len(expected) :] == expected


@pytest.mark.parametrize("name", sorted({case.name for case in KUEUE}))
def test_every_dump_of_kueue_is_small_and_read_whole(name: str) -> None:
    ignored = Ignored()
    state = read(ZOO / f"{name}.yaml", ignored=ignored)
    assert not ignored.kinds
    assert set(ignored.fields) <= {"ClusterQueue.spec.namespaceSelector"}  # not looked at
    assert take_snapshot(state).notes == ()
    assert set(state.pending) == {case.pending for case in KUEUE if case.name == name}
    assert state.configuration.fair_sharing_on == (name in FAIR)
    assert 2 <= len(state.workloads) <= 9


@pytest.mark.parametrize("case", KUEUE, ids=case_id)
def test_kueue_answers_as_reasoned(case: Case) -> None:
    state = kueue_state(case)
    greedy = planner.greedy(state, case.pending)
    plan = planner.solve(state, case.pending)
    assert greedy.keys == case.greedy
    assert laws_of(greedy) == OUTSIDE.get(case.name, set())
    assert plan.status == ("infeasible" if case.optimum is None else "optimal")
    assert set(plan.keys) == set(case.optimum or ())
    assert len(plan.keys) == len(case.optimum or ())
    assert (lost(greedy), lost(plan)) == case.lost
    unit = 1000 if case.of == "cpu" else 1
    missing = [(d.resource, d.shortfall) for d in plan.demand if d.shortfall]
    assert missing == [(case.of, amount * unit) for amount in case.short]
    assert planner.verify(state, plan).accepted
    assert planner.verify(state, greedy).accepted == (not greedy.outside_rules)


@pytest.mark.parametrize("case", [c for c in KUEUE if c.short], ids=case_id)
def test_kueue_s_legal_sets_by_enumeration(case: Case) -> None:
    """Single removals in every order: the optimum is legal, and there is none where none is."""
    state = kueue_state(case)
    plan = planner.solve(state, case.pending)
    snapshot = take_snapshot(state)
    preemptor = find_preemptor(state, snapshot, case.pending)
    legal = legal_sets(snapshot, preemptor, plan.assignment, fair=case.name in FAIR)
    assert (case.optimum is None) == (not legal)
    if case.optimum is not None:
        assert frozenset(case.optimum) in legal
        assert (frozenset(case.greedy) in legal) == (case.name not in OUTSIDE)


@pytest.mark.parametrize("case", YUNIKORN, ids=case_id)
def test_yunikorn_answers_as_reasoned(case: Case) -> None:
    state = read_yunikorn(ZOO / case.name)
    (pending,) = state.pending
    greedy, plan = planner.greedy(state), planner.solve(state)
    assert (plan.preemptor, plan.pod) == (pending, case.pending)
    assert tuple(victim.pod for victim in greedy.victims) == case.greedy
    assert laws_of(greedy) == OUTSIDE.get(case.name, set())
    assert plan.status == ("infeasible" if case.optimum is None else "optimal")
    assert {victim.pod for victim in plan.victims} == set(case.optimum or ())
    assert len(plan.victims) == len(case.optimum or ())
    assert (lost(greedy), lost(plan)) == case.lost
    assert plan.last_tier == (case.name in OPTED_OUT)
    assert planner.verify(state, plan).accepted
    if greedy.victims:
        assert planner.verify(state, greedy).accepted == (not greedy.outside_rules)


def test_a_queue_of_kueue_may_be_left_below_its_quota() -> None:
    """What kueue#10171 asks for is not a rule of today: 10 GPUs of its own, 8 left."""
    case = next(case for case in KUEUE if case.name.startswith("kueue-10171"))
    state = kueue_state(case)
    snapshot = take_snapshot(state)
    (victim,) = planner.solve(state).victims
    node = snapshot.node_of["plants"]
    fr = snapshot.fr("h100", GPU)
    (gone,) = victim.usage
    assert snapshot.tree.nominal(node, fr) == 10
    assert snapshot.usage.amount[node][fr] - gone.units == 8


def test_the_evicted_one_costs_nothing() -> None:
    (victim,) = planner.solve(read(ZOO / "kueue-15211-already-evicted.yaml")).victims
    assert victim.evicted
    assert set(victim.costs.values()) <= {0, 1}


def test_the_pages_stand_beside_their_folders() -> None:
    readme = (ROOT / "instances" / "README.md").read_text(encoding="utf-8")
    for name in {case.name for case in (*KUEUE, *YUNIKORN)}:
        target = f"{name}.yaml" if name.startswith("kueue") else f"{name}.md"
        assert f"regressions/{target}" in readme, name
        assert Path(ZOO / target).is_file()
