"""What the research wing adds to the planner."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from planner.wing import Wing

if TYPE_CHECKING:
    from planner.research.generate.generate import Generated
    from planner.research.rivals.contest import Rivalry
    from planner.research.simulate.simulate import Simulated

HELP: Final = {
    "solve": """\
  planner solve cluster.json --rules kep83:order=ByLongestRuntime+ByLowestPriority,wait=300
  planner solve cluster.json --rules strict
""",
    "check": """\
  planner check cluster.json plan.json --rules kep83 --now 2026-03-08T21:06:00Z
""",
    "algorithms": """\
  kep83               the algorithm that Kueue was proposed with in 2022, also with options
  kep83/optimum:NAME  the best plan by the rules of KEP-83, also with options
  strict              Kueue's own answer, judged by the precedence that it documents, too
  strict/optimum:NAME the best plan that this precedence leads to
""",
    "rules": """\
Rules to plan by for Kueue, instead of its own:
  kep83           Kueue as KEP-83 proposed it in 2022; kep83:NAME=VALUE,... with options, which
                  docs/how-to/kep83.md lists
  strict          only what the precedence that Kueue documents leads to

""",
}
WING: Final = Wing(
    commands={
        "Know your cluster": {
            "simulate": (
                "Simulate what happens next; find loops and storms.",
                "planner.research.cli.simulate:command",
            ),
        },
        "Research": {
            "bench": (
                "Hold rivals against proven optima on a fixed suite of states.",
                "planner.research.cli.bench:command",
            ),
            "generate": (
                "Make up clusters: seeded, consistent, of any size.",
                "planner.research.cli.generate:command",
            ),
            "import": (
                "Make states from a public trace.",
                "planner.research.cli.kueue_import:command",
            ),
        },
    },
    schemas="planner.research.schemas:SCHEMAS",
    renderers="planner.research.report.simulation:RENDERERS",
    rule_sets={
        "kep83": "planner.research.kep83.rules:KEP83",
        "strict": "planner.research.strict.rules:STRICT",
    },
    help=HELP,
)


def worlds() -> Mapping[str, Simulated[Any]]:
    """Return what is asked of each scheduler, by its id, to simulate it."""
    from planner.research.simulate import kueue_world, yunikorn_world

    return {"kueue": kueue_world, "yunikorn": yunikorn_world}


def amounts() -> Mapping[str, Callable[[int, str], str]]:
    """Return the functions that write an amount as each scheduler does, by its id."""
    from planner.quantity import format_units
    from planner.report.yunikorn.plan import yunikorn_amount

    return {"kueue": format_units, "yunikorn": yunikorn_amount}


def generators() -> Mapping[str, Generated[Any]]:
    """Return what is asked of each scheduler, by its id, to make up its clusters."""
    from planner.research.generate import yunikorn
    from planner.research.generate.kueue import objects

    return {"kueue": objects, "yunikorn": yunikorn}


def rivalries() -> Mapping[str, Rivalry[Any]]:
    """Return what rivals need to know of each scheduler, by its id."""
    from planner.research.rivals import kueue, yunikorn

    return {"kueue": kueue, "yunikorn": yunikorn}


def families() -> Mapping[str, Callable[..., dict[str, Any]]]:
    """Return states that a theorem says are hard, by the name of their family."""
    from planner.research.bench.kueue_families import FAMILIES

    return FAMILIES
