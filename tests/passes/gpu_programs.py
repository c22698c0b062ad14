# ruff: noqa: B007, E501, F841, RUF059, SIM108, SIM117
"""
Programs that exercise the GPU lowering, with the results the C program they stand for would give.

Each has several launch shapes: one thread, one warp, several warps, workers that share a warp,
lengths that are not a power of two.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from gpu_ir import Builder
from numpy.typing import NDArray


@dataclass(frozen=True)
class Program:
    """
    Scheduled-level IR of a function `f` with one construct, the contents of the arrays and scalars
    it is called with, and what arrays hold afterwards (up to `tolerance`).
    """

    name: str
    text: str
    arrays: dict[str, NDArray[np.generic]]
    scalars: dict[str, tuple[str, int | float]]
    expected: dict[str, NDArray[np.generic]]
    tolerance: float = 0.0


def programs() -> list[Program]:
    """All programs, the same ones every time."""
    found: list[Program] = []

    def case(name, text, arrays, scalars, expected, tol=0.0):
        found.append(Program(f"{name}_{len(found)}", text, arrays, scalars, expected, tol))

    rng = np.random.default_rng(1)
    NPT = {
        "f32": np.float32,
        "f64": np.float64,
        "i32": np.int32,
        "i64": np.int64,
        "i8": np.int8,
        "i16": np.int16,
    }

    # 1 saxpy
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
                attrs=f"accx.elements = {e} : i32" + (", accx.covers" if covers else ""),
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

    # 2 gang / vector nest, gang / worker / vector
    def nest(rows, cols, gangs, workers, lanes, levels, e=1):
        b = Builder()
        x = b.data("x")
        y = b.data("y")
        c0 = b.const(0)
        c1 = b.const(1)
        with b.parallel([x, y], gangs, workers, lanes):
            with b.loop(levels[0], c0, "%n", c1) as (i,):
                base = b.op("muli", i, "%m")
                with b.loop(levels[1], c0, "%m", c1, attrs=f"accx.elements = {e} : i32") as (j,):
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

    # 3 csr-like row sums, reduction private scalar at worker or gang level
    def rowsum(rows, cols, gangs, workers, lanes, levels, ty="f32", kind="add"):
        b = Builder()
        x = b.data("x", ty)
        y = b.data("y", ty)
        c0 = b.const(0)
        c1 = b.const(1)
        one = b.const(1)
        z = b.const(0, ty)
        with b.parallel([x, y], gangs, workers, lanes):
            with b.loop(levels[0], c0, "%n", c1) as (i,):
                s = b.value(f"llvm.alloca {one} x {ty} : (i32) -> !llvm.ptr", "s")
                b.store(z, s, None, ty)
                base = b.op("muli", i, "%m")
                r = b.reduction(s, ty, kind)
                with b.loop(levels[1], c0, "%m", c1, reduction=[r]) as (j,):
                    b.add_to(r, b.load(x, b.op("addi", base, j), ty), ty)
                v = b.load(s, None, ty)
                b.store(v, y, i, ty)
        X = (rng.random(rows * cols) * 10).astype(NPT[ty])
        case(
            f"rowsum_{rows}_{cols}_{gangs}_{workers}_{lanes}_{''.join(levels)}_{ty}".replace(
                " ", ""
            ),
            b.text("%n: i32, %m: i32, %x: !llvm.ptr, %y: !llvm.ptr"),
            {"x": X, "y": np.zeros(rows, NPT[ty])},
            {"n": ("i32", rows), "m": ("i32", cols)},
            {"y": X.reshape(rows, cols).sum(1).astype(NPT[ty])},
            1e-4,
        )

    for workers, lanes in (
        (1, 128),
        (4, 32),
        (3, 64),
        (8, 4),
        (5, 8),
        (1, 1),
        (7, 96),
        (16, 64),
        (2, 2),
        (1, 4),
    ):
        rowsum(37, 100, 5, workers, lanes, ("gang", "vector"))
        rowsum(37, 100, 5, workers, lanes, ("gang worker", "vector"), "f64")
        rowsum(37, 100, 5, workers, lanes, ("gang", "worker vector"), "i32")
        rowsum(37, 100, 5, workers, lanes, ("gang", "worker"), "i64")
    # 5 reductions over grid
    OPS = {
        "add": ("addi", "addf"),
        "mul": ("muli", "mulf"),
        "max": ("maxsi", "maxnumf"),
        "min": ("minsi", "minnumf"),
        "iand": ("andi", None),
        "ior": ("ori", None),
        "xor": ("xori", None),
        "land": ("", ""),
        "lor": ("", ""),
    }

    def gridred(n, gangs, workers, lanes, ty, kind, e=1, levels="gang vector"):
        b = Builder()
        x = b.data("x", ty)
        sd = b.data("s", ty)
        c0 = b.const(0)
        c1 = b.const(1)
        z = b.const(0, ty)
        r = b.reduction(sd, ty, kind)
        with b.parallel([x, sd], gangs, workers, lanes):
            with b.loop(
                levels, c0, "%n", c1, reduction=[r], attrs=f"accx.elements = {e} : i32"
            ) as (i,):
                v = b.load(x, i, ty)
                if kind in ("land", "lor"):
                    old = b.load(r, None, ty)
                    if ty[0] == "f":
                        t = [b.value(f"arith.cmpf une, {q}, {z} : {ty}") for q in (old, v)]
                    else:
                        t = [b.value(f"arith.cmpi ne, {q}, {z} : {ty}") for q in (old, v)]
                    q = b.op("andi" if kind == "land" else "ori", t[0], t[1], "i1")
                    q = b.value(
                        f"arith.uitofp {q} : i1 to {ty}"
                        if ty[0] == "f"
                        else f"arith.extui {q} : i1 to {ty}"
                    )
                    b.store(q, r, None, ty)
                else:
                    b.add_to(r, v, ty, OPS[kind][ty[0] == "f"])
        dt = NPT[ty]
        if ty[0] == "f":
            X = (rng.random(n) + 0.5).astype(dt)
        else:
            X = rng.integers(-100, 100, n).astype(dt)
        if kind == "mul":
            X = np.ones(n, dt)
            X[:5] = 3
        if kind == "land":
            X = np.ones(n, dt)
        if kind == "lor":
            X = np.zeros(n, dt)
            X[n // 2] = 1
        s0 = dt(5)
        f = {
            "add": lambda: X.sum(dtype=dt) + s0,
            "mul": lambda: X.prod(dtype=dt) * s0,
            "max": lambda: max(X.max(), s0),
            "min": lambda: min(X.min(), s0),
            "iand": lambda: np.bitwise_and.reduce(X) & s0,
            "ior": lambda: np.bitwise_or.reduce(X) | s0,
            "xor": lambda: np.bitwise_xor.reduce(X) ^ s0,
            "land": lambda: dt(1),
            "lor": lambda: dt(1),
        }[kind]
        with np.errstate(all="ignore"):
            exp = np.array([f()], dt)
        case(
            f"gridred_{n}_{gangs}_{workers}_{lanes}_{ty}_{kind}_{e}_{levels}".replace(" ", ""),
            b.text("%n: i32, %x: !llvm.ptr, %s: !llvm.ptr"),
            {"x": X, "s": np.array([s0], dt)},
            {"n": ("i32", n)},
            {"s": exp},
            1e-4,
        )

    for ty in NPT:
        for k in OPS:
            if ty[0] == "f" and OPS[k][1] is None:
                continue
            gridred(5000, 9, 1, 128, ty, k, 4)
    for workers, lanes in ((1, 1), (1, 32), (4, 32), (8, 4), (3, 96), (16, 64), (2, 8)):
        for lv in ("gang vector", "gang", "gang worker", "gang worker vector"):
            gridred(777, 5, workers, lanes, "i32", "add", 1, lv)
            gridred(777, 1, workers, lanes, "f32", "add", 1, lv)

    # nested gang + vector reduction
    def nestred(rows, cols, gangs, workers, lanes, l0, l1):
        b = Builder()
        x = b.data("x")
        sd = b.data("s")
        c0 = b.const(0)
        c1 = b.const(1)
        r = b.reduction(sd, "f32", "add")
        with b.parallel([x, sd], gangs, workers, lanes):
            with b.loop(l0, c0, "%n", c1, reduction=[r]) as (i,):
                base = b.op("muli", i, "%m")
                r2 = b.reduction(r, "f32", "add")
                with b.loop(l1, c0, "%m", c1, reduction=[r2]) as (j,):
                    b.add_to(r2, b.load(x, b.op("addi", base, j), "f32"), "f32")
                b.add_to(r, b.const(1, "f32"), "f32")
        X = rng.random(rows * cols, dtype=np.float32)
        case(
            f"nestred_{rows}_{cols}_{gangs}_{workers}_{lanes}_{l0}_{l1}".replace(" ", ""),
            b.text("%n: i32, %m: i32, %x: !llvm.ptr, %s: !llvm.ptr"),
            {"x": X, "s": np.array([2], np.float32)},
            {"n": ("i32", rows), "m": ("i32", cols)},
            {"s": np.array([X.sum() + 2 + rows], np.float32)},
            1e-4,
        )

    for workers, lanes in ((1, 1), (1, 128), (4, 32), (8, 4), (3, 64)):
        nestred(37, 100, 5, workers, lanes, "gang", "vector")
        nestred(37, 100, 5, workers, lanes, "gang worker", "vector")
        nestred(37, 100, 5, workers, lanes, "gang", "worker vector")
        nestred(37, 100, 5, workers, lanes, "gang", "worker")
        nestred(37, 100, 5, workers, lanes, "gang", "seq")

    # construct reduction, redundant
    def conred(gangs, workers, lanes):
        b = Builder()
        x = b.data("x", "i32")
        sd = b.data("s", "i32")
        td = b.data("t", "f64")
        c0 = b.const(0)
        c1 = b.const(1)
        m = b.const(100)
        r = b.reduction(sd, "i32", "add")
        r2 = b.reduction(td, "f64", "max", "t")
        with b.parallel([x, sd, td], gangs, workers, lanes, reduction=[r, r2]):
            b.add_to(r, b.const(3), "i32")
            q = b.reduction(r, "i32", "add")
            with b.loop("vector", c0, m, c1, reduction=[q]) as (i,):
                b.add_to(q, b.load(x, i, "i32"), "i32")
            q = b.reduction(r, "i32", "add")
            q2 = b.reduction(r2, "f64", "max", "t")
            with b.loop("gang worker vector", c0, m, c1, reduction=[q, q2]) as (i,):
                v = b.load(x, i, "i32")
                b.add_to(q, v, "i32")
                b.add_to(q2, b.value(f"arith.sitofp {v} : i32 to f64"), "f64", "maxnumf")
        X = rng.integers(0, 50, 100).astype(np.int32)
        case(
            f"conred_{gangs}_{workers}_{lanes}",
            b.text("%x: !llvm.ptr, %s: !llvm.ptr, %t: !llvm.ptr"),
            {"x": X, "s": np.array([7], np.int32), "t": np.array([1.5])},
            {},
            {
                "s": np.array([7 + gangs * (3 + X.sum()) + X.sum()], np.int32),
                "t": np.array([float(X.max())]),
            },
        )

    for gangs in (1, 6):
        for workers, lanes in ((1, 1), (1, 128), (4, 32), (8, 4), (3, 64)):
            conred(gangs, workers, lanes)

    # array reduction (histogram)
    def hist(gangs, workers, lanes, levels):
        b = Builder()
        x = b.data("x", "i32")
        h = b.data("h", "!llvm.array<16 x i32>")
        c0 = b.const(0)
        c1 = b.const(1)
        r = b.reduction(h, "!llvm.array<16 x i32>", "add", "h")
        with b.parallel([x, h], gangs, workers, lanes):
            with b.loop(levels, c0, "%n", c1, reduction=[r]) as (i,):
                v = b.load(x, i, "i32")
                a = b.address(r, v, "i32")
                b.add_to(a, c1, "i32")
        X = rng.integers(0, 16, 1000).astype(np.int32)
        case(
            f"hist_{gangs}_{workers}_{lanes}_{levels}".replace(" ", ""),
            b.text("%n: i32, %x: !llvm.ptr, %h: !llvm.ptr"),
            {"x": X, "h": np.arange(16, dtype=np.int32)},
            {"n": ("i32", 1000)},
            {"h": np.bincount(X, minlength=16).astype(np.int32) + np.arange(16, dtype=np.int32)},
        )

    for gangs in (1, 4):
        for workers, lanes in ((1, 1), (1, 128), (4, 32), (8, 4)):
            hist(gangs, workers, lanes, "gang vector")
            hist(gangs, workers, lanes, "gang worker")

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

    # atomics at gang level + capture
    def atom(gangs, workers, lanes):
        b = Builder()
        x = b.data("x", "i32")
        y = b.data("y", "i32")
        c0 = b.const(0)
        c1 = b.const(1)
        g_ = b.const(100)
        with b.parallel([x, y], gangs, workers, lanes):
            with b.loop("gang", c0, g_, c1) as (gi,):
                t = b.value(f"llvm.atomicrmw add {x}, {c1} monotonic : !llvm.ptr, i32")
                with b.loop("vector", c0, b.const(40), c1) as (i,):
                    k = b.op("addi", b.op("muli", t, b.const(40)), i)
                    b.store(t, y, k, "i32")
        case(
            f"atom_{gangs}_{workers}_{lanes}",
            b.text("%x: !llvm.ptr, %y: !llvm.ptr"),
            {"x": np.zeros(1, np.int32), "y": np.zeros(4000, np.int32)},
            {},
            {"x": np.array([100], np.int32), "y": np.repeat(np.arange(100, dtype=np.int32), 40)},
        )

    for workers, lanes in ((1, 1), (1, 128), (4, 32), (8, 4), (1, 32)):
        atom(7, workers, lanes)

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
                attrs=f"accx.elements = {e} : i32",
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

    # large private arrays in scratch, dynamic length
    def scr(gangs, workers, lanes, levels, dyn):
        b = Builder()
        x = b.data("x", "i32")
        y = b.data("y", "i32")
        c0 = b.const(0)
        c1 = b.const(1)
        n = b.const(20000)
        z64 = b.const(0, "i64")
        s64 = b.const(4, "i64")
        rows = b.const(20)
        if dyn:
            bd = b.value(
                f"acc.bounds lowerbound({z64} : i64) extent(%len : i64) stride({s64} : i64)"
            )
            b.recipes["private_p"] = (
                "acc.private.recipe @private_p : !llvm.ptr init {\n^bb0(%a: !llvm.ptr):\nacc.yield %a : !llvm.ptr\n}"
            )
            p = b.value(
                f'acc.private varPtr(%null : !llvm.ptr) varType(i32) bounds({bd}) recipe(@private_p) -> !llvm.ptr {{name = "p"}}'
            )
        else:
            p = b.private("!llvm.array<20000 x i32>", "p")
        with b.parallel([x, y], gangs, workers, lanes):
            with b.loop(levels, c0, rows, c1, private=[p]) as (r,):
                with b.loop("vector" if "vector" not in levels else "seq", c0, n, c1) as (i,):
                    b.store(b.op("addi", i, r), p, i, "i32")
                with b.loop("vector" if "vector" not in levels else "seq", c0, n, c1) as (i,):
                    j = b.op("subi", b.const(19999), i)
                    k = b.op("addi", b.op("muli", r, n), i)
                    b.store(b.load(p, j, "i32"), y, k, "i32")
        E = (np.arange(20)[:, None] + np.arange(19999, -1, -1)[None]).astype(np.int32).reshape(-1)
        case(
            f"scr_{gangs}_{workers}_{lanes}_{levels}_{dyn}".replace(" ", ""),
            b.text("%len: i64, %x: !llvm.ptr, %y: !llvm.ptr"),
            {"x": np.zeros(1, np.int32), "y": E * 0},
            {"len": ("i64", 20000)},
            {"y": E},
        )

    for lv in ("gang", "gang worker", "gang vector"):
        scr(3, 4, 32, lv, False)
        scr(3, 4, 32, lv, True)
        scr(3, 1, 64, lv, True)

    # gang-private shared arrays per gang loop (small), gang-private local alloca arrays
    def loc(gangs, workers, lanes, kind):
        b = Builder()
        y = b.data("y", "i32")
        c0 = b.const(0)
        c1 = b.const(1)
        n = b.const(333)
        rows = b.const(20)
        one = b.const(1)
        p = b.private("!llvm.array<333 x i32>", "p")
        with b.parallel([y], gangs, workers, lanes):
            with b.loop("gang", c0, rows, c1, private=[p] if kind == "private" else []) as (r,):
                q = (
                    p
                    if kind == "private"
                    else b.value(f"llvm.alloca {one} x !llvm.array<333 x i32> : (i32) -> !llvm.ptr")
                )
                with b.loop("vector", c0, n, c1) as (i,):
                    b.store(b.op("addi", i, r), q, i, "i32")
                t = b.load(q, b.const(100), "i32")
                b.store(b.op("addi", t, t), q, b.const(100), "i32")
                with b.loop("worker vector", c0, n, c1) as (i,):
                    j = b.op("subi", b.const(332), i)
                    k = b.op("addi", b.op("muli", r, n), i)
                    b.store(b.load(q, j, "i32"), y, k, "i32")
        E = (np.arange(20)[:, None] + np.arange(333)[None]).astype(np.int32)
        E[:, 100] *= 2
        E = E[:, ::-1].copy().reshape(-1)
        case(
            f"loc_{gangs}_{workers}_{lanes}_{kind}",
            b.text("%y: !llvm.ptr"),
            {"y": E * 0},
            {},
            {"y": E},
        )

    for workers, lanes in ((1, 1), (1, 256), (4, 32), (8, 4), (1, 32), (3, 64)):
        loc(3, workers, lanes, "private")
        loc(3, workers, lanes, "alloca")

    # routines: vector routine called from gang and worker; seq routine with effects; global table
    def rout(gangs, workers, lanes, lv):
        b = Builder()
        x = b.data("x", "i32")
        y = b.data("y", "i32")
        c0 = b.const(0)
        c1 = b.const(1)
        n = b.const(100)
        rows = b.const(30)
        with b.parallel([x, y], gangs, workers, lanes):
            with b.loop(lv, c0, rows, c1) as (r,):
                p = b.address(x, b.op("muli", r, n), "i32")
                t = b.value(f"llvm.call @rowsum({p}, {n}) : (!llvm.ptr, i32) -> i32")
                q = b.address(y, r, "i32")
                u = b.value(f"llvm.call @put({q}, {t}) : (!llvm.ptr, i32) -> i32")
                b.store(b.op("addi", u, b.load(y, r, "i32")), y, r, "i32")
        R = Builder()
        c0 = R.const(0)
        c1 = R.const(1)
        R.recipes = b.recipes
        s = R.value(f"llvm.alloca {c1} x i32 : (i32) -> !llvm.ptr")
        R.store(c0, s, None, "i32")
        r = R.reduction(s, "i32", "add")
        with R.loop("vector", c0, "%n", c1, reduction=[r]) as (i,):
            R.add_to(r, R.load("%p", i, "i32"), "i32")
        v = R.load(s, None, "i32")
        extra = (
            "acc.routine @r0 func(@rowsum) vector\nacc.routine @r1 func(@put) seq\nllvm.mlir.global internal constant @table(7 : i32) : i32\nllvm.func @rowsum(%p: !llvm.ptr, %n: i32) -> i32 {\n"
            + "\n".join(R.lines)
            + f"\nllvm.return {v} : i32\n}}\nllvm.func @put(%p: !llvm.ptr, %v: i32) -> i32 {{\n%t = llvm.mlir.addressof @table : !llvm.ptr\n%k = llvm.load %t : !llvm.ptr -> i32\nllvm.store %v, %p : i32, !llvm.ptr\nllvm.return %k : i32\n}}"
        )
        X = rng.integers(0, 100, 3000).astype(np.int32)
        case(
            f"rout_{gangs}_{workers}_{lanes}_{lv}".replace(" ", ""),
            b.text("%x: !llvm.ptr, %y: !llvm.ptr", extra),
            {"x": X, "y": np.zeros(30, np.int32)},
            {},
            {"y": (X.reshape(30, 100).sum(1) + 7).astype(np.int32)},
        )

    for workers, lanes in ((1, 1), (1, 256), (4, 32), (8, 4), (1, 32), (3, 64)):
        rout(3, workers, lanes, "gang")
        rout(3, workers, lanes, "gang worker")

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

    # unsigned max, array reduction inside gang, firstprivate
    def misc(gangs, workers, lanes):
        b = Builder()
        x = b.data("x", "i32")
        y = b.data("y", "i32")
        m = b.data("m", "i32")
        c0 = b.const(0)
        c1 = b.const(1)
        n = b.const(1000)
        one = b.const(1)
        rows = b.const(5)
        fp = b.value(f"llvm.alloca {one} x i32 : (i32) -> !llvm.ptr", "fpv")
        b.store("%k", fp, None, "i32")
        b.recipes["fp"] = (
            "acc.firstprivate.recipe @fp : !llvm.ptr init {\n^bb0(%a: !llvm.ptr):\nacc.yield %a : !llvm.ptr\n} copy {\n^bb0(%a: !llvm.ptr, %b: !llvm.ptr):\nacc.yield\n}"
        )
        f = b.value(
            f'acc.firstprivate varPtr({fp} : !llvm.ptr) varType(i32) recipe(@fp) -> !llvm.ptr {{name = "k"}}'
        )
        r = b.reduction(m, "i32", "max", "m", unsigned=True)
        p = b.private("!llvm.array<8 x i32>", "h")
        with b.parallel([x, y, m], gangs, workers, lanes, firstprivate=[f]):
            b.add_to(f, c1, "i32")
            with b.loop("gang", c0, rows, c1, reduction=[r], private=[p]) as (q,):
                with b.for_(c0, b.const(8), c1) as k:
                    b.store(b.load(f, None, "i32"), p, k, "i32")
                h = b.reduction(p, "!llvm.array<8 x i32>", "add", "h")
                with b.loop("vector", c0, n, c1, reduction=[h]) as (i,):
                    v = b.load(x, i, "i32")
                    a = b.address(h, b.op("andi", v, b.const(7)), "i32")
                    b.add_to(a, q, "i32")
                with b.loop("vector", c0, b.const(8), c1) as (i,):
                    b.store(
                        b.load(p, i, "i32"), y, b.op("addi", b.op("muli", q, b.const(8)), i), "i32"
                    )
                z = b.load(p, c0, "i32")
                b.add_to(r, b.op("subi", c0, z), "i32", "maxui")
        X = rng.integers(0, 100, 1000).astype(np.int32)
        H = np.bincount(X & 7, minlength=8)
        Y = (H[None] * np.arange(5)[:, None] + 43).astype(np.int32)
        M = max((-Y[:, 0]).astype(np.uint32).max(), 3)
        case(
            f"misc_{gangs}_{workers}_{lanes}",
            b.text("%k: i32, %x: !llvm.ptr, %y: !llvm.ptr, %m: !llvm.ptr"),
            {"x": X, "y": np.zeros(40, np.int32), "m": np.array([3], np.int32)},
            {"k": ("i32", 42)},
            {"y": Y.reshape(-1), "m": np.array([M], np.uint32)},
        )

    for workers, lanes in ((1, 1), (1, 256), (4, 32), (8, 4), (1, 32), (3, 64)):
        misc(3, workers, lanes)

    # A pointer that only the leader knows reaches the other threads: chosen by a captured ticket.
    def pointer(gangs, workers, lanes):
        b = Builder()
        x, y, t = b.data("x", "i32"), b.data("y", "i32"), b.data("t", "i32")
        zero, one, n = b.const(0), b.const(1), b.const(40)
        with b.parallel([x, y, t], gangs, workers, lanes), b.loop("gang", zero, n, one) as (i,):
            row = b.address(y, b.op("muli", i, n), "i32")
            got = b.value(f"llvm.call @ticket({t}, {row}) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr")
            with b.loop("vector", zero, n, one) as (j,):
                b.store(b.load(x, j, "i32"), got, j, "i32")
        ticket = (
            "llvm.func @ticket(%t: !llvm.ptr, %row: !llvm.ptr) -> !llvm.ptr {\n"
            "%one = arith.constant 1 : i32\n"
            "%old = llvm.atomicrmw add %t, %one monotonic : !llvm.ptr, i32\n"
            "llvm.return %row : !llvm.ptr\n}"
        )
        X = rng.integers(0, 100, 40).astype(np.int32)
        case(
            f"pointer_{gangs}_{workers}_{lanes}",
            b.text("%x: !llvm.ptr, %y: !llvm.ptr, %t: !llvm.ptr", ticket),
            {"x": X, "y": np.zeros(1600, np.int32), "t": np.zeros(1, np.int32)},
            {},
            {"y": np.tile(X, 40), "t": np.array([40], np.int32)},
        )

    for workers, lanes in ((1, 1), (1, 256), (4, 32), (8, 4), (1, 32)):
        pointer(3, workers, lanes)

    # One acc.reduction in the clauses of the construct and of its loops; inner loops that name the
    # variable itself rather than the copy of the loop around them.
    def clauses(gangs, workers, lanes):
        b = Builder()
        x, s, t = b.data("x", "i32"), b.data("s", "i32"), b.data("t", "i32")
        zero, one, n = b.const(0), b.const(1), b.const(100)
        r = b.reduction(s, "i32", "add")
        with b.parallel([x, s, t], gangs, workers, lanes, reduction=[r]):
            with b.loop("gang vector", zero, n, one, reduction=[r]) as (i,):
                b.add_to(r, b.load(x, i, "i32"), "i32")
            b.add_to(r, one, "i32")
            with b.loop("vector", zero, n, one, reduction=[r]) as (i,):
                b.add_to(r, i, "i32")
            outer = b.reduction(t, "i32", "add", "t")
            with b.loop("gang worker", zero, n, one, reduction=[outer]) as (i,):
                inner = b.reduction(t, "i32", "add", "t")
                with b.loop("vector", zero, n, one, reduction=[inner]) as (j,):
                    b.add_to(inner, j, "i32")
                innermost = b.reduction(t, "i32", "add", "t")
                with b.loop("seq", zero, n, one, reduction=[innermost]) as (j,):
                    b.add_to(innermost, one, "i32")
                b.add_to(outer, i, "i32")
        X = rng.integers(0, 100, 100).astype(np.int32)
        case(
            f"clauses_{gangs}_{workers}_{lanes}",
            b.text("%x: !llvm.ptr, %s: !llvm.ptr, %t: !llvm.ptr"),
            {"x": X, "s": np.array([5], np.int32), "t": np.array([6], np.int32)},
            {},
            {
                "s": np.array([5 + X.sum() + gangs * (1 + 4950)], np.int32),
                "t": np.array([6 + 100 * 4950 + 100 * 100 + 4950], np.int32),
            },
        )

    for gangs in (1, 3):
        for workers, lanes in ((1, 1), (1, 256), (4, 32), (8, 4), (1, 32), (3, 64)):
            clauses(gangs, workers, lanes)
    return found
