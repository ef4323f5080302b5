"""The suite as it is in the repository, and small parts of it."""

from collections.abc import Iterable
from pathlib import Path
from shutil import copy
from typing import Final

from planner.objective.profile_file import find_profile
from planner.research.bench.record import Case
from planner.research.bench.run import QUICK, Made, begun, line_of, made, read_suite
from planner.research.rivals.contest import Contest
from tests.conftest import ROOT

FOLDER: Final = ROOT / "instances" / "bench"
FILE: Final = FOLDER / "suite.json"
SUITE: Final = read_suite(FILE)
TWO: Final = ("min-count", "min-lost-work")
LITTLE: Final = QUICK._replace(judgements=40)
BY_NAME: Final = {case.name: case for case in SUITE.cases}


def state_of(case: Case) -> Made:
    """Make the state of a case of the suite."""
    return made(case, line_of(case.source, FOLDER))


def part(folder: Path, names: Iterable[str], **changes: object) -> Path:
    """Write a suite of some of the cases, under two objectives."""
    cases = tuple(
        BY_NAME[name].model_copy(
            update={"optima": tuple(o for o in BY_NAME[name].optima if o.objective in TWO)}
        )
        for name in names
    )
    suite = SUITE.model_copy(update={"cases": cases, "objectives": TWO, **changes})
    path = folder / "suite.json"
    path.write_text(suite.model_dump_json(by_alias=True), encoding="utf-8")
    for name in {case.source.file for case in cases if case.source.file}:
        copy(FOLDER / name, folder)
    return path


def contest(case: str, objective: str = "min-count", seed: str | None = None) -> Contest:
    """Return what a rival is given that has little effort."""
    planning = begun(BY_NAME[case], state_of(BY_NAME[case]).state)
    return Contest(planning, planning.set_objective(find_profile(objective)), LITTLE, seed)
