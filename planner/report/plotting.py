"""How drawings look, and how they become files: the same drawing is the same, byte for byte.

Colours are those of Okabe and Ito, which colour-blind people can tell apart.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from planner.report.text import clean

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BLUE: Final = "#0072B2"
GREY: Final = "#6E6E6E"
RED: Final = "#D55E00"
YELLOW: Final = "#E69F00"

LONGEST_NAME: Final = 40
"""Characters of a name that are drawn."""

_STYLE: Final[Mapping[str, Any]] = {
    "axes.edgecolor": "#8A8A8A",
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "figure.dpi": 120,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "grid.color": "#E3E3E3",
    "legend.frameon": False,
    "savefig.dpi": 150,
    "svg.fonttype": "path",
    "svg.hashsalt": "preemption-planner",  # ids of an SVG are random without it
    "text.parse_math": False,  # a name may hold dollars
}
_METADATA: Final[Mapping[str, Mapping[str, None]]] = {
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
}


def drawn_name(text: str) -> str:
    """Return a name made harmless, and cut where it is too long to be drawn."""
    text = clean(text)
    return text if len(text) <= LONGEST_NAME else text[: LONGEST_NAME - 1] + "…"


@contextmanager
def look() -> Iterator[None]:
    """Draw in the style of all drawings; matplotlib must be installed."""
    from matplotlib import rc_context  # noqa: PLC0415 - an extra

    style: Any = _STYLE
    with rc_context(style), warnings.catch_warnings():
        # Letters that the font does not have are drawn as boxes.
        warnings.filterwarnings("ignore", "Glyph .* missing from", UserWarning)
        yield


def file_of(figure: Figure, style: str) -> bytes:
    """Return a drawing as a file of style ``svg`` or ``png``: of the same drawing the same bytes.

    The layout comes out of a solver whose last digits differ from run to run; so it is rounded.
    """
    figure.draw_without_rendering()
    figure.set_layout_engine("none")
    for axes in figure.axes:
        left, bottom, width, height = (round(part, 4) for part in axes.get_position().bounds)
        axes.set_position((left, bottom, width, height))
    file = io.BytesIO()
    figure.savefig(file, format=style, metadata=dict(_METADATA[style]))
    return file.getvalue()
