"""
The reduction matrix: `python -m benchmarks.reduction_matrix`.

Every position of Table 5.2 of R. Xu, "Optimizing the Performance of Directive-based Programming Model
for GPGPUs" (gang, worker, vector, gang worker, worker vector, gang worker vector in nested loops and on
one loop), with every operator of OpenACC, on int, float and double. The OpenACC C is generated, one
file for each type; the results are compared with NumPy's. On a GPU (`--target=nvptx`) the table shows
microseconds of a call on data already on the device; elsewhere, and with `--small`, only whether the
result is right.

The nest is `for k` (gang) `for j` (worker) `for i` (vector) over `a[nk][nj][ni]`. Loops that do not reduce
do work of their own (`out`), whose result is also checked. Reduction variables start from a value other
than the identity, which must be counted exactly once.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from accopt.compiler.api import Program

Array = NDArray[Any]
SAMPLES = 11
SMALL = (5, 7, 67)
FULL = (61, 67, 4099)


@dataclass(frozen=True)
class Operator:
    """An operator: its form in C, its reduction in NumPy, and its start value."""

    name: str
    clause: str
    expression: str
    reduce: Callable[[Array, tuple[int, ...] | None], Any]
    start: int
    integers_only: bool = False

    def apply(self, type_name: str) -> str:
        """The C expression that combines the reduction variable `s` with `v`."""
        suffix = "f" if type_name == "float" else ""
        if self.clause in ("max", "min"):
            if type_name != "int":
                return f"f{self.clause}{suffix}(s, v)"
            sign = ">" if self.clause == "max" else "<"
            return f"s {sign} v ? s : v"
        return self.expression


def _fold(ufunc: Any) -> Callable[[Array, tuple[int, ...] | None], Any]:
    """A reduction in the array's own type, so that int products wrap as in C."""
    logical = ufunc in (np.logical_and, np.logical_or)
    return lambda a, axes: ufunc.reduce(
        a, axis=axes, dtype=np.bool_ if logical else a.dtype
    ).astype(a.dtype)


OPERATORS = (
    Operator("add", "+", "s + v", _fold(np.add), 3),
    Operator("mul", "*", "s * v", _fold(np.multiply), 3),
    Operator("max", "max", "", _fold(np.maximum), -2),
    Operator("min", "min", "", _fold(np.minimum), 2),
    Operator("and", "&", "s & v", _fold(np.bitwise_and), -17, True),
    Operator("or", "|", "s | v", _fold(np.bitwise_or), 8, True),
    Operator("xor", "^", "s ^ v", _fold(np.bitwise_xor), 5, True),
    Operator("land", "&&", "s && v", _fold(np.logical_and), 2),
    Operator("lor", "||", "s || v", _fold(np.logical_or), 0),
)


@dataclass(frozen=True)
class Position:
    """
    The position of a reduction in the nest. `inputs`: the subscripts of `a` that take part; `axes`: those
    of them that are reduced; `body`: the C of the nest, with `{op}` its clause and `{update}` the
    combination.
    """

    name: str
    inputs: tuple[slice | int, ...]
    axes: tuple[int, ...] | None
    body: str
    writes_out: bool

    @property
    def scalar(self) -> bool:
        """Whether the whole nest has one result."""
        return self.axes is None


_ALL = slice(None)
_DATA = "copyin(a[0:nk*nj*ni]) copy(out[0:nk*nj*ni], result[0:nk*nj])"
_COPY = """#pragma acc loop vector
            for (int i = 0; i < ni; i++)
                out[(k * nj + j) * ni + i] = a[(k * nj + j) * ni + i] + 1;"""

