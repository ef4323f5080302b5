"""A cluster as it goes on: what its scheduler would do, and whether what it did is what it should.

record.py  what is told, line by line; the same in figures, by queue, as Prometheus reads them
kueue/     a cluster of Kueue: its state kept, judged, and compared with the replay
"""
