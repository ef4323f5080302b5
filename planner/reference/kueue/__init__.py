"""Kueue's own algorithm, replayed step by step.

eligibility.py   may this podset run on this flavor's nodes, which of two flavors Kueue prefers, and
                 why an assignment does not fit, in Kueue's words
assignment.py    flavor assignment of all podsets
topology/        placement of pods on nodes, where a flavor has a topology
permitted.py     every assignment that the rules permit, whichever Kueue would choose
context.py       the context of a search, its result, and the fill-back at its end
chance.py        what Kueue leaves to chance, and where it crashes instead of deciding
classical.py     the candidates, in Kueue's order; the preemption search without fair sharing
fair_sharing.py  the search with fair sharing, and the choice that the configuration makes
decision.py      assignment, search and partial admission: what Kueue decides
aftermath.py     the state after a plan, and whom each of its victims would then preempt
persistence.py   which victims would preempt whoever else goes, unless they fit at once
cycle/           one whole scheduling cycle, with many pending workloads
"""
