# ruff: noqa: B007, E501, F841, SIM117
"""Loops on every level, collapsed loops, and control flow between them."""

from __future__ import annotations

import numpy as np
from gpu_ir import Builder
from gpu_program import Cases


def loops(found: Cases) -> None:
    """Adds its programs to `found`."""
    case, rng = found.add, found.rng

    # saxpy
    def saxpy(n, gangs, workers, lanes, e, covers, lb=0, step=1, dyn=False):
        b = Builder()
        x = b.data("x")
        y = b.data("y")
        c0 = b.const(lb)
        c1 = b.const(step)
        ws, ls = ("%workers", "%lanes") if dyn else (workers, lanes)
        with b.parallel([x, y], gangs, ws, ls):
            with b.loop(
                "gang vector",
                c0,
                "%n",
                c1,
                attrs=f"accx.schedule = #accx.schedule<elements = {e}{', covers' if covers else ''}>",
            ) as (i,):
                v = b.load(x, i, "f32")
                u = b.load(y, i, "f32")
                b.store(b.op("addf", b.op("mulf", "%a", v, "f32"), u, "f32"), y, i, "f32")
        X = rng.random(max(n, 1), dtype=np.float32)
        Y = rng.random(max(n, 1), dtype=np.float32)
        E = Y.copy()
        idx = np.arange(lb, n, step)
        E[idx] = np.float32(2) * X[idx] + Y[idx]
        case(
            f"saxpy_{n}_{gangs}_{workers}_{lanes}_{e}_{covers}_{lb}_{step}_{dyn}",
            b.text("%n: i32, %a: f32, %workers: i32, %lanes: i32, %x: !llvm.ptr, %y: !llvm.ptr"),
            {"x": X, "y": Y},
            {
                "n": ("i32", n),
                "a": ("f32", 2.0),
                "workers": ("i32", workers),
                "lanes": ("i32", lanes),
            },
            {"y": E},
            1e-6,
        )

    for n in (0, 1, 1000, 4096, 12345):
        saxpy(n, max(1, -(-n // 512)), 1, 128, 4, True)
        saxpy(n, 3, 1, 128, 4, False)
        saxpy(n, 7, 3, 48, 1, False)
    saxpy(1000, 2, 1, 1, 4, False)
    saxpy(1000, 250, 1, 1, 4, True)
    saxpy(1000, 2, 3, 5, 2, False)
    saxpy(5000, 2, 3, 40, 2, False, dyn=True)
    saxpy(5000, 2, 3, 40, 1, False, lb=7, step=3)
    saxpy(5000, 2, 2, 8, 4, False, lb=-0, step=2, dyn=True)

    # gang / vector nest, gang / worker / vector
    def nest(rows, cols, gangs, workers, lanes, levels, e=1):
        b = Builder()
        x = b.data("x")
        y = b.data("y")
        c0 = b.const(0)
        c1 = b.const(1)
        with b.parallel([x, y], gangs, workers, lanes):
            with b.loop(levels[0], c0, "%n", c1) as (i,):
                base = b.op("muli", i, "%m")
                with b.loop(
                    levels[1], c0, "%m", c1, attrs=f"accx.schedule = #accx.schedule<elements = {e}>"
                ) as (j,):
                    k = b.op("addi", base, j)
                    v = b.load(x, k, "f32")
                    b.store(b.op("addf", v, v, "f32"), y, k, "f32")
        X = rng.random(rows * cols, dtype=np.float32)
        case(
            f"nest_{rows}_{cols}_{gangs}_{workers}_{lanes}_{''.join(levels)}_{e}".replace(" ", ""),
            b.text("%n: i32, %m: i32, %x: !llvm.ptr, %y: !llvm.ptr"),
            {"x": X, "y": X * 0},
            {"n": ("i32", rows), "m": ("i32", cols)},
            {"y": X + X},
        )

    for workers, lanes in ((1, 128), (4, 32), (3, 64), (8, 4), (5, 8), (1, 1), (7, 96)):
        nest(37, 100, 5, workers, lanes, ("gang", "vector"), 4)
        nest(37, 100, 5, workers, lanes, ("gang worker", "vector"))
        nest(37, 100, 5, workers, lanes, ("gang", "worker vector"))

    # collapse
    def coll(n, m, gangs, lanes, ty="i32", e=1, lb=2, st=3):
        b = Builder()
        y = b.data("y", "i32")
        c0 = b.const(lb, ty)
        c1 = b.const(st, ty)
        z = b.const(0, ty)
        o = b.const(1, ty)
        nn = b.const(n, ty) if n < 50 else "%n"
        with b.parallel([y], gangs, 1, lanes):
            with b.loop(
                "gang vector",
                [c0, z],
                [nn, "%m"],
                [c1, o],
                type=ty,
                attrs=f"accx.schedule = #accx.schedule<elements = {e}>",
            ) as (i, j):
                k = b.op("addi", b.op("muli", i, "%m", ty), j, ty)
                a = b.address(y, k, "i32", ty)
                b.add_to(a, b.const(5), "i32")
        E = np.zeros((n, m), np.int32)
        E[lb:n:st] = 5
        case(
            f"coll_{n}_{m}_{gangs}_{lanes}_{ty}_{e}",
            b.text(f"%n: {ty}, %m: {ty}, %y: !llvm.ptr"),
            {"y": E.reshape(-1) * 0},
            {"n": (ty, n), "m": (ty, m)},
            {"y": E.reshape(-1)},
        )

    coll(40, 30, 3, 64)
    coll(100, 33, 5, 128, "i64")
    coll(100, 33, 5, 128, "i32", 4)
    coll(40, 3, 1000, 64)

    # seq loop with two vector loops: shift (race detection), gang private array
    def shift(gangs, workers, lanes):
        b = Builder()
        x = b.data("x", "i32")
        y = b.data("y", "i32")
        c0 = b.const(0)
        c1 = b.const(1)
        n = b.const(200)
        one = b.const(1)
        steps = b.const(50)
        g_ = b.const(gangs)
        p = b.private("!llvm.array<200 x i32>", "tmp")
        with b.parallel([x, y], gangs, workers, lanes, private=[p]):
            with b.loop("gang", c0, g_, c1) as (gi,):
                base = b.op("muli", gi, n)
                with b.for_(c0, steps, c1) as k:
                    with b.loop("vector", c0, n, c1) as (i,):
                        j = b.op("remsi", b.op("addi", i, c1), n)
                        b.store(b.load(x, b.op("addi", base, j), "i32"), p, i, "i32")
                    with b.loop("vector", c0, n, c1) as (i,):
                        j = b.op("remsi", b.op("addi", i, c1), n)
                        b.store(b.load(p, j, "i32"), x, b.op("addi", base, i), "i32")
                    # gang-level scalar update of y[gi] from x[base]
                    v = b.load(x, base, "i32")
                    o = b.load(y, gi, "i32")
                    b.store(b.op("addi", v, o), y, gi, "i32")
        X = rng.integers(0, 100, 200 * gangs).astype(np.int32)
        Y = np.zeros(gangs, np.int32)
        R = X.reshape(gangs, 200).copy()
        for k in range(50):
            R = np.roll(R, -2, 1)
            Y += R[:, 0]
        case(
            f"shift_{gangs}_{workers}_{lanes}",
            b.text("%x: !llvm.ptr, %y: !llvm.ptr"),
            {"x": X, "y": Y * 0},
            {},
            {"x": R.reshape(-1), "y": Y},
        )

    for workers, lanes in ((1, 1), (1, 256), (4, 32), (8, 4), (1, 32), (3, 64)):
        shift(6, workers, lanes)

    # worker mode: private array of a worker, sync among lanes, stores in worker mode
    def wshift(rows, gangs, workers, lanes):
        b = Builder()
        x = b.data("x", "i32")
        y = b.data("y", "i32")
        c0 = b.const(0)
        c1 = b.const(1)
        n = b.const(64)
        steps = b.const(10)
        with b.parallel([x, y], gangs, workers, lanes):
            p = b.private("!llvm.array<64 x i32>", "tmp")
            with b.loop("gang worker", c0, "%n", c1, private=[p]) as (gi,):
                base = b.op("muli", gi, n)
                with b.for_(c0, steps, c1) as k:
                    with b.loop("vector", c0, n, c1) as (i,):
                        j = b.op("remsi", b.op("addi", i, c1), n)
                        b.store(b.load(x, b.op("addi", base, j), "i32"), p, i, "i32")
                    with b.loop("vector", c0, n, c1) as (i,):
                        b.store(b.load(p, i, "i32"), x, b.op("addi", base, i), "i32")
                    v = b.load(x, base, "i32")
                    o = b.load(y, gi, "i32")
                    b.store(b.op("addi", v, o), y, gi, "i32")
        X = rng.integers(0, 100, 64 * rows).astype(np.int32)
        Y = np.zeros(rows, np.int32)
        R = X.reshape(rows, 64).copy()
        for k in range(10):
            R = np.roll(R, -1, 1)
            Y += R[:, 0]
        case(
            f"wshift_{rows}_{gangs}_{workers}_{lanes}",
            b.text("%n: i32, %x: !llvm.ptr, %y: !llvm.ptr"),
            {"x": X, "y": Y * 0},
            {"n": ("i32", rows)},
            {"x": R.reshape(-1), "y": Y},
        )

    for workers, lanes in (
        (1, 1),
        (1, 64),
        (4, 32),
        (8, 4),
        (5, 8),
        (3, 64),
        (15, 64),
        (16, 64),
        (7, 96),
    ):
        wshift(43, 3, workers, lanes)

    # control flow at gang level: while loop with memory condition, if with barrier, own variables set under leader
    def flow(gangs, workers, lanes):
        b = Builder()
        x = b.data("x", "i32")
        y = b.data("y", "i32")
        c0 = b.const(0)
        c1 = b.const(1)
        n = b.const(70)
        rows = b.const(9)
        one = b.const(1)
        with b.parallel([x, y], gangs, workers, lanes):
            with b.loop("gang", c0, rows, c1) as (r,):
                t = b.value(f"llvm.alloca {one} x i32 : (i32) -> !llvm.ptr")
                b.store(c0, t, None, "i32")
                b.emit("scf.while () : () -> () {")
                a = b.load(x, r, "i32")
                cond = b.value(f"arith.cmpi slt, {a}, {n} : i32")
                b.emit(f"scf.condition({cond})")
                b.emit("} do {")
                a = b.load(x, r, "i32")
                b.store(b.op("addi", a, c1), x, r, "i32")
                odd = b.op("andi", a, c1)
                od = b.value(f"arith.cmpi eq, {odd}, {c1} : i32")
                with b.if_(od):
                    with b.loop("vector", c0, n, c1) as (i,):
                        k = b.op("addi", b.op("muli", r, n), i)
                        b.add_to(b.address(y, k, "i32"), a, "i32")
                    b.add_to(t, b.load(y, b.op("muli", r, n), "i32"), "i32")
                with b.if_(od):
                    z = b.value(
                        f"llvm.atomicrmw add {b.address(y, b.op('muli', r, n), 'i32')}, {c1} monotonic : !llvm.ptr, i32"
                    )
                    b.store(z, t, None, "i32")
                b.emit("scf.yield")
                b.emit("}")
                k = b.op("addi", b.op("muli", r, n), c1)
                b.store(b.load(t, None, "i32"), y, k, "i32")
        X = rng.integers(0, 70, 9).astype(np.int32)
        Y = np.zeros((9, 70), np.int32)
        X2 = X.copy()
        for r in range(9):
            t = 0
            while X2[r] < 70:
                a = X2[r]
                X2[r] += 1
                if a & 1:
                    Y[r] += a
                    t = Y[r, 0]
                    Y[r, 0] += 1
            Y[r, 1] = t
        case(
            f"flow_{gangs}_{workers}_{lanes}",
            b.text("%x: !llvm.ptr, %y: !llvm.ptr"),
            {"x": X, "y": np.zeros(630, np.int32)},
            {},
            {"x": X2, "y": Y.reshape(-1)},
        )

    for workers, lanes in ((1, 1), (1, 256), (4, 32), (8, 4), (1, 32), (3, 64)):
        flow(4, workers, lanes)
