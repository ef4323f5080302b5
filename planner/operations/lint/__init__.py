"""``planner.lint``: what a configuration makes possible, impossible or pointless.

A finding takes a rule and a search: the rule reads the configuration, and the search finds a
smallest state in which the scheduler's own algorithm, replayed, does what the rule says. Where the
search finds no such state, nothing is reported.

lint.py     findings as records; all rules of a state's scheduler; what is ignored; example files
kinds.toml  every kind of finding: its code, and all words about it
positions.py  where objects stand: file and line
kueue/      the rules for Kueue
yunikorn/   the rules for YuniKorn
"""

from planner.operations.lint.lint import Lint, lint

__all__ = ["Lint", "lint"]
