"""A reported plan by KEP-83's rules that does not say so."""

from pathlib import Path

from tests.commands.check.test_reported import accepted_where_asked

HERE = Path(__file__).parent / "reported"


def test_a_plan_by_other_rules_is_accepted_where_they_are_asked_for(tmp_path: Path) -> None:
    named = ("--now", "2026-03-08T21:06:00Z", "--rules", "kep83")
    accepted_where_asked(HERE / "silent-infeasible", named, tmp_path)
