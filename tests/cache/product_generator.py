"""
Random matrix products with `cache` directives, and code around them: transposed factors, factors of several
types and as members of structures, batches, triangles, constant sizes, loops that end early or that count
themselves, reductions of scalars and arrays, arrays that are written through several sections, seq routines
with the directives.

A product has the interface of `nest_model.Nest`. All numbers are small integers, in floating point too, so
that the order of additions does not matter.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from nest_model import HEAD, MEMBERS, TYPES

Sizes = Mapping[str, int]

PARTS = 8
"""Elements of the array that is written through several sections, for each row of the product."""


@dataclass(frozen=True)
class Factor:
    """A factor: its element type, whether it is transposed, and whether it is one long row in C."""

    name: str
    type: str
    across: bool
    flat: bool

    def shape(self, rows: str, columns: str) -> tuple[str, str]:
        return (columns, rows) if self.across else (rows, columns)

    def parameter(self, width: str, batch: str | None) -> str:
        inner = "" if self.flat else f"[{width}]"
        if batch is not None:
            inner = f"[{batch}]{inner}"
        return (
            f"const {self.type} (*restrict {self.name}){inner}"
            if inner
            else (f"const {self.type} *restrict {self.name}")
        )

    def element(self, row: str, column: str, width: str, prefix: str) -> str:
        if self.across:
            row, column = column, row
        member = ".y" if self.type in MEMBERS else ""
        if self.flat:
            return f"{self.name}{prefix}[({row}) * {width} + {column}]{member}"
        return f"{self.name}{prefix}[{row}][{column}]{member}"

    def section(
        self, row: str, column: str, sizes: tuple[int, int], width: str, prefix: str
    ) -> str:
        """`sizes` elements from (row, column)."""
        if self.across:
            row, column, sizes = column, row, (sizes[1], sizes[0])
        if self.flat:
            return f"{self.name}{prefix}[({row}) * {width} + {column}:{sizes[1]}]"
        return f"{self.name}{prefix}[{row}:{sizes[0]}][{column}:{sizes[1]}]"


class Product:
    """Makes one program from a seed."""

    strict_indices = True
    overlapping = False

    def __init__(self, seed: int):
        rng = self.random = random.Random(seed)
        self.depth = rng.choice((4, 8, 8, 16, 16, 16, 32))
        self.tail = rng.random() < 0.5
        self.batch = rng.random() < 0.2
        self.triangle = not self.batch and rng.random() < 0.15
        self.kind = rng.choice(("plain", "plain", "sum", "array", "both"))
        self.form = rng.choice(("for", "for", "down", "while", "condition"))
        self.routine = rng.random() < 0.2
        self.writes = (
            not self.routine and self.kind == "plain" and rng.random() < 0.25 and not self.batch
        )
        names = ("float", "float", "float", "double", "double", "int", "short", "struct pair")
        left, right = rng.choice(names), rng.choice(names)
        across = [rng.random() < 0.25 for _ in range(2)]
        self.a = Factor("a", left, across[0], not across[0] and rng.random() < 0.3)
        self.b = Factor(
            "b", left if rng.random() < 0.6 else right, across[1], across[1] and rng.random() < 0.5
        )
        self.constant = rng.random() < 0.25
        self.sizes = [self._sizes() for _ in range(1 if self.constant else 3)]
        self.text = self._text()

    def _sizes(self) -> dict[str, int]:
        rng = self.random
        most = 40 if self.batch else rng.choice((40, 70, 150))
        p = rng.randint(0, 4 * self.depth)
        if not self.tail:
            p = p // self.depth * self.depth
        count = {"z": rng.randint(1, 3) if self.batch else 1}
        return {
            "n": rng.randint(1, most),
            "m": rng.randint(1, most),
            "p": max(p, 1 if self.tail else 0),
        } | count

    # Code

    def _text(self) -> str:
        lines = [HEAD]
        if self.constant:
            lines += [f"#define {name.upper()} {value}" for name, value in self.sizes[0].items()]
        else:
            lines += [f"#define {name.upper()} {name}" for name in "nmpz"]
        if self.routine:
            lines += ["#pragma acc routine seq", *self._routine()]
        return "\n".join([*lines, *self._function(), ""])

    def _parameters(self) -> str:
        width_a, width_b = ("N" if self.a.across else "P"), ("P" if self.b.across else "M")
        rows_a, rows_b = self.a.shape("N", "P")[0], self.b.shape("P", "M")[0]
        batch_a = f"{rows_a} * {width_a} + 1" if self.a.flat else rows_a
        batch_b = f"{rows_b} * {width_b} + 1" if self.b.flat else rows_b
        return ", ".join(
            (
                self.a.parameter(width_a, batch_a if self.batch else None),
                self.b.parameter(width_b, batch_b if self.batch else None),
            )
        )

    @property
    def _prefix(self) -> str:
        return "[z_]" if self.batch else ""

    @property
    def _widths(self) -> tuple[str, str]:
        return ("N" if self.a.across else "P"), ("P" if self.b.across else "M")

    def _terms(self) -> list[str]:
        """The directive and the loop over one tile, which add to `sum`."""
        width_a, width_b = self._widths
        a = self.a.section("i", "k", (1, self.depth), width_a, self._prefix)
        b = self.b.section("k", "j", (self.depth, 1), width_b, self._prefix)
        order = [a, b] if self.random.random() < 0.5 else [b, a]
        readonly = "readonly: " if self.random.random() < 0.5 else ""
        end = f"MIN(k + {self.depth}, P)" if self.tail else f"k + {self.depth}"
        head = self.random.choice(
            (f"for (int q = k; q < {end}; q++)", f"for (int q = {end} - 1; q >= k; q--)")
        )
        left = self.a.element("i", "q", width_a, self._prefix)
        right = self.b.element("q", "j", width_b, self._prefix)
        directives = [f"CACHE({readonly}{', '.join(order)})"]
        if self.random.random() < 0.3:
            directives = [f"CACHE({readonly}{text})" for text in order]
        clause = self.random.choice(("", "", "#pragma acc loop reduction(+:sum)"))
        if "--" in head:
            clause = ""
        return [*directives, *filter(None, [clause]), head, f"    sum += {left} * {right};"]

    def _sequential(self) -> list[str]:
        terms = ["    " + line for line in self._terms()]
        step = self.depth
        match self.form:
            case "while":
                return ["int k = 0;", "while (k < P) {", *terms, f"    k += {step};", "}"]
            case "down":
                first = f"(P + {step - 1}) / {step} * {step} - {step}"
                return [f"for (int k = {first}; k >= 0; k -= {step}) {{", *terms, "}"]
            case "condition":
                inner = [f"    if (sel[k / {step}] % 3 != 0) {{", *terms, "    }"]
                return [f"for (int k = 0; k < P; k += {step}) {{", *inner, "}"]
            case _:
                return [f"for (int k = 0; k < P; k += {step}) {{", *terms, "}"]

    def _routine(self) -> list[str]:
        sizes = "" if self.constant else "int n, int m, int p, int z, "
        batch = ", int z_" if self.batch else ""
        head = f"static double dot({sizes}int i, int j{batch}, {self._parameters()}, const int *restrict sel)"
        return [head, "{", "double sum = 0;", *self._sequential(), "return sum;", "}"]

    def _function(self) -> list[str]:
        rng = self.random
        c = "(*restrict c)[N][M]" if self.batch else "(*restrict c)[M]"
        head = (
            f"void f(int n, int m, int p, int z, const int *restrict sel, {self._parameters()},"
            f" double {c}, int (*restrict w)[{PARTS}], double *restrict h)"
        )
        clauses = {
            "plain": "",
            "sum": " reduction(+:s)",
            "array": " reduction(+:r)",
            "both": " reduction(max:s) reduction(+:r)",
        }[self.kind]
        outer = "Z" if self.batch else "N"
        extents = [
            outer if self.batch else factor.shape(rows, columns)[0]
            for factor, rows, columns in ((self.a, "N", "P"), (self.b, "P", "M"))
        ]
        if not self.batch:
            flat = zip((self.a, self.b), extents, self._widths, strict=True)
            extents = [f"{e} * {w} + 1" if factor.flat else e for factor, e, w in flat]
        data = f"copyin(sel[0:64], a[0:{extents[0]}], b[0:{extents[1]}]) copy(c[0:{outer}], w[0:N])"
        first = "i" if self.triangle else "0"
        loops = [("i", "for (int i = 0; i < N; i++)"), ("j", f"for (int j = {first}; j < M; j++)")]
        if self.batch:
            loops.insert(0, ("z_", "for (int z_ = 0; z_ < Z; z_++)"))
        nested = self.triangle or rng.random() < 0.4
        word, extra = self._construct(nested)
        lines: list[str] = []
        region = rng.random() < 0.25 and all(sizes["p"] for sizes in self.sizes)
        if region:
            lines += [f"#pragma acc data {data}", "{"]
            data = "default(present)"
        if nested:
            for number, (_, text) in enumerate(loops):
                start = f"{word} loop {data}{extra}" if not number else "loop"
                level = ("gang", "vector")[number] if self.triangle else ""
                lines += [f"#pragma acc {start} {level}{clauses}", f"{text} {{"]
        else:
            lines.append(f"#pragma acc {word} loop collapse({len(loops)}) {data}{extra}{clauses}")
            lines += [text for _, text in loops]
            lines[-1] += " {"
        lines += self._iteration()
        lines += ["}" * (len(loops) if nested else 1)]
        if "async" in extra:
            lines.append("#pragma acc wait")
        lines += ["}"] * region
        after = ["h[0] = s;", *(f"h[{k + 1}] = r[{k}];" for k in range(5))]
        return [head, "{", "double s = 2, r[5] = {1, 0, 3};", *lines, *after, "}"]

    def _construct(self, nested: bool) -> tuple[str, str]:
        """The construct and clauses of its own: of queues, conditions, sizes."""
        rng = self.random
        if rng.random() < 0.15 and not self.triangle:
            return "kernels", " independent"
        extra = rng.choice(("", "", "", " async", " async(3)", " if(n > 20)", " wait(1)"))
        sizes = ("", "", "", "", " vector_length(64)", " num_gangs(7)")
        if not nested:
            sizes = (
                *sizes,
                " num_workers(8) vector_length(32)",
                " num_workers(2) vector_length(16)",
            )
        return "parallel", extra + rng.choice(sizes)

    def _iteration(self) -> list[str]:
        rng = self.random
        target = f"c{self._prefix}[i][j]"
        if self.routine:
            sizes = "" if self.constant else "n, m, p, z, "
            batch = ", z_" if self.batch else ""
            lines = [f"double sum = dot({sizes}i, j{batch}, a, b, sel);"]
        else:
            type_ = rng.choice(("float", "double", "double", "long"))
            lines = [f"{type_} sum = {rng.choice((0, 0, 3))};", *self._sequential()]
        lines.append(
            rng.choice(
                (f"{target} = sum;", f"{target} += 2 * sum;", f"if (i != j) {target} = sum;")
            )
        )
        if self.kind in ("sum", "both"):
            lines.append("s += sum;" if self.kind == "sum" else "if (sum > s) s = sum;")
        if self.kind in ("array", "both"):
            lines += ["r[(i + j) % 3] += sum;", "r[4] += 1;"]
        if self.writes:
            lines += ["if (j == 0) {", *self._writes(), "}"]
        return lines

    def _writes(self) -> list[str]:
        """Several sections of a row that the iteration writes."""
        low, high = sorted(self.random.sample(range(PARTS), 2))
        first, second = f"w[i:1][{low}:1]", f"w[i:1][{high}:{PARTS - high}]"
        directives = [f"CACHE({first}, {second})"]
        if self.random.random() < 0.5:
            directives = [f"CACHE({second})", f"CACHE({first})"]
        turns = self.random.choice(("3", "sel[1] % 5"))
        body = f"{{ w[i][{low}] += t - w[i][{high}]; w[i][{PARTS - 1}] = w[i][{low}] % 9 + t; }}"
        return [*directives, f"for (int t = 0; t < {turns}; t++) {body}"]

    # Data

    def arguments(self, sizes: Sizes, seed: int) -> list[object]:
        """The arguments for one choice of sizes, integers and arrays."""
        rng = np.random.default_rng(seed)
        n, m, p, z = (sizes[name] for name in "nmpz")
        found: list[object] = [n, m, p, z, rng.integers(0, 1000, 64).astype(np.int32)]
        for factor, rows, columns in ((self.a, n, p), (self.b, p, m)):
            count = z * (rows * columns + 1)
            shape = (count, MEMBERS[factor.type]) if factor.type in MEMBERS else (count,)
            found.append(rng.integers(-4, 5, shape).astype(TYPES[factor.type]))
        found.append(rng.integers(-4, 5, (z, n, m)).astype(np.float64))
        found.append(rng.integers(-4, 5, (n, PARTS)).astype(np.int32))
        found.append(np.zeros(6))
        return found


def make_options(seed: int) -> str:
    """Random options of promote-cache-to-shared that keep the program's meaning."""
    rng = random.Random(seed * 7919 + 1)
    options: dict[str, str] = {}
    if rng.random() < 0.6:
        options["promote"] = "always"
    if rng.random() < 0.5:
        sizes = ("1", "2", "4", "8", "8")
        options |= {"rows": rng.choice(sizes), "columns": rng.choice(sizes)}
    else:
        options["multiprocessors"] = rng.choice(("1", "1", "2", "4", "132"))
    for name, values in (
        ("stages", ("0", "1", "2")),
        ("fetch", ("auto", "registers", "async", "bulk")),
        ("renewal", ("private", "private", "communicating")),
        ("width", ("auto", "auto", "synchronisation")),
        ("method", ("auto", "auto", "auto", "rbc", "rbi")),
        ("transpose", ("true", "true", "false")),
        ("write", ("auto", "through", "back", "mask")),
    ):
        if rng.random() < 0.4:
            options[name] = rng.choice(values)
    if rng.random() < 0.2:
        options |= {
            "block_x": rng.choice(("8", "16", "32")),
            "block_y": rng.choice(("4", "8", "16")),
        }
    if rng.random() < 0.2:
        options["padding"] = rng.choice(("0", "1", "2", "4"))
    return " ".join(f"{name}={value}" for name, value in options.items())
