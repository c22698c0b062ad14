"""Generators of C programs with about a given number of lines: one family for each kind of code of which
programs have much."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

Family = Callable[[int], str]


def _statements(count: int, first: int = 0) -> str:
    return "".join(
        f"  b[i] = b[i] * 1.5 + a[i + {k % 7}] - a[i * 2 + {k % 5}] * {k}.25;\n"
        for k in range(first, first + count)
    )


def plain_functions(lines: int) -> str:
    """Functions of ten lines without directives."""
    return "".join(
        f"""double f{k}(int n, const double *a)
{{
  double s = {k};
  for (int i = 0; i < n; i++) {{
    if (a[i] > {k}.5)
      s += a[i] * {k};
    else if (a[i] < 0)
      break;
  }}
  return s;
}}
"""
        for k in range(lines // 11)
    )


def functions_with_directives(lines: int) -> str:
    """Functions of eight lines, each with a construct."""
    return "".join(
        f"""void f{k}(int n, int m, const double *restrict a, double *restrict b)
{{
#pragma acc parallel loop collapse(2) copyin(a[0:n * m]) copy(b[0:n * m])
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      b[i * m + j] += a[i * m + j] * {k}.5;
}}
"""
        for k in range(lines // 7)
    )


def long_functions(lines: int) -> str:
    """Functions of a thousand lines, each with a construct around a long loop body."""
    return "".join(
        f"void f{k}(int n, const double *restrict a, double *restrict b)\n{{\n"
        "#pragma acc parallel loop copyin(a[0:2 * n + 8]) copy(b[0:n])\n"
        f"  for (int i = 0; i < n; i++) {{\n{_statements(994, k)}  }}\n}}\n"
        for k in range(max(1, lines // 1000))
    )


def many_loops(lines: int) -> str:
    """One function with thousands of loops."""
    body = "".join(
        f"  for (int i = 0; i < n; i++)\n    b[i] += a[i + {k}] * {k}.5;\n"
        for k in range(lines // 2)
    )
    return f"void f(int n, const double *a, double *b)\n{{\n{body}}}\n"


def deep_nests(lines: int) -> str:
    """Nests of thirty loops and conditions."""

    def nest(k: int) -> str:
        levels = [
            f"for (int i{d} = 0; i{d} < n; i{d}++) {{" if d % 2 else f"if (n > {d}) {{"
            for d in range(30)
        ]
        return "\n".join([*levels, f"b[{k}] += a[i1 + i29];", "}" * 30])

    return "".join(
        f"void f{k}(int n, const double *a, double *b)\n{{\n{nest(k)}\n}}\n"
        for k in range(lines // 35 + 1)
    )


def many_arrays(lines: int) -> str:
    """Constructs over fifty arrays each."""

    def construct(k: int) -> str:
        arrays = [f"a{i}" for i in range(50)]
        updates = "".join(f"    {a}[i] += {b}[i];\n" for a, b in pairwise(arrays))
        return (
            f"void f{k}(int n, {', '.join('double *' + a for a in arrays)})\n{{\n"
            f"#pragma acc parallel loop copy({', '.join(a + '[0:n]' for a in arrays)})\n"
            f"  for (int i = 0; i < n; i++) {{\n{updates}  }}\n}}\n"
        )

    return "".join(construct(k) for k in range(lines // 55 + 1))


def initialisers(lines: int) -> str:
    """One table of ten numbers a line."""
    rows = "".join(f"  {', '.join(str(k * 10 + i) for i in range(10))},\n" for k in range(lines))
    return f"int table[] = {{\n{rows}}};\n"


FAMILIES: dict[str, Family] = {
    family.__name__: family
    for family in (
        plain_functions,
        functions_with_directives,
        long_functions,
        many_loops,
        deep_nests,
        many_arrays,
        initialisers,
    )
}
MAIN = "int main(void) { return 0; }\n"
"""The line that completes each program."""
