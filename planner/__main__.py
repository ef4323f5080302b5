"""``python -m planner``: the program ``planner``, where it is not on the PATH."""

from planner.cli.main import run

if __name__ == "__main__":
    run()
