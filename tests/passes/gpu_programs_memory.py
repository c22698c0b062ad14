# ruff: noqa: E501, RUF059, SIM117
"""Private copies, atomics, routines, and values that only one thread has."""

from __future__ import annotations

import numpy as np
import recipe_text
from gpu_ir import Builder
from gpu_program import Cases


def memory(found: Cases) -> None:
    """Adds its programs to `found`."""
    case, rng = found.add, found.rng

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
            b.recipes["private_p"] = recipe_text.private("private_p", "i32")
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
        b.recipes["fp"] = recipe_text.firstprivate("fp", "i32")
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
