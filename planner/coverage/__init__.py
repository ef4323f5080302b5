"""Features of a state that may decide who is preempted and are not modelled, for every answer.

answer.py     features that are exact, left out, or read as evidence; an answer with the features
              that it leaves out, and the status that remains
kueue.py      the features that concern a pending workload of Kueue, and remarks on a state for the
              reader of an answer
kueue_features.py
              the features of Kueue, to which the fields of its API belong
kueue_evidence.py
              where a cluster's own words contradict what the planner works out
kueue_absent.py
              ClusterQueues and nodes that Kueue has and a dump lacks
kueue_chance.py
              what Kueue leaves to chance: equal heads, and nodes of one hostname
yunikorn.py   the features that concern an ask of YuniKorn

Source: docs/semantics/kueue-features.md §10.
"""
