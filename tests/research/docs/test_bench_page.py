"""The page on the benchmark says what the suite, the table of rivals and the recorded run say."""

import gzip
import json
import re
from collections import Counter
from functools import cache
from hashlib import sha256

import pytest
import yaml

from planner.research.bench import Bench
from planner.research.bench.record import Answers, Group, Manifest, Size, Standing
from planner.research.bench.summary import profiles, standings
from planner.research.report.bench import render
from planner.research.rivals.table import RIVALS
from tests.conftest import ROOT
from tests.docs.blocks import check_block
from tests.research.bench.suites import FOLDER, SUITE
from tests.test_distribution import project

PAGE = ROOT / "docs/explanation/bench.md"
SIZES: tuple[Size, ...] = ("small", "medium", "large")
LINK = re.compile(r"^https://")
PARTS = ("classes", "hints")


@cache
def recorded(name: str) -> Bench:
    """Return a recorded run, ``quick`` or ``full``."""
    text = gzip.decompress((FOLDER / f"{name}.jsonl.gz").read_bytes()).decode()
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


def full_tables() -> str:
    """Return what `planner bench` prints of the full run, but for its title."""
    text = render(recorded("full"), "markdown", width=100, color=False)
    return text.partition("\n\n")[2].strip()


def quick_table() -> str:
    """Return what it prints of the quick run: whose it is, and the table of all states."""
    bench = recorded("quick")
    of_all = tuple(one for one in bench.standings if one.size == "all")
    short = bench.model_copy(update={"standings": of_all})
    text = render(short, "markdown", width=100, color=False)
    return text.partition("\n\n")[2].partition("\n### Performance")[0].strip()


BLOCKS = {"suite": suite_table, "rivals": rivals_table, "full": full_tables, "quick": quick_table}


@pytest.mark.parametrize("name", BLOCKS)
def test_a_block_is_what_is_there(name: str) -> None:
    check_block(PAGE, name, "tests/docs/test_bench_page.py", f"\n{BLOCKS[name]()}\n\n")


@pytest.mark.parametrize("name", ["quick", "full"])
def test_a_recorded_run_is_of_the_suite(name: str) -> None:
    manifest = recorded(name).manifest
    cases = [case for case in SUITE.cases if case.quick or name == "full"]
    text = "\n".join(case.model_dump_json() for case in cases)
    assert manifest.quick == (name == "quick")
    assert manifest.digest == sha256(text.encode()).hexdigest()
    assert manifest.rivals == tuple(RIVALS)
    asked = {(case.name, objective) for case in cases for objective in SUITE.objectives}
    assert Counter((row.case, row.objective) for row in recorded(name).rows) == dict.fromkeys(
        asked, len(RIVALS)
    )


def standing(size: Group) -> dict[str, Standing]:
    """Return what each rival reached in states of a size, in the full run."""
    return {one.rival: one for one in recorded("full").standings if one.size == size}


def page() -> str:
    return " ".join(PAGE.read_text("utf-8").split())


def test_what_the_page_says_of_the_suite() -> None:
    text = page()
    quick = [case for case in SUITE.cases if case.quick]
    medium = sum(case.size == "medium" for case in quick)
    assert f"has {len(SUITE.cases)} cases" in text
    assert f"version {SUITE.version}" in text
    assert f"{len(quick) - medium} small cases and {medium} medium ones" in text
    assert f"of these {len(SUITE.cases)} cases under five objectives" in text


def test_what_the_page_says_of_the_quick_run() -> None:
    rows = recorded("quick").rows
    assert all(r.proved and r.optimal for r in rows if r.family in {"engine", "planner"})
    assert not any(row.refuted or row.late for row in rows)


