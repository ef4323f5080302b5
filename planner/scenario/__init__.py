"""What if the cluster were otherwise: edits of a state, and what they change.

field.py       what of an object can be set, and how a value is read
edit.py        texts such as ``clusterqueue/a.fairSharing.weight=2`` applied to a state
comparison.py  the plans before and after, side by side
"""
