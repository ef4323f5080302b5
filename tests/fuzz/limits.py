"""Inputs in processes of their own, within bounds on memory and on processor time.

Processor time, not the clock: how busy the machine is makes no difference. A process works on
many inputs, one after the other. When it dies, the input it had is tried once more alone.
"""

import contextlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, NamedTuple, NoReturn

from click.testing import CliRunner

import planner
from planner.cli.main import main
from planner.operations.cli.kueue_plugin import PROGRAM
from tests.fuzz import kubectl
from tests.fuzz.case import PLUGIN, READ, Case
from tests.fuzz.judge import End, faults

MEMORY: Final = 3 * 2**29
"""Bytes of address space that an input may take beyond what the program takes itself."""
CPU_S: Final = 60
"""Seconds of processor time that an input may take."""
STUCK_S: Final = 1800.0
"""Seconds without a sign of life after which a process counts as stuck, whatever the load."""
BATCH: Final = 40
"""Inputs that one process works on."""


class Report(NamedTuple):
    """What came of an input."""

    number: int
    code: int | None
    faults: tuple[str, ...]
    cpu_s: float


Run = Callable[[Case], Report]


def in_processes(cases: Iterable[Case], run: Run) -> Iterator[Report]:
    """Run inputs, many in each process, and yield what came of each, in order."""
    ahead = iter(cases)
    while batch := [case for _, case in zip(range(BATCH), ahead, strict=False)]:
        while batch:
            reports, died = _in_one_process(batch, run)
            yield from reports
            batch = batch[len(reports) :]
            if died:
                first, *batch = batch
                yield _alone(first, run, died)


def _alone(case: Case, run: Run, died: str) -> Report:
    """Run an input that a process died of once more, by itself."""
    reports, again = _in_one_process([case], run)
    if again:
        return Report(case.number, None, (f"the process died: {again}",), 0.0)
    found = f"the process died: {died}; only after other inputs, not alone"
    return reports[0]._replace(faults=(*reports[0].faults, found))


def _in_one_process(batch: list[Case], run: Run) -> tuple[list[Report], str]:
    """Run inputs in one process; return what came of them, and what ended it if it died."""
    ours, theirs = Pipe(duplex=False)
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _work(batch, run, theirs)
    theirs.close()
    reports: list[Report] = []
    died = ""
    with contextlib.suppress(EOFError):
        while len(reports) < len(batch):
            if not ours.poll(STUCK_S):
                died = f"nothing for {STUCK_S:g} s"
                os.kill(pid, signal.SIGKILL)
                break
            reports.append(ours.recv())
    ours.close()
    _, status = os.waitpid(pid, 0)
    return reports, died or ("" if len(reports) == len(batch) else _cause(status))


def _cause(status: int) -> str:
    if os.WIFSIGNALED(status):
        name = signal.Signals(os.WTERMSIG(status)).name
        return f"{name}, more than {CPU_S} s of processor time" if name == "SIGXCPU" else name
    return f"exit code {os.WEXITSTATUS(status)}"


def _work(batch: list[Case], run: Run, connection: Connection) -> NoReturn:
    """Work on inputs in a process of its own, and end it."""
    code = 1
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        # Addresses are bounded, and the allocator that Arrow brings takes a GiB of them for itself.
        os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
        size = os.sysconf("SC_PAGE_SIZE") * int(Path("/proc/self/statm").read_text().split()[0])
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, resource.RLIM_INFINITY))
        warnings.simplefilter("error", RuntimeWarning)
        for case in batch:
            limit = int(_cpu_s()) + CPU_S + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, resource.RLIM_INFINITY))
            connection.send(run(case))
        code = 0
    finally:
        if code:
            traceback.print_exc()
        os._exit(code)


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def run(case: Case) -> Report:
    """Run an input in a folder that is gone afterwards, and judge how it ended."""
    before = _cpu_s()
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        case.write(folder)
        end = _ended(case, folder)
        return Report(case.number, end.code, tuple(faults(case, end, folder)), _cpu_s() - before)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _ended(case: Case, folder: Path) -> End:
    """Run an input in a folder."""
    native = folder.with_suffix(".native")
    with contextlib.chdir(folder), _descriptors(native):
        end = _read(case) if case.kind == READ else _call(case)
    said = native.read_bytes()
    native.unlink()
    return end._replace(native=said)


@contextlib.contextmanager
def _descriptors(native: Path) -> Iterator[None]:
    """Let what goes to the file descriptor of standard output go to a file."""
    saved = os.dup(1)
    target = os.open(native, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(target, 1)
    os.close(target)
    try:
        yield
    finally:
        os.dup2(saved, 1)
        os.close(saved)


def _call(case: Case) -> End:
    command = kubectl.plugin() if case.kind == PLUGIN else main
    words = list(case.words) if case.kind == PLUGIN else [case.kind, *case.words]
    environment: dict[str, str | None] = {"NO_COLOR": None, **case.environment}
    program = PROGRAM if case.kind == PLUGIN else "planner"
    result = CliRunner().invoke(
        command, words, input=case.stdin, env=environment, prog_name=program
    )
    raised = ""
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raised = "".join(traceback.format_exception(result.exception)[-4:])
    return End(result.exit_code, result.stdout_bytes, result.stderr_bytes, raised)


def _read(case: Case) -> End:
    """Read a state as a program does, and write it and read it back, as the planner itself does."""
    name = case.words[0]
    if name == "-":
        Path("state.json").write_bytes(case.stdin)
        name = "state.json"
    state: Any
    try:
        state = planner.read(name)
    except planner.PlannerError as error:
        return End(error.exit_code, b"", f"error: {error}\n".encode())
    except Exception as error:  # noqa: BLE001 - that is what is looked for
        return End(70, b"", b"", "".join(traceback.format_exception(error)[-4:]))
    again = type(state).model_validate_json(state.model_dump_json(by_alias=True))
    if again.now != state.now:
        return End(70, b"", b"", "the state is another one when it is written and read again")
    return End(0, b"", b"")
