"""``planner.lint``: what a configuration makes possible, impossible or pointless.

A finding is made by two: a rule reads the configuration, and a search finds a smallest state in
which the scheduler's own algorithm, replayed, does what the rule says. Where the search finds
none, nothing is reported.

lint.py    every kind of finding: code, family, severity, title; findings as records; all rules of a
           state's scheduler, and examples as files
kueue/     the rules for Kueue
yunikorn/  the rules for YuniKorn
"""

from planner.commands.lint.lint import Lint, lint

__all__ = ["Lint", "lint"]
