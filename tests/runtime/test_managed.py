"""`-gpu=managed`: pointers mean the same in kernels, wherever they are stored."""

from __future__ import annotations

import ctypes
import mmap
import random
from ctypes import c_size_t, c_void_p
from pathlib import Path

import pytest
from accopt.compiler import api
from accopt.compiler.base.diagnostics import DiagnosticSink
from accopt.compiler.base.options import CompileOptions
from accopt.compiler.executable import build
from accopt.runtime.cuda.device import CudaDevice
from accopt.runtime.host.device import HostOptions, host_devices
from accopt.runtime.native.shared_heap import SharedHeap
from fake_cuda import FakeCuda, Names
from tools import commands

_ROOM = 24 << 20

_LIST = """
#include <stdlib.h>
struct node { int value; struct node *next; };
int main(void)
{
    int n = 50, sum = 0;
    double **rows = malloc(n * sizeof *rows);
    struct node *head = 0;
    for (int i = 0; i < n; i++) {
        struct node *fresh = malloc(sizeof *fresh);
        rows[i] = malloc(3 * sizeof(double));
        fresh->value = i;
        fresh->next = head;
        head = fresh;
    }
#pragma acc parallel loop reduction(+:sum)
    for (int i = 0; i < n; i++) {
        rows[i][1] = i;
        for (struct node *p = head; p; p = p->next)
            sum += p->value;
    }
    return sum == n * n * (n - 1) / 2 && rows[7][1] == 7 ? 0 : 1;
}
"""


def test_linked_lists_and_rows(tmp_path: Path) -> None:
    source = tmp_path / "list.c"
    source.write_text(_LIST)
    command = ["accrun", "--target=host"]
    assert commands.run([*command, "-gpu=managed", source]).returncode == 0


_SHARED_HEAP = """
#include <stdlib.h>
#include <string.h>
struct node { int value; struct node *next; };
struct box { int n; double *x; };
int main(void)
{
    int n = 50, sum = 0, bad = 0;
    double **rows = malloc(n * sizeof *rows);
    struct node *head = 0;
    for (int i = 0; i < n; i++) {
        struct node *fresh = malloc(sizeof *fresh);
        rows[i] = malloc(3 * sizeof(double));
        fresh->value = i; fresh->next = head; head = fresh;
    }
#pragma acc parallel loop reduction(+:sum)
    for (int i = 0; i < n; i++) {
        rows[i][1] = i;
        for (struct node *p = head; p; p = p->next) sum += p->value;
    }
    bad += !(sum == n * n * (n - 1) / 2 && rows[7][1] == 7);
    double *big = calloc(300000, sizeof *big);
    #pragma acc enter data copyin(big[0:300000])
#pragma acc parallel loop
    for (int i = 0; i < 300000; i++) big[i] += i;
    bad += big[299999] != 299999; big[5] = 1;
    #pragma acc update device(big[0:300000])
#pragma acc parallel loop present(big[0:300000])
    for (int i = 0; i < 300000; i++) big[i] += i;
    #pragma acc update self(big[0:10])
    bad += big[5] != 6;
    #pragma acc exit data delete(big[0:300000])
    #pragma acc exit data delete(big[0:300000])
#pragma acc parallel loop
    for (int i = 0; i < 300000; i++) big[i] += i;
    bad += big[5] != 11;
    struct box b = {10, malloc(80)};
#pragma acc parallel loop copyin(b)
    for (int i = 0; i < 10; i++) b.x[i] = i;
    bad += b.x[9] != 9;
    int stack[10];
#pragma acc parallel loop
    for (int i = 0; i < 10; i++) stack[i] = i;
    bad += stack[9] != 9;
    char *s = strdup("hello"); s = realloc(s, 100); free(s);
    void *m; posix_memalign(&m, 4096, 100); bad += (unsigned long)m % 4096 != 0; free(m);
    big = realloc(big, 4000000); bad += big[5] != 11;
#pragma acc parallel loop async(1)
    for (int i = 0; i < 500000; i++) big[i] = 3;
#pragma acc wait
    bad += big[499999] != 3; free(big);
    return bad; }
"""