POSITIONS = (
    Position(
        "gang",
        (_ALL, 0, 0),
        None,
        f"""    T s = *result;
#pragma acc parallel loop gang reduction({{op}}:s) {_DATA}
    for (int k = 0; k < nk; k++) {{{{
#pragma acc loop worker
        for (int j = 0; j < nj; j++) {{{{
{_COPY}
        }}}}
        T v = a[k * nj * ni];
        s = {{update}};
    }}}}
    *result = s;
""",
        True,
    ),
    Position(
        "worker",
        (_ALL, _ALL, 0),
        (1,),
        f"""#pragma acc parallel loop gang {_DATA}
    for (int k = 0; k < nk; k++) {{{{
        T s = result[k];
#pragma acc loop worker reduction({{op}}:s)
        for (int j = 0; j < nj; j++) {{{{
{_COPY}
            T v = a[(k * nj + j) * ni];
            s = {{update}};
        }}}}
        result[k] = s;
    }}}}
""",
        True,
    ),
    Position(
        "vector",
        (_ALL, _ALL, _ALL),
        (2,),
        f"""#pragma acc parallel loop gang {_DATA}
    for (int k = 0; k < nk; k++) {{{{
#pragma acc loop worker
        for (int j = 0; j < nj; j++) {{{{
            T s = result[k * nj + j];
#pragma acc loop vector reduction({{op}}:s)
            for (int i = 0; i < ni; i++) {{{{
                T v = a[(k * nj + j) * ni + i];
                s = {{update}};
            }}}}
            result[k * nj + j] = s;
        }}}}
    }}}}
""",
        False,
    ),
    Position(
        "gang worker",
        (_ALL, _ALL, 0),
        None,
        f"""    T s = *result;
#pragma acc parallel loop gang reduction({{op}}:s) {_DATA}
    for (int k = 0; k < nk; k++) {{{{
#pragma acc loop worker reduction({{op}}:s)
        for (int j = 0; j < nj; j++) {{{{
{_COPY}
            T v = a[(k * nj + j) * ni];
            s = {{update}};
        }}}}
    }}}}
    *result = s;
""",
        True,
    ),
    Position(
        "worker vector",
        (_ALL, _ALL, _ALL),
        (1, 2),
        f"""#pragma acc parallel loop gang {_DATA}
    for (int k = 0; k < nk; k++) {{{{
        T s = result[k];
#pragma acc loop worker reduction({{op}}:s)
        for (int j = 0; j < nj; j++) {{{{
#pragma acc loop vector reduction({{op}}:s)
            for (int i = 0; i < ni; i++) {{{{
                T v = a[(k * nj + j) * ni + i];
                s = {{update}};
            }}}}
        }}}}
        result[k] = s;
    }}}}
""",
        False,
    ),
    Position(
        "gang worker vector",
        (_ALL, _ALL, _ALL),
        None,
        f"""    T s = *result;
#pragma acc parallel loop gang reduction({{op}}:s) {_DATA}
    for (int k = 0; k < nk; k++) {{{{
#pragma acc loop worker reduction({{op}}:s)
        for (int j = 0; j < nj; j++) {{{{
#pragma acc loop vector reduction({{op}}:s)
            for (int i = 0; i < ni; i++) {{{{
                T v = a[(k * nj + j) * ni + i];
                s = {{update}};
            }}}}
        }}}}
    }}}}
    *result = s;
""",
        False,
    ),
    Position(
        "same line gang worker vector",
        (_ALL, _ALL, _ALL),
        None,
        f"""    T s = *result;
#pragma acc parallel loop gang worker vector reduction({{op}}:s) {_DATA}
    for (int i = 0; i < nk * nj * ni; i++) {{{{
        T v = a[i];
        s = {{update}};
    }}}}
    *result = s;
""",
        False,
    ),
)


def _factors(rng: np.random.Generator, shape: tuple[int, int, int], dtype: type) -> Array:
    """Ones except at some places in every row, so that products stay in range and nearly exact."""
    if dtype is np.int32:
        return rng.choice([1, 1, 3, -1], shape).astype(dtype)
    some = np.array([2, 0.5, 1.25, 0.8, -1])
    values = np.ones(shape, dtype)
    values[:, :, 0] = np.where(
        rng.random(shape[:2]) < 0.2, rng.choice(some, shape[:2]), values[:, :, 0]
    )
    values[:, 0, 0] = rng.choice(some, shape[0])
    rows = np.arange(shape[0])[:, None]
    at = rng.integers(0, shape[1], (shape[0], 4)), rng.integers(0, shape[2], (shape[0], 4))
    values[rows, at[0], at[1]] = rng.choice(some, (shape[0], 4))
    return values


