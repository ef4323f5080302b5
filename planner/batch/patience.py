"""How long a cluster on which nobody works is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from planner.errors import InputError

WAIT_S: Final = 300.0
"""Seconds that a cluster may be without a scheduler or without workers, unless said."""

Notice = Callable[[str], None]


class NobodyWorksError(InputError):
    """A cluster had nobody that works for as long as the run may wait."""


class Patience:
    """Adds up the time in which nobody could work since the last row, and ends the run in time.

    That the time goes on where the scheduler or a worker comes back and dies again ends a run
    that would otherwise see them come and go for ever.

    Parameters
    ----------
    address
        The address of the cluster.
    seconds
        How long it waits; ``None`` for ever.
    notice
        Is told in a sentence, once between two rows, that nobody works and how long it waits.
    clock
        Seconds that never go back.
    """

    def __init__(
        self,
        address: str,
        seconds: float | None = WAIT_S,
        notice: Notice | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.address = address
        self._where = f"--cluster {address}"
        self._seconds = seconds
        self._notice = notice
        self._clock = clock
        self._since: float | None = None
        self._spent = 0.0
        self._told = False

    @property
    def waiting(self) -> bool:
        """Whether nobody was there at the last look."""
        return self._since is not None

    def absent(self, why: str) -> None:
        """Note that nobody can work now, and why.

        Raises
        ------
        NobodyWorksError
            If that has lasted too long.
        """
        now = self._clock()
        self._spent += 0.0 if self._since is None else now - self._since
        self._since = now
        if self._seconds is not None and self._spent >= self._seconds:
            waited = f", and the {self._seconds:g} s of waiting are over" if self._seconds else ""
            raise NobodyWorksError(self._where, f"{why}{waited}")
        if not self._told and self._notice is not None:
            bound = "" if self._seconds is None else f", at most {self._seconds:g} s"
            self._notice(f"{self._where}: {why}; waiting{bound}")
        self._told = True

    def present(self) -> None:
        """Note that somebody can work."""
        if self._since is not None:
            self._spent += self._clock() - self._since
            self._since = None

    def progress(self) -> None:
        """Note that there is a row more: whatever was waited for before counts no longer."""
        self._since, self._spent, self._told = None, 0.0, False