def test_heap_that_gpus_share(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A device with memory of its own, and a heap that it uses at the host's addresses."""
    source = tmp_path / "heap.c"
    source.write_text(_SHARED_HEAP)
    memory = mmap.mmap(-1, _ROOM)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    monkeypatch.setattr(api.Program, "_common_memory", lambda _: (base, _ROOM))
    monkeypatch.setattr(api, "open_devices", lambda *_: host_devices(HostOptions(), 1))
    options = CompileOptions(target="host", managed=True)
    program = api.compile_files([source], options, api.RunOptions(shared_memory=True))
    assert program.main(["heap"]) == 0


@pytest.mark.gpu
@pytest.mark.parametrize("text", [_LIST, _SHARED_HEAP])
def test_on_a_gpu(tmp_path: Path, text: str) -> None:
    source = tmp_path / "managed.c"
    source.write_text(text)
    command = ["accrun", "--target=nvptx"]
    run = commands.run([*command, "-gpu=managed", source])
    assert (run.returncode, run.stderr) == (0, "")


def test_gpus_give_what_they_have_free() -> None:
    device = FakeCuda(1).provider().open(0)
    assert isinstance(device, CudaDevice)
    asked: list[int] = []
    driver = device.driver.api
    driver.CUmemAttach_flags = Names()
    driver.cuMemGetInfo = lambda: (0, 10 << 21, 20 << 21)
    driver.cuMemAllocManaged = lambda size, _: (asked.append(size), (0, 0x1000))[1]
    for there, expected in ((0, None), (1, (0x1000, 9 << 21))):
        driver.cuDeviceGetAttribute = lambda *_, there=there: (0, there)
        assert device.managed_memory(1 << 40) == expected
    assert device.managed_memory(3 << 20) == (0x1000, 1 << 21)
    assert asked == [9 << 21, 1 << 21]


_FUNCTIONS = {
    "malloc": (c_void_p, c_size_t),
    "calloc": (c_void_p, c_size_t, c_size_t),
    "realloc": (c_void_p, c_void_p, c_size_t),
    "aligned_alloc": (c_void_p, c_size_t, c_size_t),
    "malloc_usable_size": (c_size_t, c_void_p),
    "free": (None, c_void_p),
}


def test_blocks_keep_what_is_in_them() -> None:
    memory = mmap.mmap(-1, _ROOM)
    heap = SharedHeap(ctypes.addressof(ctypes.c_char.from_buffer(memory)), _ROOM)
    call = {n: ctypes.CFUNCTYPE(*types)(heap.functions[n]) for n, types in _FUNCTIONS.items()}
    chance = random.Random(1)
    live: dict[int, tuple[int, int]] = {}
    outside = 0
    for step in range(6000):
        if len(live) < 150 and (step % 2 or not live):
            size = chance.choice((0, 1, 16, 17, 1000, 70_000, chance.randrange(3 << 20)))
            form = chance.randrange(3)
            if form == 0:
                at = call["malloc"](size)
            elif form == 1:
                at = call["calloc"](size, 1)
                assert ctypes.string_at(at, size) == bytes(size)
            else:
                alignment = 1 << chance.randrange(4, 13)
                at = call["aligned_alloc"](alignment, size)
                assert at % alignment == 0
            outside += not heap.base <= at < heap.base + heap.size
        else:
            old = chance.choice(list(live))
            size, byte = live.pop(old)
            assert ctypes.string_at(old, size) == bytes([byte]) * size
            if chance.random() < 0.7:
                call["free"](old)
                continue
            kept = min(size, size := chance.choice((1, 100, 2 * size + 1, size // 2 + 1)))
            at = call["realloc"](old, size)
            assert ctypes.string_at(at, kept) == bytes([byte]) * kept
        assert call["malloc_usable_size"](at) >= size
        assert at not in live
        live[at] = (size, byte := chance.randrange(256))
        ctypes.memset(at, byte, size)
    assert 0 < outside < 3000, "the heap was full at times"


def test_the_simulator_says_that_clauses_decide(tmp_path: Path) -> None:
    source = tmp_path / "list.c"
    source.write_text(_LIST)
    sink = DiagnosticSink()
    build([source], CompileOptions(target="sim", managed=True), sink)
    assert "data clauses decide" in sink.diagnostics[0].message
