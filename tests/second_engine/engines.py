"""The engines to compare with: CP-SAT as it comes; of the research wing HiGHS and SCIP."""

from collections.abc import Mapping
from typing import Final

from tests import wings
from tests.second_engine.engine import Engine, PlainCpSat

ENGINES: Final[Mapping[str, Engine]] = {"cp-sat": PlainCpSat(), **wings.engines()}
"""By name; each on one worker, as the planner itself."""