TYPES: dict[str, type] = {"int": np.int32, "float": np.float32, "double": np.float64}


@dataclass(frozen=True)
class Entry:
    """One entry of the matrix."""

    position: Position
    operator: Operator
    type_name: str

    @property
    def function(self) -> str:
        return f"{self.position.name.replace(' ', '_')}_{self.operator.name}_{self.type_name}"

    def source(self) -> str:
        """The C function: `a` and `out` are `nk × nj × ni`, `result` `nk × nj`."""
        update = self.operator.apply(self.type_name)
        body = self.position.body.format(op=self.operator.clause, update=update)
        head = f"void {self.function}(int nk, int nj, int ni, const T *restrict a,"
        return f"{head} T *restrict out, T *restrict result)\n{{\n{body}}}\n"

    def input(self, shape: tuple[int, int, int]) -> Array:
        """Values with which a lost or doubled element changes the result, without overflow or rounding to
        0."""
        rng = np.random.default_rng(7)
        dtype = TYPES[self.type_name]
        name = self.operator.name
        if name == "mul":
            return _factors(rng, shape, dtype)
        if name in ("land", "lor"):
            values = np.full(shape, 2 if name == "land" else 0, dtype)
            values[-1, :, 0], values[:, -1, -1] = 2 - values[-1, :, 0], 2 - values[:, -1, -1]
            return values
        if name in ("and", "or"):
            marked = rng.random(shape) < 0.001
            marked[:, ::3, 0] = True
            bit = 1 << 20
            return np.where(
                marked, ~bit if name == "and" else bit, -1 if name == "and" else 0
            ).astype(dtype)
        if self.type_name == "int":
            return rng.integers(-1000, 1000, shape).astype(dtype)
        return rng.uniform(0.5, 1.5, shape).astype(dtype)

    def expected(self, a: Array) -> Array:
        """The results, `result` flattened, computed in float64 for floating-point types."""
        wide = a if self.type_name == "int" else a.astype(np.float64)
        taken = wide[self.position.inputs]
        start = wide.dtype.type(self.operator.start)
        partial = self.operator.reduce(taken, self.position.axes)
        both = np.stack(np.broadcast_arrays(start, partial))
        return np.atleast_1d(np.asarray(self.operator.reduce(both, (0,)))).ravel()

    def tolerance(self) -> float:
        if self.type_name == "int" or self.operator.name not in ("add", "mul"):
            return 0.0
        return 2e-4 if self.type_name == "float" else 1e-10


def entries(type_name: str, positions: Sequence[Position] = POSITIONS) -> list[Entry]:
    """The matrix's entries for one C type."""
    return [
        Entry(position, operator, type_name)
        for position in positions
        for operator in OPERATORS
        if type_name == "int" or not operator.integers_only
    ]


def program_text(listed: Sequence[Entry]) -> str:
    """One C file with all these entries, which are of one type."""
    head = f"#include <math.h>\ntypedef {listed[0].type_name} T;\n"
    return head + "\n".join(entry.source() for entry in listed)


def run_entry(program: Program, entry: Entry, a: Array, *, timed: bool) -> tuple[str | None, float]:
    """A description of what is wrong with the entry's result (None if it is right), and microseconds if
    `timed`."""
    out = np.zeros_like(a)
    result = np.full(a.shape[:2], entry.operator.start, a.dtype)
    function = program.function(entry.function, None, None)
    arguments = [
        *map(ctypes.c_int, a.shape),
        *(ctypes.c_void_p(x.ctypes.data) for x in (a, out, result)),
    ]
    function(*arguments)
    problem = _compare(entry, a, out, result)
    return problem, _time(program, function, arguments, (a, out, result)) if timed else 0.0


