"""Many inputs: what they ended with, and where the failing ones are kept."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.fuzz import judge
from tests.fuzz.case import KINDS, Case, make
from tests.fuzz.limits import Report, Run, in_processes, run
from tests.fuzz.seeds import Stock

SLOWEST: Final = 5


@dataclass
class Tally:
    """What came of many inputs."""

    codes: Counter[tuple[str, int | None]] = field(default_factory=Counter)
    foci: Counter[str] = field(default_factory=Counter)
    failed: list[tuple[Report, Path]] = field(default_factory=list)
    slowest: list[tuple[float, int]] = field(default_factory=list)
    cpu_s: float = 0.0

    def add(self, case: Case, report: Report) -> None:
        """Count one."""
        self.codes[case.kind, report.code] += 1
        self.foci[case.focus] += 1
        self.cpu_s += report.cpu_s
        self.slowest = sorted([*self.slowest, (report.cpu_s, case.number)], reverse=True)[:SLOWEST]

    @property
    def total(self) -> int:
        """How many there were."""
        return self.codes.total()

    def table(self) -> str:
        """Return how many inputs of each command ended with which exit code."""
        codes = sorted(
            {code for _, code in self.codes}, key=lambda code: -1 if code is None else code
        )
        rows = [["", *("died" if code is None else str(code) for code in codes), "all"]]
        for kind in (*KINDS, None):
            counts = [
                sum(n for (k, c), n in self.codes.items() if c == code and kind in {k, None})
                for code in codes
            ]
            rows.append([kind or "all", *map(str, counts), str(sum(counts))])
        lines = [f"{row[0]:<26}" + "".join(f"{cell:>8}" for cell in row[1:]) for row in rows]
        foci = ", ".join(f"{count} {focus}" for focus, count in sorted(self.foci.items()))
        slowest = ", ".join(f"{number} ({cpu:.1f} s)" for cpu, number in self.slowest)
        more = [f"odd: {foci}", f"processor time: {self.cpu_s:.0f} s; the slowest: {slowest}"]
        return "\n".join([*lines, *more])


def campaign(
    numbers: Iterable[int], seed: int, stock: Stock, keep: Path, run: Run = run
) -> Iterator[Tally]:
    """Run the inputs of some numbers, and keep those that fail in a folder.

    Yields the same tally again and again, after every input.
    """
    tally = Tally()
    judge.warm_up()
    made: dict[int, Case] = {}

    def cases() -> Iterable[Case]:
        for number in numbers:
            made[number] = make(stock, seed, number)
            yield made[number]

    for report in in_processes(cases(), run):
        case = made.pop(report.number)
        tally.add(case, report)
        if report.faults:
            tally.failed.append((report, kept(case, report, seed, keep)))
        yield tally


def kept(case: Case, report: Report, seed: int, keep: Path) -> Path:
    """Write the files of an input that failed, how to run it, and what was wrong."""
    folder = keep / str(case.number)
    shutil.rmtree(folder, ignore_errors=True)  # of an earlier run
    folder.mkdir(parents=True)
    case.write(folder)
    again = f"python -m tests.fuzz --seed {seed} --only {case.number}"
    said = "\n".join(report.faults)
    text = f"# {again}\n# in this folder:\n{case.line()}\n"
    (folder / "COMMAND").write_text(text, "utf-8", "backslashreplace")
    (folder / "FAULT").write_text(f"{said}\n", "utf-8", "backslashreplace")
    return folder
