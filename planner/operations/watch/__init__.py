"""A cluster watched: what its scheduler will do, and whether it did what it should have done.

endpoint.py  the figures over HTTP, as Prometheus reads them
record.py    the lines that a watch tells; figures made of them, by queue
kueue/       a cluster of Kueue: its state kept, judged, and compared with the replay
"""
