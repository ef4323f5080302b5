"""One plan carried out in a cluster, for one preemptor that is blocked on its gate.

kueue_record.py  the record of a run: its steps, and its outcome
kueue.py         whether a plan can be carried out, with what commands, and the carrying out
"""
