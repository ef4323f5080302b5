"""The page on the benchmark says what the suite, the table of rivals and the recorded run say."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from functools import cache
from hashlib import sha256
from typing import Any

import pytest
import yaml

from planner.commands.bench import Bench
from planner.commands.bench.record import Answers, Manifest, Size
from planner.commands.bench.summary import profiles, standings
from planner.report.bench import render
from planner.rivals.table import RIVALS
from tests.commands.bench.suites import FOLDER, SUITE
from tests.conftest import ROOT
from tests.docs.blocks import check_block
from tests.test_distribution import project

PAGE = ROOT / "docs/explanation/bench.md"
SIZES: tuple[Size, ...] = ("small", "medium", "large")
LINK = re.compile(r"^https://")


@cache
def recorded() -> Bench:
    """Return the recorded run."""
    text = gzip.decompress((FOLDER / "quick.jsonl.gz").read_bytes()).decode()
    header, *lines = map(json.loads, text.splitlines())
    manifest = Manifest.model_validate({name: header[name] for name in Manifest.model_fields})
    assert all(line["outcome"] == "done" for line in lines)
    answers = [Answers.model_validate(line["result"]) for line in lines]
    rows = tuple(row for one in answers for row in one.rows)
    return Bench(
        manifest=manifest,
        standings=tuple(standings(rows)),
        profiles=tuple(profiles(rows)),
        rows=rows,
    )


def suite_table() -> str:
    """Return how many cases of each kind and size there are."""
    lines = ["| kind | small | medium | large | hard | certified |", "|---|--:|--:|--:|--:|--:|"]
    for kind in (*dict.fromkeys(case.kind for case in SUITE.cases), "all"):
        cases = [case for case in SUITE.cases if kind in {case.kind, "all"}]
        sizes = Counter(case.size for case in cases)
        optima = [one for case in cases for one in case.optima]
        numbers = [sizes[size] for size in SIZES]
        certified = f"{sum(one.certified for one in optima)} of {len(optima)}"
        cells = [kind, *numbers, sum(case.hard for case in cases), certified]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def rivals_table() -> str:
    """Return the rivals, what they are, and where they come from."""
    lines = ["| rival | | what it is | source |", "|---|---|---|---|"]
    for one in RIVALS.values():
        source = f"<{one.source}>" if LINK.match(one.source) else one.source
        said = one.title + (", drawn" if one.drawn else "")
        lines.append(f"| `{one.name}` | {one.family} | {said} | {source} |")
    return "\n".join(lines)


def recorded_tables() -> str:
    """Return what `planner bench` prints of the recorded run, but for its title."""
    text = render(recorded(), "markdown", width=100, color=False)
    return text.partition("\n\n")[2].strip()


BLOCKS = {"suite": suite_table, "rivals": rivals_table, "recorded": recorded_tables}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_what_is_there(name: str) -> None:
    check_block(PAGE, name, "tests/docs/test_bench_page.py", f"\n{BLOCKS[name]()}\n\n")


def test_the_recorded_run_is_of_the_suite() -> None:
    manifest = recorded().manifest
    cases = [case for case in SUITE.cases if case.quick]
    text = "\n".join(case.model_dump_json() for case in cases)
    assert manifest.quick
    assert manifest.digest == sha256(text.encode()).hexdigest()
    assert manifest.rivals == tuple(RIVALS)
    asked = {(case.name, objective) for case in cases for objective in SUITE.objectives}
    assert Counter((row.case, row.objective) for row in recorded().rows) == dict.fromkeys(
        asked, len(RIVALS)
    )
    assert not any(row.late for row in recorded().rows)


def test_what_the_page_says_in_words() -> None:
    text = " ".join(PAGE.read_text("utf-8").split())
    rows = recorded().rows
    by_rival: dict[str, Any] = {one.rival: one for one in recorded().standings if one.size == "all"}
    quick = [case for case in SUITE.cases if case.quick]
    medium = sum(case.size == "medium" for case in quick)
    assert f"has {len(SUITE.cases)} cases" in text
    assert f"version {SUITE.version}" in text
    assert f"{len(quick) - medium} small cases and {medium} medium ones" in text
    assert f"of these {len(quick)} cases under five objectives" in text
    exact = [row for row in rows if row.family in {"engine", "planner"}]
    assert all(row.proved and row.optimal for row in exact)
    assert not any(row.refuted for row in rows)
    greedy, smallest = by_rival["greedy"], by_rival["smallest"]
    assert f"are optimal in {greedy.optimal} of {greedy.answers}." in text
    assert f"is in {smallest.optimal}, and" in text
    assert smallest.worst <= 1.5
    crowd = [row for row in rows if (row.case, row.objective) == ("crowd-100", "min-count")]
    stuck = {row.rival: row.victims for row in crowd}
    assert (stuck["local"], stuck["restarts"]) == (100, 1)
    broken: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row.legal is False:
            broken.setdefault((row.scheduler, row.rival), set()).add(row.case)
            assert row.broken == (("KQ-07",) if row.rival == "kube" else ("YK-08", "YK-09"))
    counted = {who: len(cases) for who, cases in broken.items()}
    assert counted == {("yunikorn", "greedy"): 2, ("kueue", "kube"): 3}


def test_the_citation_is_of_this_version() -> None:
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    known = project()["project"]
    assert (said["title"], said["version"]) == (known["name"], known["version"])
    assert said["license"] == known["license"]
