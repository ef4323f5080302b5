"""What the wing of research adds to the planner."""

from __future__ import annotations

from typing import Final

from planner.wing import Wing

WING: Final = Wing()
