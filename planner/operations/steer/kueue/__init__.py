"""Kueue evicts the victims of plans: gates say when it preempts, priority boosts whom it chooses.

marks.py    what is written on Workloads: a gate, boosts with a note that they are ours
decide.py   the next thing to do in a cohort tree, from the tree as it is now
propose.py  the plan for one preemptor, the boosts for it, and the replay of Kueue's decision
mirror.py   the state of a cluster kept up to date, and what of it is ours
carry.py    changes carried out over one connection, and the Lease of who may
loop.py     the loop, and the release of all that is ours
setup.py    what a cluster has to have, what is missing in one, and the manifests

Source: docs/design/steering.md: what was measured on a live Kueue.
"""
