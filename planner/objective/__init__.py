"""What disruption means: named integer terms with units, and profiles that order them.

annotation.py  what administrators tell about a workload: tier, checkpoint, restart time
terms.py       the terms, per workload and for a whole plan
profiles.py    profiles as data: caps, then lexicographic levels
"""
