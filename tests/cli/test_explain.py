"""``planner explain``: questions and answers in every format."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import BIG, SMALL, answer, call, cluster, refused, write
from tests.cluster import cohort, dump_of, pending, queue, running
from tests.told import told

MESSAGE = (
    "Preempted to accommodate a workload (UID: uid-pending, JobUID: UNKNOWN) due to reclamation "
    "within the cohort; preemptor path: /all/lender; preemptee path: /all/borrower"
)


@pytest.fixture
def stuck(tmp_path: Path) -> Path:
    """Return a cluster in which a policy alone forbids what would make room."""
    parts = (
        cohort("all"),
        queue("lender", 4, "all"),
        queue("borrower", 0, "all"),
        running("big", "borrower", 4),
        pending("lender", 3),
    )
    return write(tmp_path, dump_of(*parts))


def explained(*args: str | Path, code: int = 0, schema: str = "explanation") -> Any:
    """Return an answer as JSON that obeys its schema."""
    return answer(schema, "explain", *args, code=code)


def test_plan(dump: Path) -> None:
    value = explained(dump)
    assert value["question"] == "why-this-plan"
    assert value["victims"] == [BIG]
    (big,) = value["workloads"]
    assert big["workload"] == BIG
    assert big["necessary"] is True
    assert big["law"]["law"] == "KQ-05"
    assert big["reason"] == "InCohortReclamation"
    told(big["law"]["text"])
    assert (big["position"], big["candidates"]) == (5, 5)
    assert not big["by_scheduler"]
    assert value["optima"] == {"count": 1, "complete": True, "plans": [[BIG]]}


def test_why_this_victim(dump: Path) -> None:
    """Without the one of 4, the four of 1 remain: three victims more."""
    value = explained(dump, "--victim", BIG)
    assert value["question"] == "why-this-victim"
    other = value["alternative"]
    assert other["condition"] == "sparing"
    assert set(other["more"]) == set(SMALL)
    assert other["fewer"] == [BIG]
    (count,) = (term for term in other["terms"] if term["term"] == "workloads")
    assert (count["plan"], count["other"]) == (1, 4)
    told(value["answer"])


def test_why_not_that_one(dump: Path) -> None:
    value = explained(dump, "--victim", SMALL[0])
    assert value["question"] == "why-not-that-one"
    assert value["workloads"][0]["candidate"]
    assert value["workloads"][0]["by_scheduler"]
    assert set(value["alternative"]["more"]) >= {SMALL[0]}


@pytest.mark.parametrize(
    ("victim", "law", "said"),
    [
        ("ns/pending", "KQ-03", "it holds no quota: it is pending"),
        ("ns/own", "KQ-04", "withinClusterQueue of ClusterQueue lender is Never"),
        ("ns/alone", "KQ-03", "ClusterQueue alone shares no cohort with ClusterQueue lender"),
        (
            "ns/modest",
            "KQ-07",
            "ClusterQueue modest is not over its quota: it uses 1 of 1 gpu in flavor default",
        ),
    ],
)
def test_first_law_that_excludes(tmp_path: Path, victim: str, law: str, said: str) -> None:
    more = (
        running("own", "lender", 1, 50),
        queue("alone", 1),
        running("alone", "alone", 1),
        queue("modest", 1, "all"),
        running("modest", "modest", 1),
    )
    value = explained(
        write(tmp_path, cluster(*more)), "--pending", "ns/pending", "--victim", victim
    )
    (place,) = value["workloads"]
    assert not place["candidate"]
    assert (place["law"]["law"], place["law"]["text"]) == (law, said)
    assert value["alternative"] is None


def test_why_nothing(stuck: Path) -> None:
    value = explained(stuck, code=3)
    assert value["question"] == "why-nothing"
    assert [law["law"] for law in value["clash"]["laws"]] == ["KQ-01", "KQ-05"]
    (short,) = value["clash"]["shortfalls"]
    assert (short["requested"], short["available"], short["short"]) == (3, 0, 3)
    edits = {change["edit"] for change in value["clash"]["changes"]}
    assert "clusterqueue/lender.preemption.reclaimWithinCohort=LowerPriority" in edits
    for edit in edits:
        assert call("whatif", stuck, "--set", edit).exit_code == 0, edit


def test_victim_asked_about_where_nothing_goes(stuck: Path) -> None:
    value = explained(stuck, "--victim", BIG, code=3)
    assert value["question"] == "why-not-that-one"
    assert value["workloads"][0]["law"]["law"] == "KQ-05"
    assert value["clash"]["changes"]


def test_message_is_taken_apart(dump: Path) -> None:
    value = explained(dump, "--message", MESSAGE, schema="message")
    assert value["reason"] == "InCohortReclamation"
    assert value["preemptor"]["workload"] == "ns/pending"
    assert value["victim"]["path"] == ["all", "borrower"]
    plain = call("explain", dump, "--message", MESSAGE).stdout.splitlines()
    told(plain)
    table = call("explain", dump, "--message", MESSAGE, "--format", "table").stdout
    assert "ns/pending" in table


def test_message_from_standard_input(dump: Path) -> None:
    """As kubectl prints it: the event, and other lines around it."""
    pasted = f"LAST SEEN   TYPE     REASON\n5m          Normal   Preempted   {MESSAGE}\n"
    result = call("explain", dump, "--message", "-", "--format", "json", stdin=pasted)
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["preemptor"]["workload"] == "ns/pending"
    assert result.stderr == ""
    pair = f"{pasted}Preempted to accommodate a workload\n"
    several = call("explain", dump, "--message", "-", stdin=pair)
    assert "reason           none" in several.stdout
    told(several.stderr)
    both = call("explain", "-", "--message", "-", stdin=pasted)
    assert both.exit_code == 2
    told(both.stderr)


def test_costs_decide(dump: Path, tmp_path: Path) -> None:
    """Four small ones at nothing are cheaper than the big one at 1."""
    prices = write(tmp_path, dict.fromkeys(SMALL, 0), "costs.json")
    value = explained(dump, "--objective", "min-cost", "--costs", prices, "--victim", BIG)
    assert set(value["victims"]) == set(SMALL)
    assert value["question"] == "why-not-that-one"
    (cost,) = [term for term in value["alternative"]["terms"] if term["term"] == "cost"]
    assert (cost["plan"], cost["other"]) == (0, 1)


def test_flavors_fixed_by_hand(dump: Path, tmp_path: Path) -> None:
    """Whether they fit follows from the state."""
    given = {"main": {"gpu": {"flavor": "default"}}}
    value = explained(dump, "--assignment", write(tmp_path, given, "flavors.json"))
    assert value["victims"] == explained(dump)["victims"] == [BIG]
    given["main"]["gpu"]["mode"] = "Fit"
    said = refused("explain", dump, "--assignment", write(tmp_path, given, "flavors.json"))
    told(said)
    unknown = write(tmp_path, {"other": {"gpu": {"flavor": "default"}}}, "flavors.json")
    said = refused("explain", dump, "--assignment", unknown)
    told(said)


@pytest.mark.parametrize(
    "options",
    [
        ("--victim", "ns/nobody"),
        ("--victim", "ns/bg"),
        ("--pending", "ns/nobody"),
        ("--message", "nothing"),
        ("--message", MESSAGE, "--victim", BIG),
        ("--limit", "0"),
    ],
)
def test_bad_use(dump: Path, options: tuple[str, ...]) -> None:
    told(refused("explain", dump, *options))


def test_a_victim_is_found_without_its_namespace(dump: Path) -> None:
    assert explained(dump, "--victim", "big") == explained(dump, "--victim", BIG)


def test_objective_of_ones_own(dump: Path, tmp_path: Path) -> None:
    """A file of one's own is read like for the plan: here it leaves nobody who may be evicted."""
    gentle = tmp_path / "gentle.toml"
    gentle.write_text('levels = ["workloads"]\n[budget]\ntotal = 0\n')
    result = call("explain", dump, "--objective", gentle)
    assert result.exit_code == 3
    assert "at most 0" in result.stdout
