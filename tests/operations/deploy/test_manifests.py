"""deploy/base: what Kubernetes takes, with no more rights than the planner says it needs."""

import json
import shutil
import subprocess
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from jsonschema import Draft202012Validator

from planner.cli.main import main as planner
from planner.operations.kubectl import kueue_resource
from planner.operations.kubectl.kueue_resource import cluster_role, configuration_role
from tests.conftest import ROOT
from tests.test_distribution import project

Object = dict[str, Any]
BASE = ROOT / "deploy" / "base"
NAME = "preemption-planner"
OWN = f"{NAME}-base"
"""How what stands outside the namespace is named."""
WIDE = {"Namespace", "ClusterRole", "ClusterRoleBinding"}
SCHEMA = json.loads((ROOT / "tests/operations/deploy/kubernetes.json").read_bytes())


@cache
def kustomization() -> Object:
    value: Object = yaml.safe_load((BASE / "kustomization.yaml").read_text())
    return value


def objects(*kinds: str) -> list[Object]:
    """Return the objects of the manifests, of some kinds or all."""
    files = (BASE / name for name in kustomization()["resources"])
    every = (one for file in files for one in yaml.safe_load_all(file.read_text()))
    return [one for one in every if not kinds or one["kind"] in kinds]


def templates() -> Iterator[tuple[Object, Object]]:
    """Yield what makes pods, each with the template of its pods."""
    for one in objects("Deployment", "CronJob"):
        spec = one["spec"]
        yield one, (spec["jobTemplate"]["spec"] if one["kind"] == "CronJob" else spec)["template"]


def containers() -> Iterator[Object]:
    for _, template in templates():
        spec = template["spec"]
        yield from (*spec.get("initContainers", ()), *spec["containers"])


def labels(one: Object) -> dict[str, str]:
    found: dict[str, str] = one["metadata"].get("labels", {})
    return found


def faults(one: Object) -> list[str]:
    """Return what Kubernetes' published schemas say against an object."""
    kind = SCHEMA["kinds"].get(f"{one['apiVersion']} {one['kind']}")
    if kind is None:
        return ["no such kind"]
    schema = {"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}
    return [error.message for error in Draft202012Validator(schema).iter_errors(one)]


def named(one: Object) -> str:
    return f"{one['kind']}-{one['metadata']['name']}"


@pytest.mark.parametrize("one", objects(), ids=named)
def test_kubernetes_knows_every_field(one: Object) -> None:
    assert faults(one) == []


def test_unknown_fields_and_wrong_types_are_found() -> None:
    (one,) = objects("Deployment")
    spec = one["spec"]
    assert faults({**one, "kind": "Deploymint"}) == ["no such kind"]
    assert faults({**one, "spec": {**spec, "replica": 1}})
    assert faults({**one, "spec": {**spec, "replicas": "1"}})
    assert faults({**one, "spec": {key: spec[key] for key in spec if key != "selector"}})
    pod = {**spec["template"]["spec"], "hostNetwrok": False}
    assert faults({**one, "spec": {**spec, "template": {**spec["template"], "spec": pod}}})


def test_every_file_is_part_of_it() -> None:
    there = {path.name for path in BASE.iterdir()} - {"kustomization.yaml"}
    assert set(kustomization()["resources"]) == there


def test_no_object_stands_twice() -> None:
    names = [(one["kind"], one["metadata"].get("namespace"), named(one)) for one in objects()]
    assert len(set(names)) == len(names)


def test_everything_stands_in_its_namespace() -> None:
    (namespace,) = objects("Namespace")
    kueue = kueue_resource.CONFIGURATION.partition("/")[0]
    for one in objects():
        where = {"Role": kueue, "RoleBinding": kueue}.get(one["kind"], NAME)
        expected = None if one["kind"] in WIDE else where
        assert one["metadata"].get("namespace") == expected, named(one)
    assert namespace["metadata"]["name"] == NAME
    modes = ("enforce", "audit", "warn")
    restricted = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in modes}
    assert labels(namespace) == restricted


# Image and version.


