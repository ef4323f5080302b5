"""The program ``planner``: what the installed script runs, and ``python -m planner``."""

import sys


def run() -> None:
    """Be the program; Ctrl-C while its modules are loaded ends it as it does later."""
    try:
        from planner.cli.main import run as program  # noqa: PLC0415 - most of the time goes there
    except KeyboardInterrupt:
        sys.exit(130)  # planner.cli.exit_code may not be loaded yet
    program()


if __name__ == "__main__":
    run()
