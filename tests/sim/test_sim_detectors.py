"""Every detector finds its fault, names its line, and is silent on the same program without it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from accopt.compiler.api import Program
from accopt.runtime.errors import AccRuntimeError
from accopt.runtime.sim.findings import FaultKind
from accopt.runtime.sim.patience import Patience
from sim_kernels import TID, Bench, at, shared
from sim_programs import call, from_text
from tools import commands

N = 1000


def floats(n: int = N) -> np.ndarray:
    return np.arange(n, dtype=np.float32)


def faults(program: Program) -> set[tuple[FaultKind, int, str]]:
    return {(f.fault, f.line, f.array) for f in program.simulator.findings}


# Programs in C: fault and repair differ in one place


def simple(body: str, clauses: str = "copyin(a[0:n]) copy(b[0:n])") -> str:
    return f"""void f(int n, float *a, float *b)
{{
#pragma acc parallel loop {clauses}
  for (int i = 0; i < n; i++)
    {body}
}}
"""


RACES = {
    "shift to the left": ("b[i] = b[(i + 1) % n] + a[i];", "b[i] = a[(i + 1) % n] + a[i];"),
    "a sum without reduction": ("b[i / 300] += a[i];", "b[i] += a[i];"),
    "writes of different values": ("b[i / 2] = a[i];", "b[i] = a[i];"),
    "reads of another gang's writes": (
        "{ b[i] = a[i]; if (i > 500) b[i] += b[i - 500]; }",
        "{ b[i] = a[i]; if (i > 500) b[i] += a[i - 500]; }",
    ),
    "plain access beside an atomic": (
        '{ _Pragma("acc atomic update") b[0] += a[i]; if (i == 77) b[0] = 5; }',
        '{ _Pragma("acc atomic update") b[0] += a[i]; if (i == 77) b[1] = 5; }',
    ),
}


@pytest.mark.parametrize("name", RACES)
def test_races_in_global_memory(name: str, tmp_path: Path) -> None:
    faulty, right = RACES[name]
    program = from_text(tmp_path, simple(faulty))
    call(program, "f", N, floats(), floats())
    assert (FaultKind.RACE, 5, "b") in faults(program)
    program = from_text(tmp_path, simple(right))
    call(program, "f", N, floats(), floats())
    assert faults(program) == set()


@pytest.mark.parametrize("type_", ["char", "short"])
def test_neighbours_in_one_word_do_not_race(type_: str, tmp_path: Path) -> None:
    text = simple("b[i % 250 * 4 + i / 250] = a[i];").replace("float", type_)
    program = from_text(tmp_path, text)
    width = np.int8 if type_ == "char" else np.int16
    call(program, "f", N, np.arange(N).astype(width), np.zeros(N, width))
    assert faults(program) == set()


@pytest.mark.parametrize("type_", ["char", "short"])
@pytest.mark.parametrize("name", [n for n in RACES if "atomic" not in n])
def test_races_of_narrow_elements(name: str, type_: str, tmp_path: Path) -> None:
    width = np.int8 if type_ == "char" else np.int16
    faulty, right = (text.replace("float", type_) for text in map(simple, RACES[name]))
    program = from_text(tmp_path, faulty)
    call(program, "f", N, np.arange(N).astype(width), np.arange(N).astype(width))
    assert (FaultKind.RACE, 5, "b") in faults(program)
    program = from_text(tmp_path, right)
    call(program, "f", N, np.arange(N).astype(width), np.arange(N).astype(width))
    assert faults(program) == set()


MIXED = {
    "bytes read after a word was written": (
        "{ b[i] = a[i]; if (i > 500) c[i] = ((char *)b)[4 * i - 1997]; }",
        "{ b[i] = a[i]; if (i > 500) c[i] = ((char *)b)[4 * i + 3]; }",
    ),
    "a word read after bytes were written": (
        "{ ((short *)b)[2 * i] = i + 1; if (i > 500) c[i] = b[i - 500]; }",
        "{ ((short *)b)[2 * i] = i + 1; if (i > 500) c[i] = b[i]; }",
    ),
    "a word over somebody else's byte": (
        "{ ((char *)b)[4 * i + 2] = i; if (i > 500) b[i - 500] = a[i]; }",
        "{ ((char *)b)[4 * i + 2] = i; if (i > 500) b[i] = a[i]; }",
    ),
    "a byte in somebody else's word": (
        "{ b[i] = a[i]; if (i > 500) ((char *)b)[4 * i - 1998] = 1; }",
        "{ b[i] = a[i]; if (i > 500) ((char *)b)[4 * i + 2] = 1; }",
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_races_of_bytes_and_words(name: str, tmp_path: Path) -> None:
    clauses = "independent copyin(a[0:n]) copy(b[0:n]) copy(c[0:n])"
    for body, fault in zip(MIXED[name], (True, False), strict=True):
        text = simple(body, clauses).replace("float *b", "float *b, float *c")
        program = from_text(tmp_path, text)
        call(program, "f", N, floats() + 0.25, floats(), floats())
        assert any(f.fault is FaultKind.RACE for f in program.simulator.findings) == fault


def test_what_was_noted_long_ago_is_no_race(tmp_path: Path) -> None:
    """Numbers of launches are reused; memory may have been freed in between."""
    text = """void f(int n, float *a, float *b)
{
#pragma acc parallel loop copyout(b[0:n])
  for (int i = 0; i < n; i++)
    b[i] = i;
  for (int k = 0; k < 1400; k++) {
#pragma acc parallel loop copy(a[0:n / (1 + k % 2)])
    for (int i = 0; i < 1; i++)
      a[n - 1 - n / 2 * (k % 2) - n % 2] += 1;
  }
#pragma acc parallel loop copy(a[0:n]) copyout(b[0:n])
  for (int i = 0; i < n; i++)
    b[n - 1 - i] = a[i];
}
"""
    program = from_text(tmp_path, text)
    call(program, "f", 64, floats(64), floats(64))
    assert faults(program) == set()


def test_a_race_names_both_threads(tmp_path: Path) -> None:
    program = from_text(tmp_path, simple("b[i] = b[(i + 1) % n];"))
    call(program, "f", 64, floats(64), floats(64))
    (finding,) = [f for f in program.simulator.findings if f.fault is FaultKind.RACE]
    assert finding.kernel == "f_3_kernel"
    assert finding.thread is not None and finding.other is not None
    assert finding.thread != finding.other
    assert finding.file.endswith("prog.c")


def test_uninitialised_device_data(tmp_path: Path) -> None:
    text = simple("b[i] = a[i];", "create(a[0:n]) copyout(b[0:n])")
    program = from_text(tmp_path, text)
    call(program, "f", N, floats(), floats())
    assert faults(program) == {(FaultKind.UNINITIALISED, 5, "a")}
    program = from_text(tmp_path, text.replace("create", "copyin"))
    call(program, "f", N, floats(), floats())
    assert faults(program) == set()


def test_data_that_a_kernel_writes_is_initialised(tmp_path: Path) -> None:
    text = """void f(int n, float *a, float *b)
{
#pragma acc data create(a[0:n]) copyout(b[0:n])
  {
#pragma acc parallel loop
    for (int i = 0; i < LAST; i++) a[i] = i;
#pragma acc parallel loop
    for (int i = 0; i < n; i++) b[i] = a[i];
  }
}
"""
    program = from_text(tmp_path, text, defines=("LAST=n",))
    out = floats()
    call(program, "f", N, floats(), out)
    assert faults(program) == set()
    assert (out == floats()).all()
    program = from_text(tmp_path, text, defines=("LAST=n-1",))
    call(program, "f", N, floats(), floats())
    assert faults(program) == {(FaultKind.UNINITIALISED, 8, "a")}


def test_uninitialised_private_array(tmp_path: Path) -> None:
    text = """void f(int n, float *a, float *b)
{
#pragma acc parallel loop copyin(a[0:n]) copyout(b[0:n])
  for (int i = 0; i < n; i++) {
    float t[4];
    for (int k = FIRST; k < 4; k++) t[k] = a[i] + k;
    b[i] = t[i % 4];
  }
}
"""
    program = from_text(tmp_path, text, defines=("FIRST=0",))
    call(program, "f", N, floats(), floats())
    assert faults(program) == set()
    program = from_text(tmp_path, text, defines=("FIRST=1",))
    call(program, "f", N, floats(), floats())
    assert faults(program) == {(FaultKind.UNINITIALISED, 7, "t")}


@pytest.mark.parametrize(("value", "found"), [("a[i] < 500 ? t : 0", False), ("t", True)])
def test_a_private_variable_that_one_thread_may_set(
    value: str, found: bool, tmp_path: Path
) -> None:
    """The thread that works for its gang gives the others a variable, set or not."""
    text = f"""void f(int n, float *a, float *b)
{{
  float t;
#pragma acc parallel loop gang private(t) copyin(a[0:n]) copy(b[0:2 * n])
  for (int i = 0; i < n; i++) {{
    if (a[i] < 500) {{
      t = a[i];
      b[2 * i] = 0;
    }}
#pragma acc loop vector
    for (int j = 0; j < 2; j++)
      b[2 * i + j] = {value};
  }}
}}
"""
    options = ("schedule-loops{sizes=as-written}",)
    program = from_text(tmp_path, text, pass_options=options)
    call(program, "f", N, floats(), floats(2 * N))
    assert faults(program) == ({(FaultKind.UNINITIALISED, 12, "t")} if found else set())


OUTSIDE = {
    "after the end": ("b[i] = a[i + 1];", "b[i] = a[i + 1 < n ? i + 1 : i];", "a"),
    "before the start": ("b[i - 1] = a[i];", "b[i > 0 ? i - 1 : n - 1] = a[i];", "b"),
    "far away": ("b[i] = a[i + 100000000];", "b[i] = a[i];", "a"),
}


def launched(bench: Bench, *args: np.ndarray, **launch: object) -> str:
    """The message of the fault that ends a launch."""
    with pytest.raises(AccRuntimeError) as caught:
        bench.run(*args, **launch)  # type: ignore[arg-type]
    return caught.value.render()


@pytest.mark.parametrize("name", OUTSIDE)
def test_out_of_bounds_ends_the_program(
    name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:

    faulty, right, array = OUTSIDE[name]
    main = """
