"""One preemption decision with all it is about: made once, passed to whoever asks about it.

kueue.py     a pending workload in a state, by Kueue's own rules or others
yunikorn.py  an ask in a state, or a queue above its maximum
"""
