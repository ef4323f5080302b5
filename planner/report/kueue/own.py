"""Every result that only Kueue has, in every format."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from planner.commands.boost.kueue.find import Boosts
from planner.commands.explain.kueue.record import PreemptionMessage
from planner.commands.replay.kueue_live import LiveReplay
from planner.plan.kueue import JointPlan
from planner.report.kueue import boost, explanation, joint, live
from planner.report.style import Renderer

_RENDERERS: Final[Mapping[type, Renderer[Any]]] = {
    Boosts: boost.render,
    JointPlan: joint.render,
    LiveReplay: live.render,
    PreemptionMessage: explanation.render_message,
}


def render_own(answer: Any, style: str, *, width: int, color: bool) -> str:  # noqa: ANN401
    """Return a result that only Kueue has, in a style."""
    return _RENDERERS[type(answer)](answer, style, width=width, color=color)
