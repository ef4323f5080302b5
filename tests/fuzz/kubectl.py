"""A program in place of kubectl, for the commands that ask a cluster."""

from typing import Any, Final

import click

from planner.operations.cli.kueue_plugin import build
from tests.fuzz import hostile, octets, structure
from tests.fuzz.scene import Scene
from tests.stand_in import RESOURCES

PLUGIN: Final = "kubectl preemption-plan"
PROGRAM: Final = """#!/bin/sh
cd "${0%/*}" || exit 3
[ -f "$2.said" ] && /bin/cat "$2.said" >&2
[ -f "$2" ] && { /bin/cat "$2"; exit 0; }
[ -f "$2.code" ] && exit "$(/bin/cat "$2.code")"
echo '{"kind": "List", "apiVersion": "v1", "items": []}'
"""
SAID: Final = (
    'Error from server (NotFound): configmaps "x" not found',
    'error: the server doesn\'t have a resource type "cohorts"',
    "Error from server (Forbidden): workloads is forbidden: User cannot list resource",
    "Unable to connect to the server: dial tcp: lookup x: no such host",
    "error: You must be logged in to the server (Unauthorized)",
)


def plugin() -> click.Command:
    """Return the command that kubectl runs as its plugin."""
    return build()


def serve(scene: Scene) -> dict[str, str]:
    """Let kubectl answer with the objects of the state; return the environment for it."""
    chance = scene.chance
    value = scene.seed.parts[0][1]
    served: dict[str, list[Any]] = {}
    for container, key in structure.objects([value]):
        item = container[key]
        if item["kind"] in RESOURCES:
            served.setdefault(RESOURCES[item["kind"]], []).append(item)
    hit = chance.choice(sorted(served) or [""])
    for resource, items in sorted(served.items()):
        whole: Any = {"kind": "List", "apiVersion": "v1", "items": items}
        if resource in {"configmaps", "deployments.apps"}:
            whole = items[0]
        data = octets.as_json(whole)
        if resource == hit and scene.odd("structure"):
            data = octets.as_json(structure.damage(whole, chance))
        if resource == hit and scene.odd("bytes"):
            data = octets.damage(data, chance, scene.other())
        scene.put(f"bin/{resource}", data)
    if scene.odd("side") and chance.random() < 0.4:
        resource = chance.choice(sorted(RESOURCES.values()))
        scene.files.pop(f"bin/{resource}", None)
        said = chance.choice((*SAID, hostile.text(chance)))
        scene.put(f"bin/{resource}.said", said.encode("utf-8", "surrogatepass"))
        scene.put(f"bin/{resource}.code", chance.choice((b"1", b"255", b"137", b"0")))
    scene.put("bin/kubectl", PROGRAM.encode())
    scene.programs.append("bin/kubectl")
    scene.folders.append("bin")
    return {"PATH": "bin" if chance.random() < 0.97 else ""}