def test_the_image_is_named_in_one_place_with_the_version_of_the_project() -> None:
    assert {one["image"] for one in containers()} == {NAME}
    (image,) = kustomization()["images"]
    version = project()["project"]["version"]
    assert image == {"name": NAME, "newName": NAME, "newTag": version}
    files = [
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "deploy").rglob("*")
        if path.is_file() and version in path.read_text()
    ]
    of = ("base/kustomization.yaml", "krew/preemption-plan.yaml", "steer/kustomization.yaml")
    assert sorted(files) == [f"deploy/{name}" for name in of]


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="there is no kubectl here")
def test_what_kustomize_makes_of_it() -> None:
    done = subprocess.run(
        ["kubectl", "kustomize", str(BASE)],  # noqa: S607 - where it is differs
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    made = list(yaml.safe_load_all(done.stdout))
    assert sorted(map(named, made)) == sorted(map(named, objects()))
    assert [error for one in made for error in faults(one)] == []
    assert done.stdout.count(f"image: {NAME}:{project()['project']['version']}\n") == 3
    assert all(labels(one)["app.kubernetes.io/part-of"] == NAME for one in made)


# Rights.


def permitted(rules: list[Object]) -> set[tuple[str, ...]]:
    """Return single rights: verb, group, resource and the name of the object, or none."""
    return {
        (verb, group, resource, name)
        for rule in rules
        for verb in rule["verbs"]
        for group in rule["apiGroups"]
        for resource in rule["resources"]
        for name in rule.get("resourceNames", ("",))
    }


def granted(command: str) -> set[tuple[str, ...]]:
    """Return the rights that a ``kubectl create clusterrole`` or ``role`` makes."""
    options: dict[str, list[str]] = {}
    for word in command.split():
        option, _, value = word.partition("=")
        options.setdefault(option, []).extend(value.split(","))
    full = (name.partition(".") for name in options["--resource"])
    resources = [(group, resource) for resource, _, group in full]
    return {
        (verb, group, resource, name)
        for verb in options["--verb"]
        for group, resource in resources
        for name in options.get("--resource-name", [""])
    }


def role(kind: str, name: str) -> Object:
    (found,) = (one for one in objects(kind) if one["metadata"]["name"] == name)
    return found


def test_rights_are_those_that_the_planner_says_it_needs() -> None:
    assert permitted(role("ClusterRole", OWN)["rules"]) == granted(cluster_role())
    assert permitted(role("Role", OWN)["rules"]) == granted(configuration_role())


def test_only_what_is_listed_is_watched() -> None:
    watched = permitted(role("ClusterRole", f"{OWN}-watch")["rules"])
    listed = {right[1:] for right in permitted(role("ClusterRole", OWN)["rules"])}
    assert {right[0] for right in watched} == {"list", "watch"}
    assert {right[1:] for right in watched} <= listed
    assert watched == granted(kueue_resource.watching_role())


def test_nothing_may_be_changed_and_no_secret_read() -> None:
    roles = objects("ClusterRole", "Role")
    rights = set().union(*(permitted(one["rules"]) for one in roles))
    assert {right[0] for right in rights} <= {"get", "list", "watch"}
    assert not {right[2] for right in rights} & {"secrets", "*"}
    assert all(right[3] for right in rights if right[0] == "get")


def test_roles_are_bound_to_accounts_that_pods_have() -> None:
    accounts = {one["metadata"]["name"] for one in objects("ServiceAccount")}
    pods = {one["metadata"]["name"]: template["spec"] for one, template in templates()}
    assert {name: spec["serviceAccountName"] for name, spec in pods.items()} == {
        name: name for name in accounts
    }
    bound: dict[str, set[str]] = {name: set() for name in accounts}
    for one in objects("ClusterRoleBinding", "RoleBinding"):
        reference = one["roleRef"]
        assert role(reference["kind"], reference["name"])["metadata"].get("namespace") == one[
            "metadata"
        ].get("namespace")
        for subject in one["subjects"]:
            assert (subject["kind"], subject["namespace"]) == ("ServiceAccount", NAME)
            bound[subject["name"]].add(f"{reference['kind']}/{reference['name']}")
    common = {f"ClusterRole/{OWN}", f"Role/{OWN}"}
    assert bound == {"audit": common, "watch": common | {f"ClusterRole/{OWN}-watch"}}


def outside(folder: Path) -> set[tuple[str, str, str]]:
    """Return what a folder of manifests has outside its own namespaces: kind, namespace, name."""
    made = yaml.safe_load((folder / "kustomization.yaml").read_text())
    files = [folder / name for name in made["resources"] if (folder / name).is_file()]
    every = [one for file in files for one in yaml.safe_load_all(file.read_text())]
    own = {one["metadata"]["name"] for one in every if one["kind"] == "Namespace"}
    places = [
        (one["kind"], one["metadata"].get("namespace", ""), one["metadata"]["name"])
        for one in every
    ]
    assert len(places) == len(set(places))
    return {place for place in places if place[1] not in own}


def test_to_take_one_folder_away_takes_nothing_of_another() -> None:
    """Nor what an administrator made by hand, as the planner's help says."""
    folders = sorted(file.parent for file in (ROOT / "deploy").rglob("kustomization.yaml"))
    assert BASE in folders
    for one, other in combinations(folders, 2):
        assert not outside(one) & outside(other)
    commands = (cluster_role(), kueue_resource.watching_role(), configuration_role())
    by_hand = {command.split()[3] for command in commands}
    assert by_hand == {NAME, f"{NAME}-watch"}
    for folder in folders:
        assert not by_hand & {name for kind, _, name in outside(folder) if kind != "Namespace"}


# Pods.


def test_pods_are_restricted() -> None:
    """The profile ``restricted`` of Kubernetes' Pod Security Standards, and a read-only root."""
    for one, template in templates():
        spec = template["spec"]
        context = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
        assert spec["securityContext"] == context, named(one)
        assert not {"hostNetwork", "hostPID", "hostIPC"} & spec.keys()
        assert [set(volume) for volume in spec["volumes"]] == [{"name", "emptyDir"}]
    for container in containers():
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["volumeMounts"] == [{"name": "tmp", "mountPath": "/tmp"}]  # noqa: S108


def test_pods_have_resources_and_a_limit_of_memory() -> None:
    for container in containers():
        resources = container["resources"]
        assert {"cpu", "memory"} <= resources["requests"].keys()
        assert "memory" in resources["limits"]


def test_selectors_find_their_pods_and_nobody_elses() -> None:
    pods = {one["metadata"]["name"]: labels(template) for one, template in templates()}
    (deployment,), (service,) = objects("Deployment"), objects("Service")
    policies = {one["metadata"]["name"]: one["spec"] for one in objects("NetworkPolicy")}
    for selector in (
        deployment["spec"]["selector"]["matchLabels"],
        service["spec"]["selector"],
        policies["metrics"]["podSelector"]["matchLabels"],
    ):
        assert [name for name, own in pods.items() if selector.items() <= own.items()] == ["watch"]
    assert labels(deployment) == pods["watch"]
    assert policies["everything"]["podSelector"] == {}


def test_ports_are_named_alike() -> None:
    (deployment,) = objects("Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    (port,) = container["ports"]
    (service,) = objects("Service")
    (served,) = service["spec"]["ports"]
    (policy,) = (one for one in objects("NetworkPolicy") if named(one).endswith("metrics"))
    ((allowed,),) = (rule["ports"] for rule in policy["spec"]["ingress"])
    probes = [container[f"{which}Probe"] for which in ("startup", "liveness", "readiness")]
    used = {probe["httpGet"]["port"] for probe in probes}
    assert used == {port["name"]} == {served["targetPort"]} == {allowed["port"]} == {"metrics"}
    assert port["containerPort"] == served["port"]
    assert f"0.0.0.0:{port['containerPort']}" in container["args"]


def test_the_network_lets_nothing_in_but_who_reads_metrics() -> None:
    policies = {one["metadata"]["name"]: one["spec"] for one in objects("NetworkPolicy")}
    assert set(policies["everything"]["policyTypes"]) == {"Ingress", "Egress"}
    assert "ingress" not in policies["everything"]
    assert policies["metrics"]["policyTypes"] == ["Ingress"]
    server, names = policies["everything"]["egress"]
    assert {port["port"] for port in server["ports"]} == {443, 6443}
    assert {(port["protocol"], port["port"]) for port in names["ports"]} == {
        ("UDP", 53),
        ("TCP", 53),
    }
    assert names["to"]


@pytest.mark.parametrize("container", [*containers()], ids=lambda one: one["args"][0])
def test_the_planner_takes_these_words(container: Object) -> None:
    name, *words = container["args"]
    command = planner.get_command(click.Context(planner), name)
    assert command is not None
    with command.make_context(name, list(words)) as context:
        assert context.params
