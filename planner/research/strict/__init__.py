"""Kueue's documented precedence as a rule set that is added to its own.

rules.py      the record of the rule set
laws.py       ST-01 to ST-05
reference.py  which steps of Kueue's own algorithm keep them
verifier.py   searches over orders of removals, and a check for each law
planning.py   a pending workload being planned with it
"""
