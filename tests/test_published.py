"""The schemas in ``instances/schema``: of all commands together, those of wings among them."""

import pytest

from planner.cli.schemas import SCHEMAS, schema_text
from tests.conftest import ROOT

FOLDER = ROOT / "instances" / "schema"


@pytest.mark.parametrize("name", SCHEMAS)
def test_schema_is_current(name: str) -> None:
    """After a change: planner schema NAME -o instances/schema/NAME.schema.json."""
    assert (FOLDER / f"{name}.schema.json").read_text("utf-8") == schema_text(name)


def test_no_file_without_a_schema() -> None:
    names = {path.name.removesuffix(".schema.json") for path in FOLDER.iterdir()}
    assert names == set(SCHEMAS)
