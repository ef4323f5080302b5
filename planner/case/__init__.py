"""One preemption decision with all it is about: made once, passed to whoever asks about it.

kueue.py          a pending workload in a state, by Kueue's own rules or others
kueue_plan.py     victim sets as plans, the tree around them, short answers in words, and the
                  remarks on every plan
kueue_release.py  what the release of Kueue leaves open, where its amounts wrap around, and whether
                  another release decides otherwise
kueue_room.py     room on the nodes in words: what each domain lacks, and who else takes it
yunikorn.py       an ask in a state, or a queue above its maximum
yunikorn_words.py why the core waits for one, what its cycles make of the decision, and why an ask
                  may not preempt
"""
