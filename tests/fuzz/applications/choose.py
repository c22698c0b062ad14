"""Random units."""

from __future__ import annotations

import random

from .model import EXTENTS, INTEGERS, LEVELS, OPERATORS, Accumulator, Loop, Temporary, Unit
from .operators import spellings
from .rules import problem

_NAMES = ("s", "sum", "err", "d", "acc", "best", "x", "t", "tmp", "rho", "w", "u", "z0", "q")
_LOOP_TYPES = ("int", "int", "int", "int", "long", "unsigned", "short", "size_t")
_SIZES = (
    *("", "", "", "", "num_gangs(3)", "vector_length(64)", "num_gangs(2) vector_length(32)"),
    *("num_workers(4)", "num_gangs(5) num_workers(2) vector_length(32)"),
)
_TYPES = ("int", "int", "double", "double", "float", *INTEGERS)


class Chooser:
    """Makes units from one stream of random numbers."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.seed = seed

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def subset(self, items: list[int], percent: int) -> tuple[int, ...]:
        return tuple(item for item in items if self.chance(percent))

    def unit(self, number: int) -> Unit:
        """The next unit; units without a single right answer are discarded."""
        while True:
            unit = self._any(number)
            if problem(unit) is None:
                return unit

    def _any(self, number: int) -> Unit:
        choice = self.random.choice
        kind = choice(("parallel", "parallel", "parallel", "kernels", "kernels", "serial"))
        combined = self.chance(60)
        depth = choice((1, 1, 2, 2, 2, 3, 3, 4))
        loops = self._loops(kind, combined, depth)
        names = iter(self.random.sample(_NAMES, len(_NAMES)))
        accumulators = tuple(
            self._accumulator(next(names), number, kind, combined, loops)
            for _ in range(choice((0, 1, 1, 1, 2)))
        )
        temporaries = tuple(
            self._temporary(next(names), number, kind, combined, loops)
            for _ in range(choice((0, 0, 1, 1, 2, 3)) if accumulators else choice((1, 2)))
        )
        sizes = choice(_SIZES) if kind == "parallel" else ""
        if kind == "parallel" and self.chance(5):
            sizes = "num_gangs(1)"
        counters = [
            (k, v)
            for k in range(depth)
            for v in range(k, depth)
            if loops[k].directive and loops[v].top and self.chance(20)
        ]
        return Unit(
            number=number,
            seed=self.random.randrange(1 << 30),
            construct=kind,
            combined=combined,
            loops=loops,
            accumulators=accumulators,
            temporaries=temporaries,
            chains=2 if not combined and self.chance(25) else 1,
            twice=depth > 1 and self.chance(20),
            sizes=sizes,
            arrays=choice(("global", "global", "pointer", "rows")),
            mapping=choice(("", "", "construct", "region", "enter")),
            private_counters=tuple(counters),
        )

    def _loops(self, kind: str, combined: bool, depth: int) -> tuple[Loop, ...]:
        marked = [(combined or kind != "kernels" or self.chance(60))] + [
            self.chance(60) for _ in range(depth - 1)
        ]
        levels = self._levels([k for k in range(depth) if marked[k]]) if kind != "serial" else {}
        loops = []
        for k in range(depth):
            words: tuple[str, ...] = ()
            if marked[k]:
                word = self.random.choice(("", "", "", "independent", "auto", "seq"))
                if (word == "independent" and kind == "kernels") or self.chance(30):
                    words = (word,) if word else ()
            together = ""
            if marked[k] and k + 1 < depth and not marked[k + 1] and self.chance(30):
                together = self.random.choice(("collapse(2)", "collapse(2)", "tile(2, 4)"))
            loops.append(
                Loop(
                    extent=EXTENTS[depth][k] - self.random.choice((0, 0, 1)),
                    directive=marked[k],
                    levels=levels.get(k, ()),
                    words=words,
                    together=together,
                    type=self.random.choice(_LOOP_TYPES),
                    top=self.chance(75),
                    runtime=self.chance(40),
                    form=self.random.choice((0, 0, 0, 0, 1, 2, 3, 4)),
                )
            )
        return tuple(loops)

    def _levels(self, marked: list[int]) -> dict[int, tuple[str, ...]]:
        """Levels for some of the loops with a directive, outermost first."""
        if not marked or self.chance(40):
            return {}
        chosen = [level for level in LEVELS if self.chance(65)]
        holders = sorted(self.random.choices(marked, k=len(chosen)))
        found: dict[int, tuple[str, ...]] = {}
        for level, k in zip(chosen, holders, strict=True):
            found[k] = (*found.get(k, ()), level)
        return found

    def _storage(self) -> str:
        return self.random.choice(("top",) * 6 + ("static", "file", "extern", "parameter"))

    def _named(self, name: str, number: int, storage: str) -> str:
        return f"{name}_{number}" if storage in ("file", "extern") else name

    def _accumulator(
        self, name: str, number: int, construct: str, combined: bool, loops: tuple[Loop, ...]
    ) -> Accumulator:
        depth = len(loops)
        kinds = ["total"] * 6 + ["inner"] * (5 if depth > 1 else 0)
        if self.chance(40 if construct == "kernels" else 10):
            kinds = ["prefix", "carried", "flag"]
        kind = self.random.choice(kinds)
        home = self.random.randrange(depth - 1) if kind == "inner" else -1
        depths = {depth - 1 if self.chance(85) else self.random.randrange(home + 1, depth)}
        if kind in ("total", "inner") and self.chance(20):
            depths.add(self.random.randrange(home + 1, depth))
        operator = self.random.choice(("+", "+", "+", "+", "max", "max", "min", *OPERATORS))
        if kind == "carried":
            operator = "^"
        allowed = OPERATORS[operator]
        type_ = self.random.choice([t for t in _TYPES if t in allowed])
        if kind == "carried" and type_ == "_Bool":
            type_ = "int"
        inside = [k for k in range(home + 1, max(depths) + 1) if loops[k].directive]
        style = self.random.choice(
            ("nowhere", "nowhere", "all", "some", "some", "one", "construct")
        )
        named = {
            "nowhere": (),
            "all": tuple(k for k in inside if "seq" not in loops[k].words),
            "some": self.subset(inside, 50),
            "one": (self.random.choice(inside),) if inside else (),
            "construct": (-1, *self.subset(inside, 30)),
        }[style if kind in ("total", "inner") else "nowhere"]
        storage = self._storage()
        data = self.random.choice(("",) * 6 + ("copy", "region", "update", "enter"))
        if storage in ("file", "extern") and self.chance(25):
            data = "declare"
        return Accumulator(
            name=self._named(name, number, storage),
            type=type_,
            operator=operator,
            kind=kind,
            spelling=self.random.randrange(len(spellings(operator, type_))),
            depths=tuple(sorted(depths)),
            home=home,
            named=named,
            storage=storage,
            data=data if kind == "total" else "",
        )

    def _temporary(
        self, name: str, number: int, construct: str, combined: bool, loops: tuple[Loop, ...]
    ) -> Temporary:
        home = self.random.randrange(len(loops))
        form = self.random.choice(("plain",) * 5 + ("branch", "switch", "loop", "call", "pointer"))
        type_ = self.random.choice(_TYPES)
        if form == "pointer":
            type_ = self.random.choice(("int", "double"))
        around = [k for k in range(home + 1) if loops[k].directive]
        named: tuple[int, ...] = ()
        clause = "private"
        if self.chance(40):
            named = self.subset(around, 60)
        if self.chance(15):
            named, clause = (-1,), self.random.choice(("private", "firstprivate"))
        storage = self._storage()
        return Temporary(
            name=self._named(name, number, storage),
            type=type_,
            home=home,
            form=form,
            named=named,
            clause=clause,
            storage=storage,
            after=construct == "kernels" and not named and self.chance(30),
        )


def programs(seed: int, number: int, nests: int) -> list[Unit]:
    """The units of program `number` of a seed, numbered through all programs."""
    chooser = Chooser(seed * 1_000_003 + number)
    return [chooser.unit(number * nests + k) for k in range(nests)]
