"""The team of CPU threads: every gang runs once, by whoever is there, and nobody is in the way."""

import ctypes
import os
import subprocess
import sys
import threading
import time

import pytest
from accopt.runtime.native.gangs import (
    BALANCE_LAUNCHES,
    COPY_BYTES,
    JOBS,
    WORTH_NS,
    GangKernel,
    gang_team,
    gangs_ir,
)
from runtime_harness import NativeCode

KERNEL = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64, ctypes.c_void_p)

# args: a table of i32 that counts how often each gang runs, and how many additions a gang makes
COUNT_IR = """
define void @count(i64 %begin, i64 %end, i64 %gangs, ptr %args) {
entry:
  %table = load ptr, ptr %args
  %steps_at = getelementptr i64, ptr %args, i64 1
  %steps = load i64, ptr %steps_at
  br label %gang
gang:
  %g = phi i64 [ %begin, %entry ], [ %next, %over ]
  %at = getelementptr i32, ptr %table, i64 %g
  br label %step
step:
  %i = phi i64 [ 0, %gang ], [ %more, %step ]
  %more = add i64 %i, 1
  %old = load volatile i32, ptr %at
  %again = icmp ult i64 %more, %steps
  br i1 %again, label %step, label %over
over:
  %new = add i32 %old, 1
  store volatile i32 %new, ptr %at
  %next = add i64 %g, 1
  %some = icmp slt i64 %next, %end
  br i1 %some, label %gang, label %done
done:
  ret void
}
"""


class Counting:
    """A native kernel that counts its gangs."""

    def __init__(self, gangs: int, threads: int, steps: int = 1):
        self.code = NativeCode(COUNT_IR)
        self.table = (ctypes.c_int32 * gangs)()
        self.args = (ctypes.c_int64 * 2)(ctypes.addressof(self.table), steps)
        self.kernel = gang_team().kernel(self.code.address("count"), threads)

    def launch(self) -> None:
        gang_team().launch(self.kernel, (len(self.table), 1, 1), ctypes.addressof(self.args))

    @property
    def expected_ns(self) -> float:
        return self.kernel.each * len(self.table) / 1024


