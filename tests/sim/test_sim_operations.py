"""Operations against Python's integers, C's library, and per-thread loops written out."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from accopt.runtime.sim import atomics
from accopt.runtime.sim.mathlib import math_function
from sim_kernels import TID, Array, Bench, at, shared

WIDTHS = (8, 16, 32, 64)
EDGES = (0, 1, 2, 3, 7, 31, -1, -2, -3, 100)


def wrap(value: int, bits: int) -> int:
    """As a signed integer of so many bits."""
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def u(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def truncated(a: int, b: int) -> int:
    q = abs(a) // abs(b)
    return q if (a < 0) == (b < 0) else -q


Reference = Callable[[int, int, int], int]
BINARY: dict[str, Reference] = {
    "arith.addi": lambda a, b, w: a + b,
    "arith.subi": lambda a, b, w: a - b,
    "arith.muli": lambda a, b, w: a * b,
    "arith.andi": lambda a, b, w: a & b,
    "arith.ori": lambda a, b, w: a | b,
    "arith.xori": lambda a, b, w: a ^ b,
    "arith.divsi": lambda a, b, w: truncated(a, b),
    "arith.remsi": lambda a, b, w: a - b * truncated(a, b),
    "arith.divui": lambda a, b, w: u(a, w) // u(b, w),
    "arith.remui": lambda a, b, w: u(a, w) % u(b, w),
    "arith.ceildivsi": lambda a, b, w: -((-a) // b),
    "arith.floordivsi": lambda a, b, w: a // b,
    "arith.minsi": lambda a, b, w: min(a, b),
    "arith.maxsi": lambda a, b, w: max(a, b),
    "arith.minui": lambda a, b, w: min(u(a, w), u(b, w)),
    "arith.maxui": lambda a, b, w: max(u(a, w), u(b, w)),
    "arith.shli": lambda a, b, w: a << b,
    "arith.shrsi": lambda a, b, w: a >> b,
    "arith.shrui": lambda a, b, w: u(a, w) >> b,
}


def operands(bits: int, second: range | None = None) -> tuple[Array, Array]:
    """Random pairs and all pairs of edges."""
    rng = np.random.default_rng(bits)
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    edges = [wrap(e, bits) for e in (*EDGES, low, high, low + 1)]
    a = [x for x in edges for _ in edges] + rng.integers(low, high, 87, endpoint=True).tolist()
    b = edges * len(edges) + rng.integers(low, high, 87, endpoint=True).tolist()
    if second is not None:
        b = [second.start + abs(v) % len(second) for v in b]
    dtype = np.dtype(f"i{bits // 8}")
    return np.array(a, dtype), np.array(b, dtype)


def on_two(op: str, bits: int, result: str = "") -> Bench:
    type = f"i{bits}"
    body = f"""{TID}
    {at("%p", "%x", "%gid", type)}
    {at("%q", "%y", "%gid", type)}
    {at("%r", "%z", "%gid", result or type)}
    %a = llvm.load %p : !llvm.ptr -> {type}
    %b2 = llvm.load %q : !llvm.ptr -> {type}
    {op}
    llvm.store %v, %r : {result or type}, !llvm.ptr"""
    return Bench("%x: !llvm.ptr, %y: !llvm.ptr, %z: !llvm.ptr", body)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("op", BINARY)
def test_integers(op: str, bits: int) -> None:
    a, b = operands(bits, range(bits) if op.startswith("arith.sh") else None)
    if "div" in op or "rem" in op:
        low = -(1 << (bits - 1))
        keep = (b != 0) & ~((a == low) & (b == -1))
        a, b = a[keep], b[keep]
    bench = on_two(f"%v = {op} %a, %b2 : i{bits}", bits)
    out = bench.run(a, b, np.zeros_like(a), block=1, grid=len(a))[2]
    want = [wrap(BINARY[op](int(x), int(y), bits), bits) for x, y in zip(a, b, strict=True)]
    assert out.tolist() == want


COMPARISONS: dict[str, Reference] = {
    "eq": lambda a, b, w: a == b,
    "ne": lambda a, b, w: a != b,
    "slt": lambda a, b, w: a < b,
    "sle": lambda a, b, w: a <= b,
    "sgt": lambda a, b, w: a > b,
    "sge": lambda a, b, w: a >= b,
    "ult": lambda a, b, w: u(a, w) < u(b, w),
    "ule": lambda a, b, w: u(a, w) <= u(b, w),
    "ugt": lambda a, b, w: u(a, w) > u(b, w),
    "uge": lambda a, b, w: u(a, w) >= u(b, w),
}


@pytest.mark.parametrize("bits", (8, 32, 64))
@pytest.mark.parametrize("predicate", COMPARISONS)
def test_comparisons(predicate: str, bits: int) -> None:
    a, b = operands(bits)
    bench = on_two(
        f"%c = arith.cmpi {predicate}, %a, %b2 : i{bits}\n%v = arith.extui %c : i1 to i32",
        bits,
        "i32",
    )
    out = bench.run(a, b, np.zeros(len(a), np.int32), block=1, grid=len(a))[2]
    compare = COMPARISONS[predicate]
    assert out.tolist() == [int(compare(int(x), int(y), bits)) for x, y in zip(a, b, strict=True)]


FLOAT_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "oeq": lambda a, b: a == b,
    "one": lambda a, b: a < b or a > b,
    "olt": lambda a, b: a < b,
    "oge": lambda a, b: a >= b,
    "ord": lambda a, b: not (math.isnan(a) or math.isnan(b)),
    "ueq": lambda a, b: not (a < b or a > b),
    "une": lambda a, b: a != b,
    "ult": lambda a, b: not a >= b,
    "ugt": lambda a, b: not a <= b,
    "ule": lambda a, b: not a > b,
    "uge": lambda a, b: not a < b,
    "uno": lambda a, b: math.isnan(a) or math.isnan(b),
    "true": lambda a, b: True,
    "false": lambda a, b: False,
}
VALUES = (0.0, -0.0, 1.0, -1.5, math.inf, -math.inf, math.nan)


def one_float(op: str, values: Array, result: str, out: Array) -> Array:
    """Applies `op`, which defines %v of type `result` from %a, to every value."""
    type = f"f{values.dtype.itemsize * 8}"
    body = f"""{TID}
    {at("%p", "%x", "%gid", type)}
    {at("%r", "%z", "%gid", result)}
    %a = llvm.load %p : !llvm.ptr -> {type}
    {op}
    llvm.store %v, %r : {result}, !llvm.ptr"""
    bench = Bench("%x: !llvm.ptr, %z: !llvm.ptr", body)
    return bench.run(values, out, block=1, grid=len(values))[1]


@pytest.mark.parametrize("predicate", FLOAT_COMPARISONS)
def test_float_comparisons(predicate: str) -> None:
    a = np.array([x for x in VALUES for _ in VALUES])
    b = np.array(VALUES * len(VALUES))
    text = f"""{TID}
    {at("%p", "%x", "%gid", "f64")}
    {at("%q", "%y", "%gid", "f64")}
    {at("%r", "%z", "%gid", "i8")}
    %a = llvm.load %p : !llvm.ptr -> f64
    %b2 = llvm.load %q : !llvm.ptr -> f64
    %c = arith.cmpf {predicate}, %a, %b2 : f64
    %v = arith.extui %c : i1 to i8
    llvm.store %v, %r : i8, !llvm.ptr"""
    bench = Bench("%x: !llvm.ptr, %y: !llvm.ptr, %z: !llvm.ptr", text)
    out = bench.run(a, b, np.zeros(len(a), np.int8), block=1, grid=len(a))[2]
    compare = FLOAT_COMPARISONS[predicate]
    assert out.tolist() == [int(compare(x, y)) for x, y in zip(a, b, strict=True)]


def test_conversions_saturate() -> None:
    values = np.array([0.0, 1.9, -1.9, 3e9, -3e9, 1e20, -1e20, math.inf, -math.inf, math.nan])
    out = one_float("%v = arith.fptosi %a : f64 to i32", values, "i32", np.zeros(10, np.int32))
    top, low = 2**31 - 1, -(2**31)
    assert out.tolist() == [0, 1, -1, top, low, top, low, top, low, 0]
    out = one_float("%v = arith.fptoui %a : f64 to i32", values, "i32", np.zeros(10, np.int32))
    most = 2**32 - 1
    assert out.view(np.uint32).tolist() == [0, 1, 0, 3 * 10**9, 0, most, 0, most, 0, 0]
    out = one_float("%v = arith.fptosi %a : f64 to i64", values, "i64", np.zeros(10, np.int64))
    assert out.tolist()[3:9] == [3 * 10**9, -3 * 10**9, *(2**63 - 1, -(2**63)) * 2]


def test_float32_arithmetic_is_in_float32() -> None:
    values = np.array([0.1, 3.3, 1e38, 16777217.0], np.float32)
    op = "%t2 = arith.mulf %a, %a : f32\n%v = arith.addf %t2, %a : f32"
    out = one_float(op, values, "f32", np.zeros(4, np.float32))
    with np.errstate(over="ignore"):
        assert np.array_equal(out, values * values + values)


@pytest.mark.parametrize(
    ("op", "reference"),
    [
        ("math.ctpop", lambda a, w: u(a, w).bit_count()),
        ("math.ctlz", lambda a, w: w - u(a, w).bit_length()),
        ("math.cttz", lambda a, w: w if a == 0 else (a & -a).bit_length() - 1),
    ],
)
@pytest.mark.parametrize("bits", WIDTHS)
def test_bit_counts(op: str, reference: Callable[[int, int], int], bits: int) -> None:
    a, b = operands(bits)
    bench = on_two(f"%v = {op} %a : i{bits}", bits)
    out = bench.run(a, b, np.zeros_like(a), block=1, grid=len(a))[2]
    assert out.tolist() == [wrap(reference(int(x), bits), bits) for x in a]


ONE_ARGUMENT = (
    *("acos", "acosh", "asin", "asinh", "atan", "atanh", "cbrt", "ceil", "cos", "cosh", "erf"),
    *("erfc", "exp", "exp2", "expm1", "fabs", "floor", "lgamma", "log", "log10", "log1p", "log2"),
    *(
        "logb",
        "nearbyint",
        "rint",
        "round",
        "sin",
        "sinh",
        "sqrt",
        "tan",
        "tanh",
        "tgamma",
        "trunc",
    ),
)


@pytest.mark.parametrize("name", ONE_ARGUMENT)
def test_math_library(name: str) -> None:
    """Against the C library, to a few units in the last place."""
    library = ctypes.CDLL("libm.so.6")
    function = getattr(library, name)
    function.restype, function.argtypes = ctypes.c_double, (ctypes.c_double,)
    values = np.array([0.3, 0.75, 1.0, 2.5, 3.5, 7.25, -0.5, -1.5, -2.5])
    found = math_function(name)
    assert found is not None
    with np.errstate(all="ignore"):
        out = found(values)
        single = math_function(name + "f")
        assert single is not None
        narrow = single(values.astype(np.float32))
    want = [function(v) for v in values]
    assert np.allclose(out, want, rtol=1e-14, atol=1e-300, equal_nan=True)
    assert narrow.dtype == np.float32
    assert np.allclose(narrow, want, rtol=2e-6, atol=1e-30, equal_nan=True)


def serial(kind: str, memory: list[int], index: Array, values: Array) -> list[int]:
    """The updates one after the other, on 32-bit integers."""
    update: dict[str, Callable[[int, int], int]] = {
        "add": lambda a, b: wrap(a + b, 32),
        "sub": lambda a, b: wrap(a - b, 32),
        "and": lambda a, b: a & b,
        "or": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "nand": lambda a, b: ~(a & b),
        "max": max,
        "min": min,
        "umax": lambda a, b: wrap(max(u(a, 32), u(b, 32)), 32),
        "umin": lambda a, b: wrap(min(u(a, 32), u(b, 32)), 32),
        "xchg": lambda a, b: b,
        "uinc_wrap": lambda a, b: 0 if u(a, 32) >= u(b, 32) else a + 1,
        "udec_wrap": lambda a, b: b if a == 0 or u(a, 32) > u(b, 32) else wrap(a - 1, 32),
    }
    out = []
    for place, value in zip(index.tolist(), values.tolist(), strict=True):
        out.append(memory[place])
        memory[place] = update[kind](memory[place], value)
    return out


@pytest.mark.parametrize("kind", sorted(k for k in atomics.KINDS if not k.startswith("f")))
@pytest.mark.parametrize("places", [1, 3, 50, 1000])
@pytest.mark.parametrize("wanted", [True, False])
def test_atomics(kind: str, places: int, wanted: bool) -> None:
    rng = np.random.default_rng(places)
    index = rng.integers(0, places, 200)
    values = rng.integers(-(2**31), 2**31, 200).astype(np.int32)
    view = rng.integers(-5, 5, places).astype(np.int32)
    expected = view.tolist()
    results = serial(kind, expected, index, values)
    with np.errstate(all="ignore"):
        out = atomics.update(kind, view, index, values, wanted)
    assert view.tolist() == expected
    assert (out.tolist() if out is not None else results) == results
    assert (out is None) <= (not wanted)


def test_compare_exchange_one_after_the_other() -> None:
    view = np.array([0, 5], np.int32)
    index = np.array([0, 0, 1, 0, 1])
    expected = np.array([0, 0, 5, 7, 9], np.int32)
    new = np.array([7, 8, 9, 1, 2], np.int32)
    old, done = atomics.compare_exchange(view, index, expected, new)
    assert old.tolist() == [0, 7, 5, 7, 9]
    assert done.tolist() == [True, False, True, True, True]
    assert view.tolist() == [1, 2]


def lanes(op: str, block: int, clamp: int = 31, mask_type: str = "i32") -> list[int]:
    body = f"""{TID}
    %all = arith.constant -1 : i32
    %clamp = arith.constant {clamp} : i32
    %true = arith.constant true
    %c3 = arith.constant 3 : i32
    %c1 = arith.constant 1 : i32
    %odd = arith.andi %tid, %c1 : i32
    %is_odd = arith.cmpi eq, %odd, %c1 : i32
    {op}
    {at("%p", "%x", "%tid", mask_type)}
    llvm.store %v, %p : {mask_type}, !llvm.ptr"""
    bench = Bench("%x: !llvm.ptr", body)
    return bench.run(np.zeros(block, np.int32), block=block)[0].tolist()


@pytest.mark.parametrize("block", [32, 64, 48])
def test_shuffles(block: int) -> None:
    def want(source: Callable[[int], int]) -> list[int]:
        out = []
        for t in range(block):
            s = source(t % 32)
            inside = 0 <= s < 32 and t // 32 * 32 + s < block
            out.append(t // 32 * 32 + s if inside else t)
        return out

    shfl = "%v = nvvm.shfl.sync {} %all, %tid, %c3, %clamp : i32 -> i32"
    assert lanes(shfl.format("bfly"), block) == want(lambda t: t ^ 3)
    assert lanes(shfl.format("down"), block) == want(lambda t: t + 3)
    assert lanes(shfl.format("up"), block, clamp=0) == want(lambda t: t - 3)
    assert lanes(shfl.format("idx"), block) == want(lambda t: 3)


def test_shuffles_in_segments() -> None:
    """The upper bits of the clamp split the warp: here in groups of 8."""
    clamp = ((32 - 8) << 8) | 31
    out = lanes("%v = nvvm.shfl.sync down %all, %tid, %c3, %clamp : i32 -> i32", 32, clamp)
    assert out == [t + 3 if t % 8 + 3 < 8 else t for t in range(32)]
    out = lanes("%v = nvvm.shfl.sync idx %all, %tid, %c3, %clamp : i32 -> i32", 32, clamp)
    assert out == [t // 8 * 8 + 3 for t in range(32)]


def test_votes_and_reductions() -> None:
    ballot = "%v = nvvm.vote.sync ballot %all, %is_odd -> i32"
    assert [u(v, 32) for v in lanes(ballot, 64)] == [0xAAAAAAAA] * 64
    redux = "%v = nvvm.redux.sync {} %tid, %all : i32 -> i32"
    assert lanes(redux.format("add"), 64) == [sum(range(32))] * 32 + [sum(range(32, 64))] * 32
    assert lanes(redux.format("max"), 64) == [31] * 32 + [63] * 32
    assert lanes(redux.format("umin"), 64) == [0] * 32 + [32] * 32


def test_votes_and_reductions_of_a_part_of_a_warp() -> None:
    """Lanes that name one another in their masks: here those of groups of 8."""
    mask = """%low = arith.constant 255 : i32
    %eights = arith.constant 24 : i32
    %first_lane = arith.andi %tid, %eights : i32
    %part = arith.shli %low, %first_lane : i32
    """
    redux = mask + "%v = nvvm.redux.sync {} %tid, %part : i32 -> i32"
    first = [t // 8 * 8 for t in range(64)]
    assert lanes(redux.format("add"), 64) == [8 * t + 28 for t in first]
    assert lanes(redux.format("umax"), 64) == [t + 7 for t in first]
    ballot = mask + "%v = nvvm.vote.sync ballot %part, %is_odd -> i32"
    assert [u(v, 32) for v in lanes(ballot, 64)] == [0xAA << t % 32 for t in first]


def load_fragment(name: str, array: str, row: str, column: str, width: int) -> str:
    """Loads `%name`, the element of a matrix with rows of `width` elements."""
    return f"""
    %{name}_width = arith.constant {width} : i32
    %{name}_row = arith.muli {row}, %{name}_width : i32
    %{name}_at = arith.addi %{name}_row, {column} : i32
    {at(f"%{name}_p", array, f"%{name}_at", "f64")}
    %{name} = llvm.load %{name}_p : !llvm.ptr -> f64"""


def matrix_kernel(m: int, k: int) -> str:
    """C += A B by one instruction of a warp: every lane loads its shares, and stores that of C."""
    text = [f"{TID}", "%c2 = arith.constant 2 : i32", "%c4 = arith.constant 4 : i32"]
    text += ["%g = arith.divui %tid, %c4 : i32", "%part = arith.remui %tid, %c4 : i32"]
    text += ["%column = arith.muli %part, %c2 : i32"]
    for h in range(m // 8):
        text += [f"%h{h} = arith.constant {8 * h} : i32", f"%row{h} = arith.addi %g, %h{h} : i32"]
    for q in range(k // 4):
        text += [f"%q{q} = arith.constant {4 * q} : i32", f"%k{q} = arith.addi %part, %q{q} : i32"]
        text += [load_fragment(f"b{q}", "%y", f"%k{q}", "%g", 8)]
        text += [load_fragment(f"a{q}_{h}", "%x", f"%row{h}", f"%k{q}", k) for h in range(m // 8)]
    text += ["%one = arith.constant 1 : i32", "%next = arith.addi %column, %one : i32"]
    shares = [(h, n) for h in range(m // 8) for n in range(2)]
    for h, n in shares:
        text += [load_fragment(f"c{h}_{n}", "%z", f"%row{h}", ("%column", "%next")[n], 8)]
    a = ", ".join(f"%a{q}_{h}" for q in range(k // 4) for h in range(m // 8))
    b = ", ".join(f"%b{q}" for q in range(k // 4))
    c = ", ".join(f"%c{h}_{n}" for h, n in shares)
    struct = f"!llvm.struct<({', '.join(['f64'] * len(shares))})>"
    text += [
        f"%sums = nvvm.mma.sync A[{a}] B[{b}] C[{c}] {{layoutA = #nvvm.mma_layout<row>, layoutB ="
        f" #nvvm.mma_layout<col>, shape = #nvvm.shape<m = {m}, n = 8, k = {k}>}}"
        f" : (f64, f64, f64) -> {struct}"
    ]
    for position, (h, n) in enumerate(shares):
        text += [f"%d{h}_{n} = llvm.extractvalue %sums[{position}] : {struct}"]
        text += [f"llvm.store %d{h}_{n}, %c{h}_{n}_p : f64, !llvm.ptr"]
    return "\n    ".join(text)


@pytest.mark.parametrize(("m", "k"), [(8, 4), (16, 4), (16, 8), (16, 16)])
def test_matrix_products(m: int, k: int) -> None:
    """Terms are added in their order, each with one rounding."""
    random = np.random.default_rng(m + k)

    def matrix(*shape: int) -> Array:
        return random.integers(-(1 << 20), 1 << 20, shape) * 2.0 ** random.integers(-30, 30, shape)

    a, b, c = matrix(m, k), matrix(k, 8), matrix(m, 8)
    bench = Bench("%x: !llvm.ptr, %y: !llvm.ptr, %z: !llvm.ptr", matrix_kernel(m, k))
    _, _, found = bench.run(a, b, c, block=32)
    for i in range(m):
        for j in range(8):
            total = Fraction(c[i, j])
            for q in range(k):
                total = Fraction(float(total + Fraction(a[i, q]) * Fraction(b[q, j])))
            assert found[i, j] == float(total)


def test_dimensions() -> None:
    """Threads are numbered x first, and blocks too."""
    names = [("thread_id", "x"), ("thread_id", "y"), ("thread_id", "z"),
             ("block_id", "x"), ("block_id", "y"), ("block_id", "z")]  # fmt: skip
    lines = [f'%i{n} = "gpu.{op}"() <{{dimension = #gpu<dim {d}>}}> : () -> index'
             for n, (op, d) in enumerate(names)]  # fmt: skip
    lines += [f"%v{n} = arith.index_cast %i{n} : index to i64" for n in range(6)]
    lines.append("%k = arith.constant 10 : i64")
    lines.append("%code0 = arith.addi %v0, %v0 : i64")
    lines.append("%s0 = arith.subi %code0, %v0 : i64")
    for n in range(1, 6):
        lines.append(f"%m{n} = arith.muli %s{n - 1}, %k : i64")
        lines.append(f"%s{n} = arith.addi %m{n}, %v{n} : i64")
    lines.append("%one = arith.constant 1 : i32")
    lines.append("%slot = llvm.atomicrmw add %n, %one monotonic : !llvm.ptr, i32")
    lines.append(at("%p", "%x", "%slot", "i64"))
    lines.append("llvm.store %s5, %p : i64, !llvm.ptr")
    bench = Bench("%x: !llvm.ptr, %n: !llvm.ptr", "\n".join(lines), batch_threads=32)
    grid, block = (3, 2, 2), (4, 3, 2)
    out, _ = bench.run(np.zeros(24 * 12, np.int64), np.zeros(1, np.int32), grid=grid, block=block)
    want = [
        int(f"{x}{y}{z}{bx}{by}{bz}")
        for bz in range(2) for by in range(2) for bx in range(3)
        for z in range(2) for y in range(3) for x in range(4)
    ]  # fmt: skip
    assert out.tolist() == want


def test_shared_memory_belongs_to_a_block() -> None:
    body = f"""{TID}
    %c0 = arith.constant 0 : i32
    %s = llvm.mlir.addressof @s : !llvm.ptr<3>
    %first = arith.cmpi eq, %tid, %c0 : i32
    scf.if %first {{
      llvm.store %bid, %s : i32, !llvm.ptr<3>
    }}
    "gpu.barrier"() : () -> ()
    %v = llvm.load %s : !llvm.ptr<3> -> i32
    {at("%p", "%x", "%gid", "i32")}
    llvm.store %v, %p : i32, !llvm.ptr"""
    bench = Bench("%x: !llvm.ptr", body, globals=shared("s", 1, "i32"), batch_threads=64)
    (out,) = bench.run(np.zeros(320, np.int32), block=32, grid=10)
    assert out.tolist() == [g // 32 for g in range(320)]
