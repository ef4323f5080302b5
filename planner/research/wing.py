"""What the research wing adds to the planner."""

from typing import Final

from planner.wing import Wing

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
\b
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
    parts={
        "kueue": {
            "families": "planner.research.bench.kueue_families:FAMILIES",
            "rivals": "planner.research.rivals.kueue",
            "simulation": "planner.research.simulate.kueue_world",
            "generation": "planner.research.generate.kueue.objects",
        },
        "yunikorn": {
            "rivals": "planner.research.rivals.yunikorn",
            "simulation": "planner.research.simulate.yunikorn_world",
            "generation": "planner.research.generate.yunikorn",
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
