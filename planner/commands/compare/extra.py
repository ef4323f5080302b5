"""Packages that only some outputs need: tables for pandas and Parquet, and plots."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Final

from planner.errors import InputError

EXTRA: Final = "pip install 'preemption-planner[study]'"


def need(where: str, *packages: str) -> None:
    """Refuse what cannot be done without a package, before any work is done.

    Raises
    ------
    InputError
        If one is not installed.
    """
    for package in packages:
        if find_spec(package) is None:
            raise InputError(where, f"{package} is not installed", hint=EXTRA)
