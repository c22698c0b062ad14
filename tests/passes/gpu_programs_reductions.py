# ruff: noqa: SIM108, SIM117
"""Reductions in every position."""

from __future__ import annotations

import numpy as np
from gpu_ir import Builder
from gpu_program import NPT, Cases


def reductions(found: Cases) -> None:
    """Adds its programs to `found`."""
    case, rng = found.add, found.rng

    # csr-like row sums, reduction private scalar at worker or gang level
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

    # reductions over grid
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
                levels,
                c0,
                "%n",
                c1,
                reduction=[r],
                attrs=f"accx.schedule = #accx.schedule<elements = {e}>",
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