def _compare(entry: Entry, a: Array, out: Array, result: Array) -> str | None:
    expected = entry.expected(a)
    actual = result.ravel()[: expected.size].astype(expected.dtype)
    wrong = np.abs(actual - expected) > entry.tolerance() * np.maximum(np.abs(expected), 1)
    if wrong.any():
        at = int(np.argmax(wrong))
        many = f"{int(wrong.sum())} of {wrong.size} wrong, the first [{at}]"
        return f"{many} is {actual[at]}, not {expected[at]}"
    if entry.position.writes_out and not np.array_equal(out, a + 1):
        return "the loops inside are wrong"
    return None


def _time(program: Program, function: Any, arguments: list[Any], arrays: Sequence[Array]) -> float:
    copyin = program.function("acc_copyin", ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_size_t))
    delete = program.function("acc_delete", None, (ctypes.c_void_p, ctypes.c_size_t))
    for array in arrays:
        copyin(array.ctypes.data, array.nbytes)
    times: list[float] = []
    for _ in range(SAMPLES):
        start = time.perf_counter()
        function(*arguments)
        times.append((time.perf_counter() - start) * 1e6)
    for array in arrays:
        delete(array.ctypes.data, array.nbytes)
    return statistics.median(times)


def run_matrix(
    listed: Sequence[Entry],
    target: Any,
    shape: tuple[int, int, int],
    *,
    timed: bool = False,
    strategy: str = "",
) -> dict[str, tuple[str | None, float]]:
    """
    Compiles the entries, which are of one type, and runs them: function → problem, time. `strategy`:
    options of `convert-acc-compute-to-gpu`.
    """
    from accopt.compiler.api import compile_files
    from accopt.compiler.base.options import CompileOptions

    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / f"reductions_{listed[0].type_name}.c"
        source.write_text(program_text(listed))
        options = (f"convert-acc-compute-to-gpu{{{strategy}}}",) if strategy else ()
        program = compile_files([source], CompileOptions(target=target, pass_options=options))
        try:
            results: dict[str, tuple[str | None, float]] = {}
            for operator in OPERATORS:
                group = [e for e in listed if e.operator is operator]
                a = group[0].input(shape) if group else np.zeros(0)
                for entry in group:
                    results[entry.function] = run_entry(program, entry, a, timed=timed)
            return results
        finally:
            program.close()


def print_table(results: dict[str, tuple[str | None, float]], types: Sequence[str]) -> None:
    print(f"{'position':30s} {'op':4s}" + "".join(f"{t:>10s}" for t in types))
    for position in POSITIONS:
        for operator in OPERATORS:
            cells: list[str] = []
            for type_name in types:
                result = results.get(Entry(position, operator, type_name).function)
                good = "right" if result is None or result[1] == 0 else f"{result[1]:.1f}"
                cells.append("-" if result is None else "F" if result[0] else good)
            print(f"{position.name:30s} {operator.clause:4s}" + "".join(f"{c:>10s}" for c in cells))
    wrong = {name: problem for name, (problem, _) in results.items() if problem}
    print(f"{len(results) - len(wrong)} of {len(results)} right")
    for name, problem in wrong.items():
        print(f"  {name}: {problem}")


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="benchmarks.reduction_matrix", description=(__doc__ or "").split("\n")[1]
    )
    parser.add_argument("--target", default="nvptx")
    parser.add_argument("--types", default="int,float,double")
    parser.add_argument(
        "--strategy",
        default="",
        help="options of convert-acc-compute-to-gpu, as 'exchange=shared' or 'reduction_strategy=atomic'",
    )
    parser.add_argument("--small", action="store_true", help="small arrays, no times")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    types = args.types.split(",")
    timed = args.target == "nvptx" and not args.small
    results: dict[str, tuple[str | None, float]] = {}
    for type_name in types:
        shape = FULL if timed else SMALL
        listed = entries(type_name)
        results |= run_matrix(listed, args.target, shape, timed=timed, strategy=args.strategy)
    print_table(results, types)
    if args.json:
        rows = {name: {"problem": problem, "us": us} for name, (problem, us) in results.items()}
        args.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(problem is None for problem, _ in results.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
