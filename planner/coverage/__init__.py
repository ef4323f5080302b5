"""What in a state may decide who is preempted, and is not modelled: said of every answer.

answer.py     what is exact, what is left out, what is read as evidence, and the table of it; an
              answer with what it leaves out, and the status that is left
kueue.py      what concerns a pending workload of Kueue, and what else a reader of an answer should
              know of its state
kueue_features.py
              its features; every field of the API, and which one takes it
kueue_evidence.py
              where a cluster says another thing than the planner works out
yunikorn.py   what concerns an ask of YuniKorn

Source: docs/semantics/kueue-features.md §10.
"""
