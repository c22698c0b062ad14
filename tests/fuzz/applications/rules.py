"""
Rules for units with exactly one right answer: the oracle is serial C, so a unit may contain only code on
which serial C and OpenACC agree, or which one of the rules below covers. References are to OpenACC 3.4.

- A counter of a loop with a directive is private (2.6.1); no unit reads it after the loop.
- A `total` under a reduction clause is serial C's by 2.5.15 and 2.9.11 (operators are associative
  and commutative on the values used). Without a clause at some or all levels, every use of it between
  start and end is an update with one operator: serial C's answer is the only useful one, and a
  compiler either gives it or says which clause is missing.
- An `inner` accumulator and a temporary are written before they are read in each iteration of their
  home: private to the iteration by any reading. Under `parallel` and `serial`, where they are firstprivate
  (2.6.2), the host's value afterwards is not serial C's, so no unit looks at it; under
  `kernels` without clauses they are `copy`, and a unit may (`after`).
- `prefix`, `carried` and `flag` are not reductions. In a `kernels` construct without `independent`
  the compiler must run them as serial C does. Elsewhere the program is invalid, and must get a message.
- Outside of gang loops, the gangs of a `parallel` construct repeat everything (2.5.1): what is updated
  there, or in `worker` and `vector` loops without a gang loop around, would count several times.
"""

from __future__ import annotations

from .model import LEVELS, Accumulator, Temporary, Unit, partitionable


def problem(unit: Unit) -> str | None:
    """Why a unit has no single answer, or cannot be written; None if it is fine."""
    for check in (_shape, _levels, _accumulators, _temporaries):
        if (found := check(unit)) is not None:
            return found
    return None


def _shape(unit: Unit) -> str | None:
    loops = unit.loops
    if unit.combined and not loops[0].directive:
        return "a combined construct has a loop"
    if unit.construct != "kernels" and not loops[0].directive:
        return "gangs would repeat the loops"
    if unit.chains > 1 and (unit.combined or unit.twice):
        return "a combined construct has one nest"
    if unit.twice and (unit.depth < 2 or loops[-2].together):
        return "the innermost loop is not alone"
    for k, loop in enumerate(loops):
        if (loop.words or loop.levels or loop.together) and not loop.directive:
            return "clauses without directive"
        if loop.together and (
            k + 1 >= unit.depth or loops[k + 1].directive or loops[k + 1].form == 4
        ):
            return "no rectangle of loops"
        if loop.form == 4 and k == 0:
            return "nothing to begin at"
        unclear = loop.form == 4 or loop.type == "short"
        if unclear and unit.arrays != "global" and not unit.mapping:
            return "nobody says how long the arrays are"
    for k, v in unit.private_counters:
        if not (loops[k].directive and k <= v < unit.depth and loops[v].top):
            return "a counter that is not inside"
    return None


def first_levels(unit: Unit) -> int | None:
    """The outermost loop that names levels."""
    return next((k for k, loop in enumerate(unit.loops) if loop.levels), None)


def _levels(unit: Unit) -> str | None:
    seen = -1
    for loop in unit.loops:
        if loop.levels and {"seq", "auto"} & set(loop.words):
            return "seq with levels"
        for level in loop.levels:
            if LEVELS.index(level) <= seen:
                return "levels out of order"
            seen = LEVELS.index(level)
    if unit.construct == "serial" and seen >= 0:
        return "levels in a serial construct"
    first = first_levels(unit)
    if unit.construct != "parallel":
        return None
    if "seq" in unit.loops[0].words:
        return "gangs would repeat the loop"
    if first is None or "num_gangs(1)" in unit.sizes:
        return None
    if "gang" not in unit.loops[first].levels:
        return "gangs would repeat the loop"
    outside = [a for a in unit.accumulators if min(a.depths) < first or -1 < a.home < first]
    return "gangs would repeat updates" if outside else None


def _accumulators(unit: Unit) -> str | None:
    for a in unit.accumulators:
        if not a.depths or min(a.depths) <= a.home or max(a.depths) >= unit.depth:
            return "updates outside of the home"
        if (a.kind == "inner") != (a.home >= 0):
            return "only inner accumulators have a home"
        if a.kind == "inner" and a.storage != "top" and a.data:
            return "an inner accumulator is not mapped"
        if a.kind not in ("total", "inner") and (a.named or len(a.depths) > 1):
            return "no reduction"
        places = [*a.depths, *([a.home] if a.kind == "inner" else [])]
        if any(unit.tight(k) for k in places):
            return "statements between collapsed loops"
        for k in a.named:
            if k == -1:
                if unit.construct == "kernels" or unit.combined or a.kind != "total":
                    return "no reduction clause there"
            elif not (a.home < k <= max(a.depths) and unit.loops[k].directive):
                return "a reduction clause without a loop that updates"
        if a.data == "declare" and a.storage not in ("file", "extern"):
            return "declare is for globals"
        if a.data and a.kind != "total":
            return "only totals are mapped"
    return None


def _temporaries(unit: Unit) -> str | None:
    for t in unit.temporaries:
        if t.home >= unit.depth or unit.tight(t.home):
            return "no place to write it"
        for k in t.named:
            if k == -1:
                if unit.construct == "kernels" or (unit.combined and t.clause == "private"):
                    return "no private clause there"
            elif not (k <= t.home and unit.loops[k].directive):
                return "private too far inside"
        if unit.combined and t.clause == "firstprivate" and {-1, 0} <= set(t.named):
            return "two clauses on one directive"
        if t.after and (unit.construct != "kernels" or t.named):
            return "its last value is nobody's"
    return None


def complete(unit: Unit) -> bool:
    """Whether every scalar has every clause that OpenACC asks for: a message is then too strict."""
    return all(
        a.kind in ("total", "inner") and set(partitionable(unit, a)) <= set(a.named)
        for a in unit.accumulators
    ) and all(t.named and -1 not in t.named for t in unit.temporaries)


def wrong_by_itself(unit: Unit) -> bool:
    """Whether the program asks for what has no meaning, so that only a message is right."""
    free = unit.construct == "kernels" and not any(
        loop.levels or "independent" in loop.words for loop in unit.loops
    )
    return not free and (
        any(a.kind not in ("total", "inner") for a in unit.accumulators)
        or any(t.after for t in unit.temporaries)
    )


def reasons(unit: Unit) -> list[str]:
    """One line for each scalar: which rule gives it one answer."""
    return [_of_accumulator(unit, a) for a in unit.accumulators] + [
        _of_temporary(t) for t in unit.temporaries
    ]


def _of_accumulator(unit: Unit, a: Accumulator) -> str:
    if a.kind not in ("total", "inner"):
        return f"{a.name}: {a.kind}: " + (
            "wrong, must get a message" if wrong_by_itself(unit) else "in order, by kernels"
        )
    wanted, named = set(partitionable(unit, a)), set(a.named)
    if wanted <= named:
        rule = "reduction clauses at every level"
    elif named:
        rule = "reduction clauses at some levels; only updates in between"
    else:
        rule = "no clause; only updates with one operator"
    return f"{a.name}: {rule}"


def _of_temporary(t: Temporary) -> str:
    text = f"{t.name}: written before read in every iteration"
    return text + (", its last value is copied back" if t.after else "")
