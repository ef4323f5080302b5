"""Explanations of Kueue's plans.

record.py   the answers as records; the text of Kueue's events and conditions, parsed
inquiry.py  a pending workload and its plan; law by law, why a workload may be taken, or may not
words.py    what the laws say of a problem and of its workloads
clash.py    the laws that leave no plan, what is short, and the smallest changes that would help
past.py     why a workload that waits was evicted before: by whom, when, by which rule
needed.py   whether its preemptor had another way, asked of the state before
nodes.py    where a topology decides: what each domain lacks, and whose eviction would open it
picture.py  the nodes around a plan, slot by slot
smallest.py the fewest workloads whose eviction gives pods a place
"""
