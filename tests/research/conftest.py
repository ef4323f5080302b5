"""What the tests of the wing share with those of the command line."""

from tests.cli.conftest import dump

__all__ = ["dump"]
