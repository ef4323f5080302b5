"""What if the cluster were otherwise: edits of a state, and what they change.

edit.py                texts such as ``clusterqueue/a.fairSharing.weight=2`` applied to a state;
                       how one field of an object gets a new value; the plans before and after;
                       what can be set, with its present values, and what is pending
kueue_edit.py          what can be set in a state of Kueue, and its values; added nodes
yunikorn_edit.py       what can be set in a state of YuniKorn, and its values
kueue_hypothetical.py  new pending workloads of Kueue, from manifests
kueue_manifests.py     what Kueue's integrations make of each kind of object: its podsets
"""
