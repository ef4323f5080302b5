"""The program ``planner``: what the installed script runs, and ``python -m planner``."""

import os
import sys


def run() -> None:
    """Be the program; Ctrl-C while its modules are loaded ends it as it does later."""
    # Its plugins watch other people's programs; to look for them takes as long as a small plan.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    try:
        from planner.cli.main import run as program  # noqa: PLC0415 - most of the time goes there
    except KeyboardInterrupt:
        sys.exit(130)  # planner.cli.exit_code may not be loaded yet
    program()


if __name__ == "__main__":
    run()
