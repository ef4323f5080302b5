"""What the tests of the wing share with those of the command line."""

from tests.cli.conftest import dump, trade

__all__ = ["dump", "trade"]
