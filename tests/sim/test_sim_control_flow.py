"""Loops, branches and cells whose threads go different ways."""

from __future__ import annotations

import math

import numpy as np
from sim_kernels import TID, Bench, at


def test_nested_loops_that_threads_leave_at_different_times() -> None:
    """Collatz steps inside a counted loop, with a value carried through both."""
    body = f"""{TID}
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c2 = arith.constant 2 : i32
    %c3 = arith.constant 3 : i32
    %start2 = arith.addi %gid, %c1 : i32
    %limit = arith.remui %gid, %c3 : i32
    %upper = arith.addi %limit, %c1 : i32
    %sum = scf.for %i = %c0 to %upper step %c1 iter_args(%s = %c0) -> (i32) : i32 {{
      %begin = arith.addi %start2, %i : i32
      %end, %steps = scf.while (%n = %begin, %k = %c0) : (i32, i32) -> (i32, i32) {{
        %more = arith.cmpi ne, %n, %c1 : i32
        scf.condition(%more) %n, %k : i32, i32
      }} do {{
      ^bb0(%m: i32, %q: i32):
        %low = arith.andi %m, %c1 : i32
        %is_odd = arith.cmpi eq, %low, %c1 : i32
        %next = scf.if %is_odd -> (i32) {{
          %t3 = arith.muli %m, %c3 : i32
          %t4 = arith.addi %t3, %c1 : i32
          scf.yield %t4 : i32
        }} else {{
          %half = arith.shrui %m, %c1 : i32
          scf.yield %half : i32
        }}
        %q1 = arith.addi %q, %c1 : i32
        scf.yield %next, %q1 : i32, i32
      }}
      %total = arith.addi %s, %steps : i32
      scf.yield %total : i32
    }}
    {at("%p", "%x", "%gid", "i32")}
    llvm.store %sum, %p : i32, !llvm.ptr"""

    def steps(n: int) -> int:
        count = 0
        while n != 1:
            n = 3 * n + 1 if n % 2 else n // 2
            count += 1
        return count

    bench = Bench("%x: !llvm.ptr", body)
    (out,) = bench.run(np.zeros(300, np.int32), block=100, grid=3)
    assert out.tolist() == [sum(steps(g + 1 + i) for i in range(g % 3 + 1)) for g in range(300)]


def test_control_flow_graph() -> None:
    """Greatest common divisor with blocks, block arguments and a switch at the end."""
    blocks = """cf.br ^head(%gid, %other : i32, i32)
  ^head(%a: i32, %r: i32):
    %done = arith.cmpi eq, %r, %c0 : i32
    cf.cond_br %done, ^end(%a : i32), ^body
  ^body:
    %m = arith.remui %a, %r : i32
    cf.br ^head(%r, %m : i32, i32)
  ^end(%g: i32):
    cf.switch %g : i32, [
      default: ^store(%g : i32),
      1: ^one,
      7: ^store(%c70 : i32)
    ]
  ^one:
    cf.br ^store(%gid : i32)
  ^store(%v: i32):
    %p = llvm.getelementptr %x[%gid] : (!llvm.ptr, i32) -> !llvm.ptr, i32
    llvm.store %v, %p : i32, !llvm.ptr
    "gpu.return"() : () -> ()"""
    start = f"""{TID}
    %c0 = arith.constant 0 : i32
    %c70 = arith.constant 70 : i32
    %other = arith.constant 84 : i32"""
    bench = Bench("%x: !llvm.ptr", start, blocks=blocks)
    (out,) = bench.run(np.zeros(256, np.int32), block=64, grid=4)

    def want(g: int) -> int:
        d = math.gcd(g, 84)
        return g if d == 1 else 70 if d == 7 else d

    assert out.tolist() == [want(g) for g in range(256)]


def test_cells_keep_their_values_through_branches_and_loops() -> None:
    body = f"""{TID}
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %c5 = arith.constant 5 : i32
    %cell = llvm.alloca %c1 x i32 {{alignment = 4 : i64}} : (i32) -> !llvm.ptr
    llvm.store %tid, %cell : i32, !llvm.ptr
    scf.for %i = %c0 to %tid step %c5 : i32 {{
      %old = llvm.load %cell : !llvm.ptr -> i32
      %low = arith.andi %old, %c1 : i32
      %odd = arith.cmpi eq, %low, %c1 : i32
      scf.if %odd {{
        %n = arith.addi %old, %i : i32
        llvm.store %n, %cell : i32, !llvm.ptr
      }} else {{
        %n2 = arith.addi %old, %c1 : i32
        llvm.store %n2, %cell : i32, !llvm.ptr
      }}
    }}
    %end = llvm.load %cell : !llvm.ptr -> i32
    {at("%p", "%x", "%tid", "i32")}
    llvm.store %end, %p : i32, !llvm.ptr"""

    def want(t: int) -> int:
        cell = t
        for i in range(0, t, 5):
            cell = cell + i if cell % 2 else cell + 1
        return cell

    bench = Bench("%x: !llvm.ptr", body)
    (out,) = bench.run(np.zeros(64, np.int32), block=64)
    assert out.tolist() == [want(t) for t in range(64)]
    assert bench.faults == set()
