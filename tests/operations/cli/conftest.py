"""What tests of commands share is that of the core's."""

from tests.cli.conftest import dump, trade

__all__ = ["dump", "trade"]
