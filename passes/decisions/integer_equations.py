"""
Whether linear equations have a solution in integers.

Two accesses of which one is in an even column of an even row, and the other in an odd one, never meet,
although no subscript says so alone: their equations have no common solution. Each product of symbols counts
as a variable of its own, so that "no solution" is certain, and "a solution" is not.
"""

from __future__ import annotations

from collections.abc import Sequence

from .polynomials import Monomial, Polynomial

_Row = dict[Monomial, int]
_CONSTANT: Monomial = ()
MOST_STEPS = 400
"""The most substitutions; subscripts have small coefficients, so that a few for each equation are usual."""


def have_no_solution(zeros: Sequence[Polynomial]) -> bool:
    """Whether no integers make all of these polynomials 0."""
    rows = [dict(poly.terms) for poly in zeros]
    fresh = 0
    for _ in range(MOST_STEPS):
        if not rows:
            return False
        row = rows[0]
        constant = row.get(_CONSTANT, 0)
        variables = [monomial for monomial in row if monomial]
        if not variables:
            if constant:
                return True
            rows.pop(0)
            continue
        least = min(variables, key=lambda monomial: abs(row[monomial]))
        factor = row[least]
        if abs(factor) == 1:
            # least = -factor * (the rest)
            value = {m: -factor * c for m, c in row.items() if m != least}
            rows = [_substituted(other, least, value) for other in rows[1:]]
            continue
        if all(row[m] % factor == 0 for m in variables):
            if constant % factor:
                return True
            rows[0] = {m: c // factor for m, c in row.items()}
            continue
        # A new variable t = least + sum(c // factor * m) has the same factor, and leaves only remainders.
        new: Monomial = ((have_no_solution, fresh),)
        fresh += 1
        value = {m: -(c // factor) for m, c in row.items() if m and m != least}
        value[new] = 1
        rows = [_substituted(other, least, value) for other in rows]
    return False


def _substituted(row: _Row, variable: Monomial, value: _Row) -> _Row:
    factor = row.get(variable, 0)
    if not factor:
        return row
    result = {m: c for m, c in row.items() if m != variable}
    for monomial, coefficient in value.items():
        total = result.get(monomial, 0) + factor * coefficient
        if total:
            result[monomial] = total
        else:
            result.pop(monomial, None)
    return result
