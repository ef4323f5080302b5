"""A run of numbers as a program, which loads nothing that tests alone need."""

import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from planner.batch import Progress, Settings, Task, run
from tests.batch.work import slowly

HEADER = {"schema": "planner/v1", "kind": "test", "run": {"of": "numbers", "seed": 7}}


def numbers(count: int = 60) -> Iterator[Task]:
    return (Task(f"n:{number}", number) for number in range(count))


def main() -> None:
    """Run as a program."""
    file = Path(sys.argv[1])
    count, jobs, most = map(int, sys.argv[2:])
    made = 0

    def watch(progress: Progress) -> None:
        nonlocal made
        made += 1
        if made >= most and progress.done < count:
            signal.pause()

    try:
        run(
            numbers(count),
            slowly,
            Settings(file=file, resume=True, jobs=jobs, watch=watch),
            header=HEADER,
        )
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