def python_kernel(body, threads: int) -> tuple[GangKernel, object]:
    function = KERNEL(lambda begin, end, gangs, args: body(begin, end))
    return gang_team().kernel(ctypes.cast(function, ctypes.c_void_p).value or 0, threads), function


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 300])
@pytest.mark.parametrize("gangs", [1, 2, 3, 17, 256, 5000])
@pytest.mark.parametrize("steps", [1, 3000])
def test_every_gang_runs_once_per_launch(gangs: int, threads: int, steps: int):
    counting = Counting(gangs, threads, min(steps, 3_000_000 // gangs))
    for _ in range(20):
        counting.launch()
    assert list(counting.table) == [20] * gangs


def test_threads_share_the_team():
    """More threads launch than there are jobs, each many times."""
    kernels = [Counting(100, 4, 200) for _ in range(JOBS + 4)]

    def launch(counting: Counting) -> None:
        for _ in range(100):
            counting.launch()

    threads = [threading.Thread(target=launch, args=(c,)) for c in kernels]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    assert all(list(c.table) == [100] * 100 for c in kernels)


def test_launches_that_share_memory_do_not_overlap():
    running, most, lock = 0, 0, threading.Lock()

    def body(begin: int, end: int) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.001)
        with lock:
            running -= 1

    kernel, _keep = python_kernel(body, 1)
    kernel.alone = 1
    threads = [
        threading.Thread(
            target=lambda: [gang_team().launch(kernel, (2, 1, 1), 0) for _ in range(5)]
        )
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert most == 1


def test_gangs_run_at_the_same_time():
    barrier = threading.Barrier(4, timeout=20)
    kernel, _keep = python_kernel(lambda *_: barrier.wait(), 4)
    gang_team().launch(kernel, (4, 1, 1), 0)


def test_small_kernels_stay_in_their_thread_until_they_grow():
    """What a kernel takes is measured; a few launches after a slow one, it is known to be short again."""
    counting, launches = Counting(256, 4), 0
    while launches < 200 or (launches < 5000 and counting.expected_ns >= WORTH_NS):
        counting.launch()  # some are slow on a busy machine
        launches += 1
    assert 0 < counting.expected_ns < WORTH_NS
    counting.args[1] = 20_000
    counting.launch()
    assert counting.expected_ns > 50 * WORTH_NS
    assert list(counting.table) == [launches + 1] * 256


def test_grids_have_three_dimensions():
    counting = Counting(24, 2)
    gang_team().launch(counting.kernel, (2, 3, 4), ctypes.addressof(counting.args))
    gang_team().launch(counting.kernel, (0, 6, 0), ctypes.addressof(counting.args))
    assert list(counting.table) == [2] * 6 + [1] * 18


def test_large_copies():
    for size in (1, COPY_BYTES - 1, COPY_BYTES, 3 * COPY_BYTES + 12345, 64 * COPY_BYTES - 1):
        source = os.urandom(1 << 16) * (size // (1 << 16) + 1)
        target = ctypes.create_string_buffer(size + 1)
        held = ctypes.create_string_buffer(source[:size], size)
        gang_team().copy(ctypes.addressof(target), ctypes.addressof(held), size, 3)
        assert target.raw == source[:size] + b"\0"


def _run(program: str) -> subprocess.CompletedProcess[str]:
    """The program in a process of its own, with `counting` in it."""
    folder = os.path.dirname(__file__)
    start = f"import sys; sys.path.insert(0, {folder!r}); import signal\nfrom test_native_gangs import *\n"
    command = [sys.executable, "-c", start + program]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_members_sleep_when_there_is_nothing_to_do_and_take_no_signals():
    result = _run(
        """
counting = Counting(64, 5, 10)
counting.launch()
assert len(os.listdir("/proc/self/task")) == 1, "too short a launch for other threads"
counting = Counting(64, 5, 200_000)
counting.launch()
assert len(os.listdir("/proc/self/task")) == 5
time.sleep(0.3)
before = time.process_time()
time.sleep(1.0)
assert time.process_time() - before < 0.1
counting.launch()
assert list(counting.table) == [2] * 64
for task in os.listdir("/proc/self/task"):
    status = open(f"/proc/self/task/{task}/status").read().split()
    blocked = int(status[status.index("SigBlk:") + 1], 16)
    own = int(task) == os.getpid()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM, signal.SIGCHLD):
        assert bool(blocked >> (number - 1) & 1) != own
    assert not blocked >> (signal.SIGSEGV - 1) & 1
"""
    )
    assert result.returncode == 0, result.stderr


def test_launches_in_quick_succession_wake_the_team():
    """Each alone is too short to wake a member that sleeps."""
    result = _run(
        """
def others():
    tasks = [t for t in os.listdir("/proc/self/task") if int(t) != os.getpid()]
    return sum(int(open(f"/proc/self/task/{t}/schedstat").read().split()[0]) for t in tasks)
counting = Counting(64, 2, 100)
counting.launch()
while not WORTH_NS * 1.5 < counting.expected_ns < WORTH_NS * 4:
    counting.args[1] = max(1, int(counting.args[1] * WORTH_NS * 2 / counting.expected_ns))
    for _ in range(60):
        counting.launch()
for _ in range(10):
    time.sleep(0.05)
    before = others()
    for _ in range(500):
        counting.launch()
    if others() - before > 100_000:
        break
else:
    sys.exit("nobody helped")
"""
    )
    assert result.returncode == 0, result.stderr


def test_forked_processes_have_teams_of_their_own():
    """While another thread launches, so that the process is forked with launches under way."""
    result = _run(
        """
busy, stop = Counting(64, 3, 2000), False
def work():
    while not stop:
        busy.launch()
thread = threading.Thread(target=work)
thread.start()
for turn in range(30):
    counting = Counting(64, 3, 5000)
    counting.launch()
    child = os.fork()
    if child == 0:
        for _ in range(10):
            counting.launch()
        os._exit(0 if list(counting.table) == [11] * 64 else 1)
    assert os.waitpid(child, 0)[1] == 0
    counting.launch()
    assert list(counting.table) == [2] * 64
stop = True
thread.join()
"""
    )
    assert result.returncode == 0, result.stderr


def test_a_process_ends_while_members_spin():
    for _ in range(5):
        result = _run("Counting(256, 4, 20_000).launch()")
        assert (result.returncode, result.stderr) == (0, "")


def test_there_is_code_for_processors_without_an_instruction_for_spinning():
    for machine in ("aarch64", "riscv64"):
        assert "x86" not in gangs_ir(machine)


# args: how often it was called for all gangs at once, and for some
CALLS_IR = """
define void @calls(i64 %begin, i64 %end, i64 %gangs, ptr %args) {
  %length = sub i64 %end, %begin
  %some = icmp ne i64 %length, %gangs
  %kind = zext i1 %some to i64
  %at = getelementptr i64, ptr %args, i64 %kind
  %old = atomicrmw add ptr %at, i64 1 monotonic
  ret void
}
"""
TIMES = [(100_000, 10**9, True), (10**9, 1000, False)]


@pytest.mark.parametrize("by_one, by_team, whole", TIMES)
def test_a_team_that_has_been_slower_than_one_thread_is_left_alone(by_one, by_team, whole):
    code = NativeCode(CALLS_IR)
    calls = (ctypes.c_int64 * 2)()
    kernel = gang_team().kernel(code.address("calls"), 4)
    kernel.each = by_one
    # the first of the tries may only wake the members
    for compared, again in ((66, False), (128, True), (129, True), (136, True), (137, False)):
        kernel.by_one, kernel.by_team, kernel.compared = by_one, by_team, compared
        calls[0] = calls[1] = 0
        gang_team().launch(kernel, (64, 1, 1), ctypes.addressof(calls))
        if whole and not again:
            assert list(calls) == [1, 0]
        else:  # now and then the team has another try
            assert calls[0] == 0 and calls[1] > 1


def test_one_slow_launch_of_the_team_is_not_believed():
    kernel, _keep = python_kernel(lambda *_: time.sleep(0.002), 2)
    kernel.each = kernel.by_one = 10**9
    kernel.by_team = 1000
    gang_team().launch(kernel, (4, 1, 1), 0)
    assert kernel.by_team == 1250
    kernel.by_team = 10**12
    gang_team().launch(kernel, (4, 1, 1), 0)
    assert kernel.by_team < 10**11


@pytest.mark.parametrize("caller_ms, member_ms, larger", [(0.5, 2.5, True), (2.5, 0.5, False)])
def test_the_share_of_the_launching_thread_follows_its_waits(caller_ms, member_ms, larger):
    caller = threading.get_ident()
    first: list[int] = []

    def body(begin: int, end: int) -> None:
        if threading.get_ident() == caller:
            if begin == 0:
                first.append(end)
            time.sleep(caller_ms / 1000)
        else:
            time.sleep(member_ms / 1000)

    kernel, _keep = python_kernel(body, 2)
    for _ in range(20 * BALANCE_LAUNCHES):  # on a busy machine a member may come late
        if len(set(first)) > 1:
            break
        kernel.each = kernel.by_one = 10**9
        kernel.by_team = 100_000  # 64 gangs are expected to take 6 µs: each share is one piece
        gang_team().launch(kernel, (64, 1, 1), 0)
    start, changed = dict.fromkeys(first)
    assert 32 <= start <= 34
    assert (changed > start) == larger