def test_what_the_page_says_of_engines() -> None:
    text, rows, of = page(), recorded("full").rows, standing("all")
    sure = [of[name] for name in ("search", "highs", "certified")]
    assert all(one.proved == one.optimal == one.answers == 385 for one in sure)
    assert f"proves all 385 answers in {of['search'].cpu_total:.0f} seconds" in text
    assert f"HiGHS proves them all, too, in {of['highs'].cpu_total:.0f}." in text
    assert f"CP-SAT, left to itself, proves {of['cp-sat'].proved}," in text
    without = {row.case for row in rows if row.status == "none" and row.rival == "cp-sat"}
    assert without == {"kep83-large-2", "no-last-victim-8"}
    assert of["scip"].proved == 385
    (false,) = [row for row in rows if row.refuted]
    assert (false.rival, false.case, false.objective) == (
        "scip",
        "classical-large-1",
        "fewest-tenants",
    )
    (right,) = [
        row
        for row in rows
        if (row.case, row.objective) == (false.case, false.objective) and row.rival == "search"
    ]
    assert false.worse_at == "workloads"
    assert (right.values["workloads"], false.values["workloads"]) == (9, 10)


def test_what_the_page_says_of_the_parts() -> None:
    text, large = page(), standing("large")
    whole = large["search"].cpu_total
    seconds = {part: large[f"search-{part}"].cpu_total for part in PARTS}
    assert "Neither classes nor hints matter" in text
    unproved = {part: 65 - large[f"search-{part}"].proved for part in PARTS}
    assert unproved == {"classes": 0, "hints": 0}
    assert all(seconds[part] < 1.1 * whole for part in PARTS)
    for size in ("small", "medium"):
        of = standing(size)
        assert all(of[f"search-{part}"].cpu_total < 1.3 * of["search"].cpu_total for part in PARTS)


def test_what_the_page_says_of_trees() -> None:
    text, of = page(), standing("all")
    said = f"{of['certified'].cpu_total:.0f} seconds against {of['search'].cpu_total:.0f}."
    assert said in text
    rows = [row for row in recorded("full").rows if row.rival == "certified"]
    seconds: dict[str, float] = {}
    for row in rows:
        seconds[row.case] = seconds.get(row.case, 0.0) + row.cpu_seconds
    longest = sorted(seconds, key=lambda case: -seconds[case])[:2]
    assert {*longest} == {"last-victim-24", "ten-thousand-1"}
    two = sum(seconds[case] for case in longest)
    assert two / of["certified"].cpu_total == pytest.approx(0.4, abs=0.03)
    assert max(row.cpu_seconds for row in rows if row.objective == "fewest-tenants") < 4


def test_what_the_page_says_of_rules_and_heuristics() -> None:
    text, rows, of = page(), recorded("full").rows, standing("all")
    own = standing("large")["greedy"]
    assert f"are optimal in {of['greedy'].optimal} of 385, in large states in {own.optimal}" in text
    assert own.answers == 65
    assert f"victim is in {of['smallest'].optimal};" in text
    assert of["smallest"].worst == 6
    worst = [
        row.kind
        for row in rows
        if (row.rival, row.objective) == ("smallest", "min-count")
        and row.fewest
        and row.victims > 1.5 * row.fewest
    ]
    assert set(worst) == {"topology"}
    both = f"are optimal in {of['restarts'].optimal}, local search in {of['local'].optimal};"
    assert both in text
    (stuck,) = [
        row.victims
        for row in rows
        if (row.case, row.objective, row.rival) == ("crowd-1000", "min-count", "local")
    ]
    assert stuck == 1000
    broken: dict[tuple[str, str], set[str]] = {}
    for row in rows:
        if row.legal is False:
            broken.setdefault((row.scheduler, row.rival), set()).add(row.case)
            assert row.broken == (("KQ-07",) if row.rival == "kube" else ("YK-08", "YK-09"))
    counted = {who: len(cases) for who, cases in broken.items()}
    assert counted == {("yunikorn", "greedy"): 3, ("kueue", "kube"): 5}
    late = Counter(row.rival for row in rows if row.late)
    assert late == {"cp-sat": 10, "kube": 5}
    assert f"Late are {late.total()} of {len(rows):,} answers" in text


def test_the_citation_is_of_this_version() -> None:
    said = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    known = project()["project"]
    assert (said["title"], said["version"]) == (known["name"], known["version"])
    assert said["license"] == known["license"]
