"""``planner whatif``: plans before and after edits, in every format."""

import json
from pathlib import Path

import pytest

from tests.cli.running import BIG, SMALL, answer, call, refused
from tests.conftest import YUNIKORN
from tests.told import told

NEVER = "clusterqueue/lender.preemption.reclaimWithinCohort=Never"
MORE = "clusterqueue/borrower.quota.default/gpu.nominal=4"


def test_json_holds_both_plans_and_the_difference(dump: Path) -> None:
    value = answer("whatif", "whatif", dump, "--set", NEVER, code=3)
    assert value["edits"] == [NEVER]
    assert value["preemptor"] == "ns/pending"
    assert value["optimum"]["no_longer"] == [BIG]
    assert set(value["greedy"]["no_longer"]) == set(SMALL)
    assert value["after"]["status"] == "infeasible"
    assert value["before"]["certificate"]["digest"] != value["after"]["certificate"]["digest"]


def test_nothing_changes(dump: Path) -> None:
    edit = "workload/ns/pending.priority=11"
    result = call("whatif", dump, "--set", edit, "--format", "table")
    assert result.exit_code == 0
    assert "Nothing changes" in result.stdout


def test_edits_apply_in_order(dump: Path) -> None:
    """More nominal quota for the borrower leaves the lender less to take back."""
    back = MORE.replace("=4", "=0")
    assert (
        "Nothing changes"
        in call("whatif", dump, "--set", MORE, "--set", back, "--format", "table").stdout
    )


@pytest.mark.parametrize(
    "options",
    [
        ("--set", "clusterqueue/lendr.fairSharing.weight=1"),
        (),
        ("--workload", "none.yaml"),
        ("--set", NEVER, "--queue", "ns/lender"),
    ],
)
def test_bad_use(dump: Path, options: tuple[str, ...]) -> None:
    told(refused("whatif", dump, *options))


def test_kinds_of_kueue_are_refused_for_yunikorn() -> None:
    said = refused("whatif", YUNIKORN, "--set", NEVER)
    told(said)


def job(folder: Path, *, queue: str = "lender", name: str = "job.yaml") -> Path:
    """Write a Job that asks for 4 GPUs, as 2 pods."""
    file = folder / name
    file.write_text(JOB.format(queue=queue), encoding="utf-8")
    return file


JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: ns
  labels:
    kueue.x-k8s.io/queue-name: {queue}
spec:
  parallelism: 2
  template:
    spec:
      containers:
      - name: main
        resources: {{requests: {{gpu: 2}}}}
