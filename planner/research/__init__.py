"""The wing of research: what nobody needs to plan for a cluster of today.

wing.py      what it adds to the planner
"""
