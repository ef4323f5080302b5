"""Equal values become one object: most workloads of a dump are of a few shapes."""

from __future__ import annotations

import marshal
from typing import Any, Final

from pydantic import ValidatorFunctionWrapHandler, WrapValidator

from planner.state.base import Schema, forget_what_was_said

_BY_VALUE: Final = 2
"""The version of marshal in which equal values have equal bytes: later ones note shared parts."""
_LONGEST: Final = 4096
_MOST: Final = 4 * 2**20
"""Bytes of what was read that are remembered; then everything is forgotten."""


def shared() -> WrapValidator:
    """Return what makes equal values of a field one object, and spares reading them again.

    The field holds an object of the schema or a tuple of them.
    """
    known: dict[bytes, Any] = {}
    length = 0

    def read(value: Any, handler: ValidatorFunctionWrapHandler) -> Any:  # noqa: ANN401 - any JSON
        nonlocal length
        try:
            text = marshal.dumps(value, _BY_VALUE)
        except ValueError:  # not JSON: an object that was read before
            return handler(value)
        found = known.get(text)
        if found is not None:
            return found
        found = handler(value)
        forget_what_was_said(*((found,) if isinstance(found, Schema) else found or ()))
        if len(text) <= _LONGEST:
            if length + len(text) > _MOST:
                known.clear()
                length = 0
            known[text] = found
            length += len(text)
        return found

    return WrapValidator(read)
