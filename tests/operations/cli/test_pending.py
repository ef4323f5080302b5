"""``planner pending`` lists who waits."""

from tests.cli.running import call
from tests.conftest import QUICKSTART


def test_who_waits_is_listed() -> None:
    found = call("pending", str(QUICKSTART), "--format", "plain")
    assert found.exit_code == 0
    _, line = found.stdout.splitlines()
    assert line.split()[:2] == ["pending", "nlp/jobset-train-translator-8974c"]
    assert line.endswith("queue=nlp priority=1000")
