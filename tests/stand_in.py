"""A program named kubectl that serves a recorded dump, and fails as the real one does.

The texts of its failures are those of kubectl 1.32 against a cluster and without one.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from tests.conftest import FOR_EVER_S

Object = dict[str, Any]

SCRIPT = """#!/bin/sh
folder=${{0%/*}}
IFS='{apart}'
printf '%s\\n' "$*" >>"$folder/calls"
if [ "$3 $4" = "--all-namespaces --output=json" ] && [ -f "$folder/whole/$2" ]; then
    exec {cat} "$folder/whole/$2"
fi
if [ "$4 $5 $#" = "--output=json -- 6" ] && [ -f "$folder/whole/$2 $3 $6" ]; then
    exec {cat} "$folder/whole/$2 $3 $6"
fi
exec {python} -ES "$folder/program.py" "$@"
"""
"""Notes the call, and prints all that there is, or one: a Python for each takes much longer."""

APART = "\x1f"
"""Stands between the words of a call."""

PROGRAM = r"""
import json, os, pathlib, subprocess, sys, time

folder = pathlib.Path(__file__).resolve().parent
words = sys.argv[1:]
answer = json.loads((folder / "answers.json").read_text()).get(words[1], {})
def left(*pids):
    (folder / "some pids").write_text(json.dumps(pids))
    (folder / "some pids").rename(folder / "pids")  # who finds the file finds it whole

if "sleeps" in answer:
    child = subprocess.Popen([sys.executable, "-ES", "-c", "import time; time.sleep(3600)"])
    left(os.getpid(), child.pid)
awaited = answer.get("awaits", 0)
while not (folder / awaited).exists() if isinstance(awaited, str) else (
    awaited > len((folder / "calls").read_text().split("\n")) - 1
):
    time.sleep(0.01)
sys.stderr.write(answer.get("said", ""))
sys.stderr.flush()
if "sleeps" in answer:
    time.sleep(3600)
if "floods" in answer:
    try:
        while True:
            os.write(answer["floods"], b" " * 65536)
    except OSError:
        sys.exit(141)
if "leaves" in answer:  # a child that outlives kubectl and holds on to standard error
    child = subprocess.Popen(
        [sys.executable, "-ES", "-c", "import time; time.sleep(3600)"], stdout=subprocess.DEVNULL
    )
    left(child.pid)
if "killed" in answer:
    os.kill(os.getpid(), answer["killed"])
if "prints" in answer or answer.get("code"):
    sys.stdout.write(answer.get("prints", ""))
    sys.exit(answer.get("code", 0))
objects = json.loads((folder / "objects.json").read_text()).get(words[1], [])
options = dict(word[2:].split("=", 1) for word in words if word.startswith("--") and "=" in word)
if "namespace" in options:
    objects = [o for o in objects if o["metadata"].get("namespace") == options["namespace"]]
names = [word for word in words[2:] if not word.startswith("--")]
if names:
    named = [o for o in objects if o["metadata"]["name"] == names[0]]
    if not named:
        sys.exit('Error from server (NotFound): %s "%s" not found' % (words[1], names[0]))
    print(json.dumps(named[0], indent=4))
else:
    metadata = {"resourceVersion": ""}
    whole = {"apiVersion": "v1", "items": objects, "kind": "List", "metadata": metadata}
    print(json.dumps(whole, indent=4))
"""

RESOURCES = {
    "Workload": "workloads.kueue.x-k8s.io",
    "LocalQueue": "localqueues.kueue.x-k8s.io",
    "ClusterQueue": "clusterqueues.kueue.x-k8s.io",
    "Cohort": "cohorts.kueue.x-k8s.io",
    "ResourceFlavor": "resourceflavors.kueue.x-k8s.io",
    "WorkloadPriorityClass": "workloadpriorityclasses.kueue.x-k8s.io",
    "AdmissionCheck": "admissionchecks.kueue.x-k8s.io",
    "PriorityClass": "priorityclasses.scheduling.k8s.io",
    "RuntimeClass": "runtimeclasses.node.k8s.io",
    "Namespace": "namespaces",
    "LimitRange": "limitranges",
    "PodDisruptionBudget": "poddisruptionbudgets.policy",
    "DeviceClass": "deviceclasses.resource.k8s.io",
    "ResourceClaimTemplate": "resourceclaimtemplates.resource.k8s.io",
    "ResourceSlice": "resourceslices.resource.k8s.io",
    "Topology": "topologies.kueue.x-k8s.io",
    "Node": "nodes",
    "Pod": "pods",
    "ConfigMap": "configmaps",
    "Deployment": "deployments.apps",
}
"""What the API server calls the kinds (kueue ff69552e, config/components/crd/bases; the
Kubernetes API reference)."""

CONFIGURATION: Object = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"namespace": "kueue-system", "name": "kueue-manager-config"},
    "data": {
        "controller_manager_config.yaml": "apiVersion: config.kueue.x-k8s.io/v1beta2\n"
        "kind: Configuration\n"
    },
}
MANAGER: Object = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "kueue-controller-manager", "namespace": "kueue-system"},
    "spec": {"template": {"spec": {"containers": [{"image": "registry.example.com/kueue:ours"}]}}},
}


class StandIn(NamedTuple):
    """The folder of the program, to be put on PATH."""

    folder: Path

    @classmethod
    def make(cls, folder: Path, objects: Iterable[Object] = ()) -> StandIn:
        """Write the program, which serves the objects and Kueue's Configuration at its defaults.

        It also serves the Deployment of a manager that tells no release. A ConfigMap or a
        Deployment among the objects takes the place of these.
        """
        folder.mkdir()
        (folder / "program.py").write_text(PROGRAM, encoding="utf-8")
        script, cat = folder / "kubectl", shutil.which("cat", path=os.defpath)
        script.write_text(
            SCRIPT.format(apart=APART, cat=cat, python=sys.executable), encoding="utf-8"
        )
        script.chmod(0o755)
        served: dict[str, list[Object]] = {}
        for item in objects:
            served.setdefault(RESOURCES[item["kind"]], []).append(item)
        served.setdefault("configmaps", [CONFIGURATION])
        served.setdefault("deployments.apps", [MANAGER])
        (folder / "objects.json").write_text(json.dumps(served), encoding="utf-8")
        (folder / "answers.json").write_text("{}", encoding="utf-8")
        (folder / "whole").mkdir()
        for resource in RESOURCES.values():
            whole = {"items": served.get(resource, []), "metadata": {"resourceVersion": ""}}
            text = json.dumps({"apiVersion": "v1", "kind": "List", **whole}, indent=4)
            (folder / "whole" / resource).write_text(f"{text}\n", encoding="utf-8")
        for resource in ("configmaps", "deployments.apps"):
            for item in served[resource]:
                place = "--namespace={namespace} {name}".format_map(item["metadata"])
                text = json.dumps(item, indent=4)
                (folder / "whole" / f"{resource} {place}").write_text(f"{text}\n", "utf-8")
        return cls(folder)

    def answer(self, resource: str, **how: Any) -> None:
        """Let it answer otherwise when it is asked for a resource.

        ``prints`` and ``said`` are its standard output and error, ``code`` its exit code;
        ``awaits`` is how many calls must have begun before it answers, or which file be there;
        ``sleeps`` lets it start a child, say what it has to and do nothing for long, ``leaves``
        leave one behind; ``floods`` lets it write to a file descriptor without end; ``killed``
        is a signal.
        """
        path = self.folder / "answers.json"
        answers = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**answers, resource: how}), encoding="utf-8")
        for whole in (self.folder / "whole").iterdir():
            if whole.name.partition(" ")[0] == resource:
                whole.unlink()

    def calls(self) -> list[list[str]]:
        """Return the words of each call, in order."""
        path = self.folder / "calls"
        if not path.exists():
            return []
        return [line.split(APART) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]

    def pids(self) -> list[int]:
        """Return the processes that it left or that slept, by id."""
        found: list[int] = json.loads((self.folder / "pids").read_text(encoding="utf-8"))
        return found


def forbidden(resource: str) -> str:
    """Return what kubectl says when a list of Kueue's objects is forbidden."""
    name, _, group = resource.partition(".")
    return (
        f'Error from server (Forbidden): {resource} is forbidden: User "ada" cannot list '
        f'resource "{name}" in API group "{group}" at the cluster scope\n'
    )


def no_such_type(resource: str) -> str:
    """Return what kubectl says when the cluster has no such resource type."""
    name = resource.partition(".")[0]
    return f'error: the server doesn\'t have a resource type "{name}"\n'


REFUSED = (
    'E1121 08:13:39.604803    7799 memcache.go:265] "Unhandled Error" err="couldn\'t get '
    'current server API group list: Get \\"http://localhost:8080/api?timeout=32s\\": dial tcp '
    '127.0.0.1:8080: connect: connection refused"\n'
    "The connection to the server localhost:8080 was refused - did you specify the right host or "
    "port?\n"
)


def is_running(pid: int) -> bool:
    """Say whether a process is there and has not ended."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


def dies(pid: int) -> bool:
    """Wait a while for a process to end, and say whether it did."""
    end = time.monotonic() + FOR_EVER_S
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.01)
    return not is_running(pid)