#include <stdlib.h>
int main(void) { float *a = calloc(1000, 4), *b = calloc(1000, 4); f(1000, a, b); return 0; }
"""
    path = tmp_path / "prog.c"
    command = ["accrun", "--target=sim", str(path)]
    path.write_text(simple(faulty) + main)
    done = commands.run(command, timeout=60)
    assert done.returncode == 1
    assert f"prog.c:5: error: in kernel f_3_kernel: out-of-bounds access: 4 bytes at '{array}'" in (
        done.stderr
    )
    assert "block (" in done.stderr and "thread (" in done.stderr
    path.write_text(simple(right) + main)
    done = commands.run(command, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


# Kernels in IR, for what OpenACC cannot say


LOAD_STORE = f"""{TID}
    {at("%from", "%x", "%gid", "f32")}
    %v = llvm.load %from : !llvm.ptr -> f32
    {at("%to", "%y", "%gid", "f32")}
    llvm.store %v, %to : f32, !llvm.ptr"""


def test_out_of_bounds_says_how_far() -> None:
    bench = Bench("%x: !llvm.ptr, %y: !llvm.ptr", LOAD_STORE)
    message = launched(bench, floats(63), floats(64), block=64)
    assert "4 bytes at 'x'" in message and "0 bytes after the 252 bytes" in message
    assert "block (0,0,0) thread (63,0,0)" in message


def test_null_and_host_pointers() -> None:
    bench = Bench("%x: !llvm.ptr, %y: !llvm.ptr", LOAD_STORE)
    message = launched(bench, np.int64(0), floats(64), block=64)
    assert "the null pointer" in message
    bench = Bench("%x: !llvm.ptr, %y: !llvm.ptr", LOAD_STORE)
    message = launched(bench, np.int64(floats(64).ctypes.data), floats(64), block=64)
    assert "out-of-bounds" in message


def test_misaligned() -> None:
    body = LOAD_STORE.replace("llvm.getelementptr %x[%gid]", "llvm.getelementptr %z[%gid]")
    shift = "%z = llvm.getelementptr %x[{}] : (!llvm.ptr) -> !llvm.ptr, i8\n"
    bench = Bench("%x: !llvm.ptr, %y: !llvm.ptr", shift.format(2) + body)
    assert "is not a multiple of 4" in launched(bench, floats(65), floats(32))
    bench = Bench("%x: !llvm.ptr, %y: !llvm.ptr", shift.format(4) + body)
    bench.run(floats(65), floats(32))
    assert bench.faults == set()


def barrier_under(condition: str) -> Bench:
    return Bench(
        "%x: !llvm.ptr",
        f"""{TID}
    %c16 = arith.constant 16 : i32
    %c0 = arith.constant 0 : i32
    %c = arith.cmpi {condition}, %c16 : i32
    scf.if %c {{
      "gpu.barrier"() : () -> () loc("kernel.mlir":7:5)
    }}""",
    )


def test_divergent_barrier() -> None:
    bench = barrier_under("slt, %tid")
    message = launched(bench, floats(64), block=32, grid=2)
    assert "divergent barrier: 16 of 32 threads of the block wait" in message
    assert message.startswith("kernel.mlir:7: error: in kernel k: ")
    bench = barrier_under("slt, %bid")
    bench.run(floats(64), block=32, grid=20)
    assert bench.faults == set()


def test_barrier_after_threads_returned() -> None:
    """Threads that have returned are not waited for; threads that wait elsewhere are."""
    blocks = """cf.cond_br %c, ^out, ^on
  ^on:
    "gpu.barrier"() : () -> ()
    cf.br ^out
  ^out:
    "gpu.return"() : () -> ()"""
    start = f"""{TID}
    %c16 = arith.constant 16 : i32
    %c = arith.cmpi slt, %tid, %c16 : i32"""
    bench = Bench("%x: !llvm.ptr", start, blocks=blocks)
    assert "divergent barrier" in launched(bench, floats(1))
    early = (
        blocks.replace("cond_br %c, ^out", "cond_br %c, ^early")
        + """
  ^early:
    "gpu.return"() : () -> ()"""
    )
    bench = Bench("%x: !llvm.ptr", start, blocks=early)
    bench.run(floats(1))
    assert bench.faults == set()


REVERSE = """{TID}
    %s = llvm.mlir.addressof @s : !llvm.ptr<3>
    {store}
    llvm.store %tid, %mine : i32, !llvm.ptr<3>
    {barrier}
    %last = arith.constant 63 : i32
    %mirror = arith.subi %last, %tid : i32
    {load}
    %v = llvm.load %theirs : !llvm.ptr<3> -> i32
    {out}
    llvm.store %v, %to : i32, !llvm.ptr"""


def reverse(barrier: str) -> Bench:
    body = REVERSE.format(
        TID=TID,
        store=at("%mine", "%s", "%tid", "i32", "<3>"),
        load=at("%theirs", "%s", "%mirror", "i32", "<3>"),
        out=at("%to", "%x", "%gid", "i32"),
        barrier=barrier,
    )
    return Bench("%x: !llvm.ptr", body, globals=shared("s", 64, "i32"))


def test_race_in_shared_memory() -> None:
    bench = reverse("")
    bench.run(np.zeros(128, np.int32), block=64, grid=2)
    assert bench.faults == {FaultKind.RACE}
    assert bench.reported[0].array == "s"
    bench = reverse('"gpu.barrier"() : () -> ()')
    (out,) = bench.run(np.zeros(128, np.int32), block=64, grid=2)
    assert bench.faults == set()
    assert (out == np.tile(np.arange(63, -1, -1), 2)).all()


def test_warp_barrier_orders_a_warp_only() -> None:
    body = "%all = arith.constant -1 : i32\n nvvm.bar.warp.sync %all : i32"
    bench = reverse(body)
    bench.run(np.zeros(128, np.int32), block=64, grid=2)
    assert bench.faults == {FaultKind.RACE}
    text = REVERSE.replace("constant 63", "constant 31").format(
        TID=TID,
        store=at("%mine", "%s", "%tid", "i32", "<3>"),
        load=at("%theirs", "%s", "%mirror", "i32", "<3>"),
        out=at("%to", "%x", "%gid", "i32"),
        barrier=body,
    )
    bench = Bench("%x: !llvm.ptr", text, globals=shared("s", 64, "i32"))
    bench.run(np.zeros(64, np.int32), block=32, grid=2)
    assert bench.faults == set()


def test_shared_memory_is_uninitialised_and_bounded() -> None:
    body = f"""{TID}
    %s = llvm.mlir.addressof @s : !llvm.ptr<3>
    {at("%p", "%s", "%gid", "i32", "<3>")}
    %v = llvm.load %p : !llvm.ptr<3> -> i32"""
    bench = Bench("%x: !llvm.ptr", body, globals=shared("s", 32, "i32"))
    bench.run(floats(1))
    assert bench.faults == {FaultKind.UNINITIALISED}
    bench = Bench("%x: !llvm.ptr", body, globals=shared("s", 31, "i32"))
    assert "shared memory, near 's'" in launched(bench, floats(1))


def test_local_bounds() -> None:
    body = f"""{TID}
    %c1 = arith.constant 1 : i32
    %a = llvm.alloca %c1 x !llvm.array<8 x i32> {{alignment = 16 : i64}} : (i32) -> !llvm.ptr
    {at("%p", "%a", "%tid", "i32")}
    llvm.store %tid, %p : i32, !llvm.ptr"""
    bench = Bench("%x: !llvm.ptr", body)
    bench.run(floats(1), block=8)
    bench = Bench("%x: !llvm.ptr", body)
    assert "local 'a' of 32 bytes" in launched(bench, floats(1), block=9)


def last_block(fences: str) -> Bench:
    """Every block leaves a value; the last one to take a ticket adds them up."""
    body = f"""{TID}
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %first = arith.cmpi eq, %tid, %c0 : i32
    scf.if %first {{
      {at("%slot", "%x", "%bid", "i32")}
      llvm.store %bid, %slot : i32, !llvm.ptr
      {fences}
      %ticket = llvm.atomicrmw add %count, %c1 monotonic : !llvm.ptr, i32
      {fences}
      %g = "gpu.grid_dim"() <{{dimension = #gpu<dim x>}}> : () -> index
      %gangs = arith.index_cast %g : index to i32
      %last = arith.subi %gangs, %c1 : i32
      %is_last = arith.cmpi eq, %ticket, %last : i32
      scf.if %is_last {{
        %sum = scf.for %i = %c0 to %gangs step %c1 iter_args(%s = %c0) -> (i32) : i32 {{
          {at("%p", "%x", "%i", "i32")}
          %v = llvm.load %p : !llvm.ptr -> i32
          %n = arith.addi %s, %v : i32
          scf.yield %n : i32
        }}
        llvm.store %sum, %out : i32, !llvm.ptr
        llvm.store %c0, %count : i32, !llvm.ptr
      }}
    }}"""
    return Bench("%x: !llvm.ptr, %count: !llvm.ptr, %out: !llvm.ptr", body, batch_threads=128)


def test_the_last_block_sees_what_others_released() -> None:
    """300 blocks in 75 batches; without fences it is a race though the result is right."""
    zeros = [np.zeros(300, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)]
    bench = last_block("nvvm.memory.barrier <gpu>")
    _, count, out = bench.run(*zeros, grid=300)
    assert (out[0], count[0]) == (300 * 299 // 2, 0)
    assert bench.faults == set()
    bench = last_block("")
    bench.run(*zeros, grid=300)
    assert bench.faults == {FaultKind.RACE}


def test_shuffle_from_an_inactive_lane() -> None:
    body = """
    %all = arith.constant -1 : i32
    %c1 = arith.constant 1 : i32
    %c31 = arith.constant 31 : i32
    %odd = arith.andi %tid, %c1 : i32
    %is_odd = arith.cmpi eq, %odd, %c1 : i32
    %c = arith.cmpi PREDICATE, %odd, %c1 : i32
    scf.if %c {
      %v = nvvm.shfl.sync bfly %all, %tid, %c1, %c31 : i32 -> i32
    }"""
    bench = Bench("%x: !llvm.ptr", TID + body.replace("PREDICATE", "eq"))
    assert "the operation reads a lane that does not take part" in launched(bench, floats(1))
    bench = Bench("%x: !llvm.ptr", TID + body.replace("PREDICATE", "sle"))
    bench.run(floats(1))
    assert bench.faults == set()


def test_a_lock_between_blocks_is_reported() -> None:
    """Every thread spins until it gets the lock, which its holder gives back only after that."""
    body = """%c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %end = scf.while (%turn = %c0) : (i32) -> i32 {
      %pair = llvm.cmpxchg %x, %c0, %c1 monotonic monotonic : !llvm.ptr, i32
      %done = llvm.extractvalue %pair[1] : !llvm.struct<(i32, i1)>
      %true = arith.constant true
      %again = arith.xori %done, %true : i1
      scf.condition(%again) %turn : i32
    } do {
    ^bb0(%old: i32):
      scf.yield %old : i32
    }
    llvm.store %c0, %x : i32, !llvm.ptr"""
    bench = Bench("%x: !llvm.ptr", body, patience=Patience(turns=1000))
    assert "endless loop" in launched(bench, np.zeros(1, np.int32))


def test_checks_can_be_switched_off(tmp_path: Path) -> None:
    program = from_text(tmp_path, simple("b[i / 300] += a[i];"), checks=False)
    call(program, "f", N, floats(), floats())
    assert faults(program) == set()


def test_findings_are_reported_once(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    program = from_text(tmp_path, simple("b[i / 300] += a[i];"))
    for _ in range(3):
        call(program, "f", N, floats(), floats())
    assert capfd.readouterr().err.count("data race") == 1


def test_blocks_of_a_kernel_that_frees_them(tmp_path: Path) -> None:
    body = "{ float *p = malloc(8); p[0] = p[1] = i; b[i] = p[0] + p[1]; free(p); }"
    program = from_text(tmp_path, "#include <stdlib.h>\n" + simple(body))
    b = floats()
    for _ in range(2):
        call(program, "f", N, floats(), b)
    assert not faults(program)
    assert np.array_equal(b, 2 * floats())
    assert program.simulator.memory.heap.held == 0
