"""Kueue's own algorithm, replayed step by step.

eligibility.py   may this podset run on this flavor's nodes?
preference.py    which of two flavors Kueue prefers, and when its walk stops
no_fit.py        why an assignment does not fit, in Kueue's words
assignment.py    flavor assignment of all podsets
assigned.py      an assignment with what else is known of it
topology/        placement of pods on nodes, where a flavor has a topology
permitted.py     every assignment that the rules permit, whichever Kueue would choose
context.py       what every step of a search looks at
chance.py        what Kueue leaves to chance
candidates.py    who may be preempted, in Kueue's order
target.py        what a search finds, and the fill-back at its end
classical.py     the preemption search without fair sharing
crash.py         where Kueue crashes instead of deciding
queue_order.py   which queue fair sharing looks at next
fair_sharing.py  the preemption search with fair sharing
search.py        the search that the configuration selects
decision.py      assignment, search and partial admission: what Kueue decides
cycle/           one whole scheduling cycle, with many pending workloads
"""
