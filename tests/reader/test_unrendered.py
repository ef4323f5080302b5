"""What makes objects, or is a part of something else, is no object, and is said to be none."""

from pathlib import Path

import pytest

import planner
from planner.errors import InputError
from planner.state.kueue import State
from tests.cli.running import call
from tests.cluster import NOW
from tests.told import told

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: a}
"""
TEMPLATES = {
    "a condition": "{{- if .Values.on }}\n" + QUEUE + "{{- end }}\n",
    "an include": QUEUE + 'spec:\n  {{- include "chart.spec" . | nindent 2 }}\n',
    "a bare value": QUEUE.replace("a}", "{{ .Values.name }}}"),
    "a quoted name": QUEUE.replace("a}", '"{{ .Values.name }}"}'),
    "a quoted field": QUEUE + 'spec: {cohort: "{{ $.Values.cohort }}"}\n',
    "a quoted amount": QUEUE
    + "spec:\n  resourceGroups:\n  - coveredResources: [cpu]\n    flavors:\n    - name: x\n"
    "      resources: [{name: cpu, nominalQuota: '{{ .Values.cpu }}'}]\n",
    "a range of documents": "{{- range .Values.queues }}\n---\n" + QUEUE + "{{- end }}\n",
    "a comment": "{{/* quota */}}\n" + QUEUE,
    "the second document": QUEUE + "---\n" + QUEUE.replace("a}", "{{ .Release.Name }}-b}"),
}


@pytest.mark.parametrize("name", TEMPLATES)
def test_helm_templates(name: str, tmp_path: Path) -> None:
    file = tmp_path / "queue.yaml"
    file.write_text(TEMPLATES[name])
    line = TEMPLATES[name][: TEMPLATES[name].index("{{")].count("\n") + 1
    with pytest.raises(InputError) as caught:
        planner.read(file, now=NOW)
    assert caught.value.where == f"{file}: line {line}"
    told(caught.value.found)
    assert "helm template" in caught.value.hint


@pytest.mark.parametrize(
    "beside",
    [
        (
            "apiVersion: monitoring.coreos.com/v1\nkind: PrometheusRule\nmetadata: {name: r}\n"
            "spec: {summary: '{{ $labels.queue }} waits'}\n"
        ),
        (
            "apiVersion: argoproj.io/v1alpha1\nkind: Workflow\nmetadata: {name: w}\n"
            "spec: {args: ['{{ workflow.name }}', '{{ .path }}']}\n"
        ),
        (
            "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Workload\n"
            "metadata: {name: w, namespace: ns}\n"
            "spec: {queueName: a, podSets: [{name: main, count: 1, template: {spec: {containers: "
            "[{name: c, args: ['{{ .path }}']}]}}}]}\n"
        ),
        (
            "apiVersion: kueue.x-k8s.io/v1beta1\nkind: ResourceFlavor\n"
            "metadata: {name: x, annotations: {note: '{{ .path }}'}}\n"
        ),
    ],
)
def test_templates_of_others_are_texts(beside: str, tmp_path: Path) -> None:
    """Rendered manifests have braces where some other tool reads them."""
    file = tmp_path / "all.yaml"
    file.write_text(f"{QUEUE}---\n{beside}")
    state = planner.read(file, now=NOW)
    assert isinstance(state, State)
    assert [one.name for one in state.cluster_queues] == ["a"]


def test_damaged_yaml_is_no_template(tmp_path: Path) -> None:
    file = tmp_path / "queue.yaml"
    file.write_text(f"{QUEUE}spec: {{cohort: [a}}\n")
    with pytest.raises(InputError) as caught:
        planner.read(file, now=NOW)
    told(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "resources: [queues.yaml]\n",
        "resources: [queues.yaml]\nnamePrefix: prod-\n",
        (
            "apiVersion: kustomize.config.k8s.io/v1beta1\nbases: [../base]\n"
            "patchesStrategicMerge: [quota.yaml]\n"
        ),
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [a.yaml]\n",
    ],
)
def test_kustomizations(text: str, tmp_path: Path) -> None:
    file = tmp_path / "kustomization.yaml"
    file.write_text(text)
    answer = call("solve", file)
    assert answer.exit_code == 2
    told(answer.stderr)


def test_a_kustomization_beside_its_files_was_not_built(tmp_path: Path) -> None:
    head = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n"
    (tmp_path / "kustomization.yaml").write_text(f"{head}resources: [queues.yaml]\n")
    (tmp_path / "queues.yaml").write_text(QUEUE)
    told(planner.read(tmp_path, now=NOW).notes)


@pytest.mark.parametrize("text", ["apiVersion: v1\nmetadata: {name: a}\n", "spec: {}\n", "{}\n"])
def test_what_only_lacks_its_kind_is_no_kustomization(text: str, tmp_path: Path) -> None:
    file = tmp_path / "a.yaml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        planner.read(file, now=NOW)
    told(caught.value.found)
    assert caught.value.hint == ""


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("Chart.yaml", "apiVersion: v2\nname: quota\nversion: 0.1.0\n"),
        ("values.yaml", "quota: {enabled: true}\n"),
        ("values-prod.yml", "quota: {enabled: true}\n"),
    ],
)
def test_other_files_of_a_chart(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    answer = call("solve", tmp_path / name)
    assert answer.exit_code == 2
    told(answer.stderr)


def test_a_workload_to_try_may_be_a_template_by_mistake(tmp_path: Path) -> None:
    state, job = tmp_path / "state.yaml", tmp_path / "job.yaml"
    state.write_text(QUEUE)
    job.write_text("apiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {{ .Values.name }}\n")
    answer = call("whatif", state, "--workload", job, "--now", NOW)
    assert answer.exit_code == 2
    told(answer.stderr)


@pytest.mark.parametrize(
    "part",
    [
        '[{"queuename": "root", "status": "Active"}]',
        '{"queuename": "root", "partition": "default", "children": []}',
        '[{"applicationID": "app", "queueName": "root.a"}]',
        '[{"nodeID": "n1", "capacity": {}}]',
        '[{"partitionName": "default", "nodesInfo": []}]',
        '[{"clusterId": "c", "name": "default", "capacity": {}}]',
        '[{"clusterName": "kubernetes", "partition": "default"}]',
        '[{"partitions": [], "applications": [], "nodes": [], "queues": []}]',
    ],
)
def test_parts_of_what_the_core_of_yunikorn_says(part: str, tmp_path: Path) -> None:
    file = tmp_path / "part.json"
    file.write_text(part)
    with pytest.raises(InputError) as caught:
        planner.read(file)
    told(caught.value)
