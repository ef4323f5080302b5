"""Laws and terms taken away one at a time; the tests that are named for them must notice.

A mutant lacks one law in one piece: the verifier says that it holds, the model does not state it,
a search does not cut off what breaks it, a step of the replay does not keep it; or a term is
nothing. Its tests run in a process of their own, into which pytest loads this file.
``python -m tests.mutants`` tries them all, or those whose names hold one of the words behind it,
and ends with 1 if one survives.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from inspect import getmembers
from pathlib import Path
from pkgutil import walk_packages
from typing import Any, Final

import planner
from planner.laws import LAWS, Register
from planner.verifier.wording import judge
from planner.wing import rule_sets

ROOT: Final = Path(__file__).resolve().parents[1]
VARIABLE: Final = "PLANNER_MUTANT"
"""Names the mutant that a run of pytest is made for."""

OF_WINGS: Final = {"verifier": ".verifier", "models": ".model"}
"""How the modules of a rule set in a wing end that stand for a room."""
EVERY_LAW: Final = (*LAWS, *(law for rules in rule_sets() for law in rules.laws))
RECORDED: Final = "tests/test_replay_recorded.py::test_every_recorded_answer_is_reproduced"
TERMS: Final = (
    "last_resort",
    "workloads",
    "pods",
    "priority_weight",
    "lost_work",
    "restart_cost",
    "milestone_cost",
    "past_preemptions",
    "candidate_order",
    "toll",
)

Apply = Callable[[], None]


def registers(room: str) -> Iterator[Register[Any]]:
    """Yield the registers of a room, and of that piece of each rule set in a wing, each once."""
    names = [
        found.name
        for found in walk_packages(planner.__path__, "planner.")
        if f"{found.name}.".startswith(f"planner.{room}.") or found.name.endswith(OF_WINGS[room])
    ]
    known = {
        id(value): value
        for name in names
        for _, value in getmembers(import_module(name), lambda one: isinstance(one, Register))
    }
    yield from known.values()


def unchecked(law: str) -> None:
    """Let the verifier find that a law always holds."""
    (record,) = (one for one in EVERY_LAW if one.id == law)
    for register in registers("verifier"):
        if law in register:
            register[law] = lambda *_: judge(record, [], "")


def unstated(law: str) -> None:
    """Let no model state a law."""
    if law == "KQ-08":  # not looked up in its register
        everywhere("models.kueue.laws:attempts", always((True, False)))
    for register in registers("models"):
        register.pop(law, None)


def everywhere(path: str, change: Callable[[Any], Any]) -> None:
    """Put what ``change`` makes of a function into all modules that hold it, or into its class."""
    module, _, names = path.partition(":")
    *outer, name = names.split(".")
    holder: Any = import_module(f"planner.{module}")
    for one in outer:
        holder = getattr(holder, one)
    old = getattr(holder, name)
    new = change(old)
    setattr(holder, name, new)
    for loaded in [module for key, module in sys.modules.items() if key.startswith("planner")]:
        for key, value in list(vars(loaded).items()):
            if value is old:
                setattr(loaded, key, new)


def always(answer: object) -> Callable[[Any], Any]:
    """Return a change to a function which gives the same answer whatever is asked."""
    return lambda _: lambda *_, **__: answer


def borrowing_anyway(fits: Callable[..., bool]) -> Callable[..., bool]:
    """Look at what is available only."""
    return lambda self, **_: fits(self, borrowing=True)


def each_alone(fits: Callable[..., bool]) -> Callable[..., bool]:
    """Look at each group of podsets by itself."""
    groups = import_module("planner.reference.kueue.topology.find").groups_by_flavor
    return lambda self, asks: all(fits(self, group) for _, group in groups(asks))


def without_term(name: str) -> None:
    """Let a term that is a sum over victims be nothing."""

    def change(terms: Callable[..., dict[str, Any]]) -> Callable[..., dict[str, Any]]:
        def less(*given: Any, **named: Any) -> dict[str, Any]:
            found = terms(*given, **named)
            return {**found, name: 0 * found[name]}

        return less

    for module in ("kueue", "yunikorn"):
        import_module(f"planner.objective.{module}")
    everywhere("objective.sums:separable_terms", change)


CLASSICAL: Final = "reference.kueue"
FAIR: Final = f"{CLASSICAL}.fair_sharing"
PLACING: Final = f"{CLASSICAL}.topology"
KEP83: Final = "research.kep83.reference"
REPLAY: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "KQ-01": (f"{CLASSICAL}.context:Context.workload_fits", always(answer=True)),
    "KQ-02": (f"{CLASSICAL}.context:Context.workload_fits", borrowing_anyway),
    "KQ-04": (f"{CLASSICAL}.classical:satisfies_policy", always(answer=True)),
    "KQ-06": (f"{CLASSICAL}.classical:_highest_while_borrowing", always(2**40)),
    "KQ-07": (f"{CLASSICAL}.classical:_is_valid", always(answer=True)),
    "KQ-08": (f"{CLASSICAL}.classical:_attempts", always((True, False))),
    "FS-01": (f"{FAIR}:_Passes._fits", always(answer=True)),
    "FS-03": (f"{CLASSICAL}.classical:satisfies_policy", always(answer=True)),
    "FS-07": (f"{FAIR}:_Passes._first_that_passes", lambda _: lambda *given: given[1][0]),
    "KT-01": (f"{PLACING}.assigning:PlaceTest.fits", always(answer=True)),
    "KT-02": (f"{PLACING}.find:Placer.fits", each_alone),
    "K83-01": (f"{KEP83}:Kep83Context.fits", always(answer=True)),
    "K83-06": (f"{KEP83}:Kep83Context.is_borrowing", always(answer=True)),
    "K83-07": (f"{KEP83}:Kep83Context.is_below_min", always(answer=False)),
    "K83-08": (f"{KEP83}:_may_preempt", always(answer=True)),
}
"""By law: a step of the replay that keeps it, and what becomes of that."""
SEARCH: Final[Mapping[str, tuple[str, Callable[[Any], Any]]]] = {
    "KT-02": ("solver.kueue.planning:Planning.is_lawful", always(answer=True))
}
"""By law that no model states: what cuts off the sets that break it, and what becomes of that."""


def mutants() -> Mapping[str, Apply]:
    """Return all mutants by their names."""
    found: dict[str, Apply] = {}
    for room, apply in (("verifier", unchecked), ("models", unstated)):
        known = {law for register in registers(room) for law in register}
        ids = [law.id for law in EVERY_LAW if law.id in known]
        found |= {f"{room} {law}": partial(apply, law) for law in ids}
    for piece, steps in (("search", SEARCH), ("replay", REPLAY)):
        there = [law.id for law in EVERY_LAW if law.id in steps]  # those of wings may be away
        found |= {f"{piece} {law}": partial(everywhere, *steps[law]) for law in there}
    return found | {f"term {name}": partial(without_term, name) for name in TERMS}


def tests_of(name: str) -> Sequence[str]:
    """Return the tests of a mutant's law, those that name it; or those of the terms."""
    piece, subject = name.split()
    if piece == "term":
        return ["tests/objective/test_terms.py", "tests/solver/test_oracle_kueue.py"]
    slug = subject.lower().replace("-", "_")
    folders = [ROOT / "tests" / folder for folder in ("laws", "verifier", "research")]
    files = [file for folder in folders for file in sorted(folder.rglob("test_*.py"))]
    own = [file for file in files if file.name.startswith(f"test_{slug}_")]
    whole = re.compile(rf"\b{subject}\b")
    naming = [file for file in files if whole.search(file.read_text("utf-8"))]
    chosen = dict.fromkeys([*own, *naming] if piece == "verifier" else own or naming)
    found = [str(file.relative_to(ROOT)) for file in chosen]
    return [*found, RECORDED] if piece == "replay" else found


def killed(name: str) -> bool:
    """Say whether a test fails that is named for a mutant.

    Raises
    ------
    RuntimeError
        If there is none, or the run ends in any other way.
    """
    words = ("-q", "-x", "-n", "0", "-p", "no:cacheprovider", "-p", __spec__.name)
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *words, *tests_of(name)],
        cwd=ROOT,
        env=os.environ | {VARIABLE: name},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1}:
        raise RuntimeError(f"{name}: {done.stdout}{done.stderr}")
    return bool(done.returncode)


def pytest_configure() -> None:
    """Become the mutant, where pytest has loaded this file as a plugin."""
    mutants()[os.environ[VARIABLE]]()


def main(words: Sequence[str]) -> int:
    """Try all mutants, or those that are meant; print what became of each."""
    chosen = [name for name in mutants() if not words or any(word in name for word in words)]
    alive = []
    for name in chosen:
        dead = killed(name)
        alive += [] if dead else [name]
        sys.stdout.write(f"{name:16} {'killed' if dead else 'SURVIVES'}\n")
        sys.stdout.flush()
    sys.stdout.write(f"{len(chosen) - len(alive)} of {len(chosen)} killed\n")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
