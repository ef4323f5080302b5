"""Many states, one row each: in parallel, within limits, on this machine or on others.

Nothing here knows what the work is. A run that is stopped, also by kill -9, goes on from its
file; whatever happened on the way, the finished file is the same, byte for byte.

pool.py     the input and output of a run: tasks, limits, rows, progress; the processes on this
            machine that do the work, watched for time, memory and death
engine.py   run: all of this together; the file: rows as they come, in the end in the order of the
            tasks
"""

from planner.batch.engine import Results, Settings, Workers, cores, run
from planner.batch.pool import Limits, Progress, Row, Task, Work

__all__ = [
    "Limits",
    "Progress",
    "Results",
    "Row",
    "Settings",
    "Task",
    "Work",
    "Workers",
    "cores",
    "run",
]
