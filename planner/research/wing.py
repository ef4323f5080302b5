"""What the research wing adds to the planner."""

from typing import Final

from planner.wing import Wing

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
)
