"""Random subscripts, loads and expressions (see `generator.py`)."""

from __future__ import annotations

import random

from .model import LARGE, SMALL, Array, Construct, make_arrays


class Expressions:
    """Random expressions over the loops and arrays in scope, from a seed."""

    def __init__(self, seed: int, constructs: int = 6):
        self.random = random.Random(seed)
        self.constructs = constructs
        self.extents = LARGE if seed % 4 == 3 else SMALL
        self.arrays = make_arrays(self.extents)

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *choices: str) -> str:
        return self.random.choice(choices)

    def subscript(self, c: Construct, extent: int) -> str:
        """An affine subscript inside an extent, with the loops of `c`."""
        if c.loops and self.chance(0.9):
            loop = self.random.choice(c.loops)
            offset = self.random.randint(-2, 2)
            if loop.low + offset >= 0 and loop.high + offset < extent:
                return f"{loop.name} + {offset}" if offset >= 0 else f"{loop.name} - {-offset}"
            if extent - 1 - loop.high >= 0 and extent - 1 - loop.low < extent:
                return f"{extent - 1} - {loop.name}"
            return f"{loop.name} % {extent}" if loop.low >= 0 else "1"
        return str(self.random.randrange(extent))

    def own(self, c: Construct, array: Array) -> list[str] | None:
        """The subscripts that belong to the present iteration; None if it cannot own an element."""
        around = tuple(loop.name for loop in c.loops if loop.parallel)
        if array.name in c.owned:
            owner, subscripts = c.owned[array.name]
            names = {loop.name for loop in c.loops}
            return subscripts if owner == around and self._uses(c, array) <= names else None
        if array.name in c.read or len(around) > len(array.shape):
            return None
        parallel = [loop for loop in c.loops if loop.parallel]
        others = [loop for loop in c.loops if not loop.parallel]
        chosen: list[str] = []
        for position, extent in enumerate(array.shape):
            if position < len(parallel):
                loop = parallel[position]
                offset = (
                    self.random.randint(-loop.low, extent - 1 - loop.high)
                    if (loop.high - loop.low < extent)
                    else None
                )
                if offset is None:
                    return None
                if self.chance(0.2) and loop.low >= 0 and loop.high < extent:
                    chosen.append(f"{extent - 1} - {loop.name}")
                else:
                    chosen.append(
                        f"{loop.name} + {offset}" if offset >= 0 else f"{loop.name} - {-offset}"
                    )
            elif others and self.chance(0.5):
                loop = self.random.choice(others)
                fits = loop.low >= 0 and loop.high < extent
                chosen.append(loop.name if fits else str(self.random.randrange(extent)))
            else:
                chosen.append(str(self.random.randrange(extent)))
        c.owned[array.name] = (around, chosen)
        return chosen

    def _uses(self, c: Construct, array: Array) -> set[str]:
        text = " ".join(c.owned[array.name][1])
        return {word for word in text.split() if word[0].isalpha()}

    def element(self, array: Array, subscripts: list[str]) -> str:
        return array.name + "".join(f"[{s}]" for s in subscripts)

    def load(self, c: Construct, *, floating: bool) -> str | None:
        array = self.random.choice([a for a in self.arrays if a.floating == floating])
        if c.free or c.serial:
            return self.element(array, [self.subscript(c, e) for e in array.shape])
        if array.name in c.owned:
            own = self.own(c, array)
            return None if own is None else self.element(array, own)
        c.read.add(array.name)
        return self.element(array, [self.subscript(c, e) for e in array.shape])

    def integer(self, c: Construct, depth: int = 2) -> str:
        """An expression of small value."""
        kind = self.random.randrange(9) if depth > 0 else self.random.randrange(3)
        if kind == 0:
            return str(self.random.randint(-9, 20))
        if kind == 1 and c.loops:
            return self.random.choice(c.loops).name
        if kind <= 2:
            if c.temporaries and self.chance(0.4):
                return self.random.choice(c.temporaries)
            return self.load(c, floating=False) or "3"
        left, right = self.integer(c, depth - 1), self.integer(c, depth - 1)
        match kind:
            case 3 | 4:
                return f"({left} {self.pick('+', '-')} {right})"
            case 5:
                return f"({left} * {self.random.randint(-3, 5)})"
            case 6:
                return f"((int)({left}) {self.pick('/', '%')} {self.random.choice((2, 3, 7, -4))})"
            case 7:
                return f"({self.condition(c, depth - 1)} ? {left} : {right})"
            case _:
                return f"(({left} {self.pick('&', '|', '^')} {right}) & 255)"

    def condition(self, c: Construct, depth: int = 1) -> str:
        text = f"{self.integer(c, depth)} {self.pick('<', '>', '==', '!=', '<=')} {self.integer(c, depth)}"
        if self.chance(0.2):
            text += f" {self.pick('&&', '||')} {self.integer(c, 0)} > {self.random.randint(0, 9)}"
        return f"({text})"

    def real(self, c: Construct, depth: int = 2) -> str:
        """A floating expression whose value stays bounded by its inputs."""
        kind = self.random.randrange(5) if depth > 0 else self.random.randrange(3)
        match kind:
            case 0:
                return f"{self.random.randint(1, 9) * 0.25}"
            case 1:
                return f"(double)({self.integer(c, 1)} % 101)"
            case 2:
                return self.load(c, floating=True) or "0.5"
            case 3:
                return f"(0.5 * {self.real(c, depth - 1)} - 0.25 * {self.real(c, depth - 1)})"
            case _:
                return f"{self.pick('fabs', 'sin', 'cos')}({self.real(c, depth - 1)})"
