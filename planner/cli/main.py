"""The entry point of the command line, ``planner``.

A new command is a new module here with a click command named ``command``, and a line in COMMANDS.
"""

from __future__ import annotations

from typing import Final

import click

from planner.cli.exit_code import epilog
from planner.cli.group import PREFIX, PlannerGroup

COMMANDS: Final = {
    "solve": "Plan whom to evict for a pending workload, and prove it.",
    "check": "Check a plan and its proofs, without a solver.",
    "snapshot": "Write what kubectl can read of a cluster into one dump.",
    "boost": "Find the priority boosts that make Kueue carry out a plan.",
    "whatif": "Show what an edit of the state, or a new workload, changes.",
    "risk": "Count how often everything that runs would be a victim.",
    "explain": "Say why a workload must go, why another need not, or why nothing.",
    "lint": "Find ping-pong, impossible and useless preemption in a configuration.",
    "simulate": "Simulate what happens next; find loops and storms.",
    "audit": "Judge the scheduler's own answers, on one state or thousands.",
    "compare": "Compare algorithms, on one state or thousands.",
    "generate": "Make up clusters: seeded, consistent, of any size.",
    "import": "Make states of Kueue from a public trace.",
    "replay": "Compare recorded answers of the real scheduler with the planner's replay.",
    "laws": "List the rules, the disruption terms and the objectives.",
    "schema": "Print the JSON Schemas of input and output.",
}
"""The commands with their line of help, in the order of ``planner --help``."""

EPILOG: Final = """\b
Examples:
  planner snapshot -o cluster.json
  planner solve cluster.json --pending team-a/train-llm
  planner solve cluster.json --all --format json -o plans.json

Every option is an environment variable too: --time-limit is PLANNER_TIME_LIMIT or, for solve
alone, PLANNER_SOLVE_TIME_LIMIT.

\b
Completion of commands and options, for bash; zsh_source and fish_source for other shells:
  eval "$(_PLANNER_COMPLETE=bash_source planner)"

""" + epilog()


@click.group(
    cls=PlannerGroup,
    lazy=COMMANDS,
    epilog=EPILOG,
    context_settings={
        "auto_envvar_prefix": PREFIX,
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
    },
)
@click.option("--debug", is_flag=True, help="Print tracebacks of errors.")
@click.version_option(
    package_name="preemption-planner",
    message="planner %(version)s",
    allow_from_autoenv=False,  # PLANNER_VERSION may well be set, and mean something else
)
def main(*, debug: bool) -> None:
    """Plan whom Kueue or YuniKorn should preempt so that a pending workload can start.

    The planner reads what kubectl prints, works out what the scheduler itself would do, finds
    the least disruptive set of victims that the scheduler's own rules permit, proves that there
    is no better one, and shows both.
    """
    del debug  # read where errors are caught, by PlannerGroup


if __name__ == "__main__":
    main()
