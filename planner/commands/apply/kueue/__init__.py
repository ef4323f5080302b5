"""Plans carried out where Kueue runs.

cluster.py  single objects, as they are now, and the calls that change them; what is done to
            victims: a condition that says that they are evicted, or boosts
carry.py    whether the cluster is still the one that was planned for; the order of it all: hold,
            change, lift, wait; and how it is taken back; its commands at the end of a plan

Source: docs/design/applying.md §3: what was tried on a live Kueue, and what of it works.
"""