"""


def test_workload_that_is_not_there_yet(dump: Path, tmp_path: Path) -> None:
    """Two pods of 2 are as ``ns/pending``, which wants 4: Kueue takes four, the plan one."""
    value = answer("whatif", "whatif", dump, "--workload", job(tmp_path))
    assert value["preemptor"] == "ns/job-train"
    assert (value["added"], value["edits"]) == (["ns/job-train"], [])
    assert value["before"] is None
    assert value["optimum"]["before"] is None
    assert (value["optimum"]["newly"], value["optimum"]["no_longer"]) == ([BIG], [])
    assert set(value["greedy"]["newly"]) == set(SMALL)


def test_workload_in_plain_text_and_as_a_table(dump: Path, tmp_path: Path) -> None:
    lines = call("whatif", dump, "--workload", job(tmp_path)).stdout.splitlines()
    told(lines)
    assert not any("_before" in line for line in lines)
    text = call("whatif", dump, "--workload", job(tmp_path), "--format", "table").stdout
    told(text)
    (row,) = (line for line in text.splitlines() if line.split()[:1] == [BIG])
    assert row.split()[-2:] == ["-", "x"]


def test_edits_of_the_new_workload_have_a_before(dump: Path, tmp_path: Path) -> None:
    value = answer("whatif", "whatif", dump, "--workload", job(tmp_path), "--set", NEVER, code=3)
    assert (value["before"]["status"], value["after"]["status"]) == ("optimal", "infeasible")
    assert value["optimum"]["no_longer"] == [BIG]


def test_new_workload_beside_the_one_asked_about(dump: Path, tmp_path: Path) -> None:
    """What only waits holds no quota, and changes nothing for another."""
    options = ("--workload", job(tmp_path), "--pending", "ns/pending", "--format", "table")
    result = call("whatif", dump, *options)
    assert result.exit_code == 0
    assert "Nothing changes" in result.stdout


def test_new_workload_that_the_one_asked_about_preempts(dump: Path, tmp_path: Path) -> None:
    """Before is without it; with edits as well, before is with it, unedited."""
    added, edited = ("--workload", job(tmp_path), "--pending", "ns/pending"), ("--set", NEVER)
    alone, there, both = (
        json.loads(call("whatif", dump, *options, "--format", "json").stdout)["before"][
            "certificate"
        ]
        for options in (edited, added, (*added, *edited))
    )
    assert there["digest"] == alone["digest"]
    assert both["digest"] != alone["digest"]


def test_new_workload_submitted_elsewhere(dump: Path, tmp_path: Path) -> None:
    """``borrower`` has nothing of its own and may preempt nobody."""
    file = job(tmp_path)
    words = ("whatif", dump, "--workload", file, "--queue", "ns/borrower")
    assert answer("whatif", *words, code=3)["after"]["cluster_queue"] == "borrower"


@pytest.mark.parametrize(
    "text",
    [
        JOB.format(queue="lendr"),
        JOB.format(queue='""'),
        JOB.format(queue="lender").replace("kind: Job", "kind: Work"),
        JOB.format(queue="lender") + "---\n" + JOB.format(queue="lender"),
        JOB.format(queue="lender") + "  bad: [",
        JOB.format(queue="lender").replace("parallelism: 2", "parallelism: two"),
        "",
        "apiVersion: v1\nkind: ConfigMap\n---\napiVersion: v1\nkind: Service\n",
        '{"apiVersion": "v1", "kind": "List", "items": []}',
    ],
)  # fmt: skip
def test_bad_workload(dump: Path, tmp_path: Path, text: str) -> None:
    file = tmp_path / "job.yaml"
    file.write_text(text, encoding="utf-8")
    error = refused("whatif", dump, "--workload", file)
    told(error)
    assert "job.yaml" in error


def test_what_is_no_workload_is_left_out(dump: Path, tmp_path: Path) -> None:
    file = job(tmp_path)
    other = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: code}\n---\n"
    file.write_text(other + file.read_text("utf-8") + "---\n" + other, encoding="utf-8")
    done = call("whatif", dump, "--workload", file, "--format", "plain")
    assert (done.exit_code, "ns/job-train" in done.stdout) == (0, True)
    told([line for line in done.stderr.splitlines() if "left out" in line])


def test_a_group_of_pods_is_refused_in_its_own_words(dump: Path, tmp_path: Path) -> None:
    file = tmp_path / "group.yaml"
    labels = "{kueue.x-k8s.io/queue-name: lender, kueue.x-k8s.io/pod-group-name: g}"
    pods = (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: {name}, namespace: ns, labels: {labels}}}\n"
        "spec: {containers: [{name: main}]}\n"
        for name in "ab"
    )
    file.write_text("---\n".join(pods), encoding="utf-8")
    told(refused("whatif", dump, "--workload", file))


def test_yunikorn() -> None:
    edit = "queue/root.serving.preemption.policy=fence"
    value = answer("whatif", "whatif", YUNIKORN, "--set", edit, code=3)
    assert value["greedy"]["algorithm"] == "yunikorn"
    assert len(value["greedy"]["no_longer"]) == 2
    assert len(value["optimum"]["no_longer"]) == 1
    lines = call("whatif", YUNIKORN, "--set", edit).stdout.splitlines()
    assert any(line.startswith("yunikorn_before  feasible victims=2") for line in lines)
    text = call("whatif", YUNIKORN, "--set", edit, "--format", "table").stdout
    (row,) = (line for line in text.splitlines() if line.startswith(" etl/sessions-hourly-exec-9"))
    assert row.split()[-4:] == ["-", "-", "x", "-"]


def test_workloads_of_kueue_are_refused_for_yunikorn(tmp_path: Path) -> None:
    told(refused("whatif", YUNIKORN, "--workload", job(tmp_path)))
