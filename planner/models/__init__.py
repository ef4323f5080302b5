"""Stand-in for source checkouts; the real package is the top-level ``models/`` folder."""

from pathlib import Path

__path__ = [str(Path(__file__).resolve().parents[2] / "models")]
