"""Joint plans: several pending workloads admitted together; Kueue's only.

kueue/  the question, ways to serve, the search and the answer
"""
