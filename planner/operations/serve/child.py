"""What the process that answers a request runs: the program, within bounds it sets itself first.

``python -m planner.operations.serve.child PARENT MEMORY SECONDS PROGRAM WORDS...``: ``PARENT`` is
the number of the process that started it, ``MEMORY`` bytes of address space, ``SECONDS`` of
processor time. Where the system can (Linux), it ends when its parent does, however that ends.
"""

import resource
import signal
import sys
from ctypes import CDLL
from os import getppid
from runpy import run_module
from typing import Final

DIE_WITH_PARENT: Final = 1
"""PR_SET_PDEATHSIG of prctl(2)."""

if __name__ == "__main__":
    parent, memory, seconds = map(int, sys.argv[1:4])
    program, sys.argv[1:] = sys.argv[4], sys.argv[5:]
    if sys.platform == "linux":
        CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
        if getppid() != parent:  # it ended before that
            sys.exit(1)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    run_module(program, run_name="__main__", alter_sys=True)
