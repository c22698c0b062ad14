"""
Generated units: one function with one construct, kept as decisions rather than text, so that a failing one
can be made smaller (`shrink.py`) and rendered again (`render.py`).

Loops are numbered from 0, the outermost. "At depth k" is in the body of loop k, before the loop inside.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

T = TypeVar("T")

Construct = Literal["parallel", "kernels", "serial"]
Storage = Literal["top", "static", "file", "extern", "parameter"]
Kind = Literal["total", "inner", "prefix", "carried", "flag"]

EXTENTS = {1: (300,), 2: (8, 70), 3: (5, 6, 40), 4: (3, 3, 4, 36)}
"""Extents of the arrays of each number of dimensions; a nest of n loops walks over those of n."""

LEVELS = ("gang", "worker", "vector")
INTEGERS = (
    *("char", "signed char", "short", "int", "long", "long long", "_Bool"),
    *("unsigned char", "unsigned short", "unsigned", "unsigned long", "unsigned long long"),
)
FLOATS = ("float", "double")
OPERATORS = {
    "+": (*INTEGERS, *FLOATS),
    "-": (*(t for t in INTEGERS if t != "_Bool"), *FLOATS),
    "*": (*(t for t in INTEGERS if t != "_Bool"), *FLOATS),
    "max": (*INTEGERS, *FLOATS),
    "min": (*INTEGERS, *FLOATS),
    "|": INTEGERS,
    "&": INTEGERS,
    "^": INTEGERS,
    "&&": (*INTEGERS, *FLOATS),
    "||": (*INTEGERS, *FLOATS),
}
"""Operator → the types it is generated for (OpenACC 3.4, 2.5.15)."""


@dataclass(frozen=True)
class Loop:
    """One loop. `directive`: has a loop directive (the combined one counts), with `words` and more."""

    extent: int
    directive: bool
    levels: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    """`seq`, `independent`, `auto`, or none."""
    together: str = ""
    """`collapse(2)`, `tile(2, 4)`: this loop and the next as one."""
    type: str = "int"
    top: bool = True
    """Declared at the top of the function."""
    runtime: bool = False
    """The bound is a parameter of the function."""
    form: int = 0
    """How the head is written, see `render.head`."""


@dataclass(frozen=True)
class Accumulator:
    """
    A scalar that iterations update. A `total` is set before the construct and printed after it; an `inner`
    one is set at depth `home`, updated in the loops inside, and stored to an array after them. Updates
    without an operator: `prefix` stores the running value, `carried` computes each value from the one
    before, `flag` sets a constant under a condition.
    """

    name: str
    type: str
    operator: str
    kind: Kind
    spelling: int
    depths: tuple[int, ...]
    home: int = -1
    named: tuple[int, ...] = ()
    """Loops whose directive has the reduction clause; -1 is the compute construct."""
    storage: Storage = "top"
    data: str = ""
    """`copy`: on the construct; `region`, `update`, `enter`, `declare`: in a data region around."""


@dataclass(frozen=True)
class Temporary:
    """A scalar that is written at depth `home` before anything reads it there."""

    name: str
    type: str
    home: int
    form: str
    """`plain`, `branch`, `switch`, `loop`, `call`, `pointer`: how it gets its value."""
    named: tuple[int, ...] = ()
    """Loops whose directive says `private`; -1 is the compute construct."""
    clause: str = "private"
    """What the construct says when it is named there: `private` or `firstprivate`."""
    storage: Storage = "top"
    after: bool = False
    """Its last value is printed after the construct."""


@dataclass(frozen=True)
class Unit:
    """One function with one construct around a nest of loops."""

    number: int
    seed: int
    construct: Construct
    combined: bool
    loops: tuple[Loop, ...]
    accumulators: tuple[Accumulator, ...] = ()
    temporaries: tuple[Temporary, ...] = ()
    chains: int = 1
    """How many nests of this shape the construct holds."""
    twice: bool = False
    """The innermost loop is there twice."""
    sizes: str = ""
    """`num_gangs(3) …` of the construct."""
    arrays: str = "global"
    """`global`, or parameters: `pointer` (one subscript), `rows` (pointer to arrays)."""
    mapping: str = ""
    """Data clauses of arrays: none, `construct`, `region` (and `present`), `enter`."""
    private_counters: tuple[tuple[int, int], ...] = ()
    """(loop, loop whose variable it is, the same or inside): the habit of naming counters in `private`."""

    @property
    def depth(self) -> int:
        return len(self.loops)

    def pick(self, salt: object, choices: Sequence[T]) -> T:
        """A choice that depends on the unit's seed and the salt only: it stays while a unit shrinks."""
        return choices[zlib.crc32(f"{self.seed}/{salt}".encode()) % len(choices)]

    def chance(self, salt: object, percent: int) -> bool:
        return self.pick(salt, range(100)) < percent

    def tight(self, loop: int) -> bool:
        """Whether nothing may come between this loop and the next."""
        return bool(self.loops[loop].together)

    def with_loop(self, position: int, **changes: object) -> Unit:
        loops = list(self.loops)
        loops[position] = replace(loops[position], **changes)  # type: ignore[arg-type]
        return replace(self, loops=tuple(loops))


def features(unit: Unit) -> list[str]:
    """The features by which failures are counted: the construct, and the clauses."""
    words = {word for loop in unit.loops for word in loop.words}
    found = [unit.construct + (" loop" if unit.combined else "")]
    found += [f"{w} loop" for w in sorted(words)]
    if any(loop.levels for loop in unit.loops):
        found.append("levels named")
    for a in unit.accumulators:
        where = "nowhere" if not a.named else "construct" if a.named == (-1,) else "some"
        if a.named and set(partitionable(unit, a)) <= set(a.named):
            where = "every level"
        found.append(f"{a.kind}, reduction named {where}")
        if a.data:
            found.append(f"accumulator in {a.data}")
    for t in unit.temporaries:
        found.append(f"temporary, {'named' if t.named else 'not named'}")
        if t.after:
            found.append("last value wanted")
    found += [f"{n} nests"] if (n := unit.chains) > 1 else []
    return list(dict.fromkeys(found))


def partitionable(unit: Unit, a: Accumulator) -> list[int]:
    """The loops with a directive through which the updates of an accumulator go."""
    return [
        k
        for k, loop in enumerate(unit.loops)
        if a.home < k <= max(a.depths) and loop.directive and "seq" not in loop.words
    ]
