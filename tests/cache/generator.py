"""
Random nests with `cache` directives: one to three parallel loops around code that reads and writes
sections of arrays. -DNO_CACHE compiles the same program without the directives; the outputs are equal.

An index is a sum of loop variables times constants (`Linear`), so that its range is known here: arrays are
exactly as large as the accesses need, and sections, which may extend further, then exceed the mapped part.
Every iteration writes only its own elements. All numbers are small integers, in floating point too, so that
the order of additions does not matter.
"""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

from nest_model import HEAD, Array, Linear, Loop, Nest, Range, variable

MOST_TURNS = 100
"""Of a loop over a section."""
LARGE_SEED = 5000
"""The first seed with long sections, for tiles whose size is known only at the launch, and with while
loops."""

SPLIT_SEED = 8000
"""The first seed with arrays that are named by two sections, or accessed outside of the directive's
scope."""


class Generator:
    """Makes one nest from a seed."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.large = seed >= LARGE_SEED
        self.splits = seed >= SPLIT_SEED
        self.lines: list[str] = []
        self.indent = 1
        self.strict_indices = True
        self.overlapping = False
        self.inner: dict[str, Range] = {}
        self.own: dict[str, tuple[int, int]] = {}
        """Of a written array along a loop: where an iteration's elements begin, and how many there are."""
        self.fresh = 0

    def chance(self, probability: float) -> bool:
        return self.random.random() < probability

    def pick(self, *choices: int) -> int:
        return self.random.choice(choices)

    def add(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def name(self, prefix: str, low: int, high: int) -> str:
        """A new variable with values from `low` to `high`."""
        self.fresh += 1
        found = f"{prefix}{self.fresh}"
        self.inner[found] = (low, high)
        return found

    # What the nest consists of

    def make(self) -> Nest:
        rank = self.pick(1, 1, 2, 2, 2, 3)
        self.loops = [self._loop(name, rank) for name in "ijm"[:rank]]
        self.block = self.pick(0, 0, 4, 8, 16)
        self.tail = self.chance(0.5)
        self.around_lanes = rank > 1 and not self.block and self.chance(0.12)
        self.arrays = [self._array(f"a{n}") for n in range(self.pick(1, 1, 2, 3))]
        if not self.around_lanes and self.chance(0.35):
            self.arrays.append(self._written("w"))
        own = [variable(loop.name) for loop in self.loops]
        self.out = Array("out", "double", own, [1] * rank)
        self._nest()
        found = Nest(
            self.loops,
            self.arrays,
            self.out,
            self._sizes(),
            self.inner,
            self.strict_indices,
            self.overlapping,
        )
        found.keep_small()
        lines = [HEAD, *found.constants(), self._signature(), "{", *self._lasts(), *self.lines, "}"]
        found.text = "\n".join([*lines, ""])
        return found

    def _loop(self, name: str, rank: int) -> Loop:
        count = None
        if self.chance(0.25):
            count = self.pick(1, 5, 16, 32, 33, 64) if rank < 3 else self.pick(2, 4, 16, 19)
        return Loop(
            name,
            f"n{name}",
            self.pick(0, 0, 1, 3),
            self.pick(1, 1, 1, 2, 3),
            self.chance(0.15),
            count,
        )

    def _sizes(self) -> list[dict[str, int]]:
        ranges = {1: (0, 700), 2: (0, 70), 3: (0, 20)}
        low, high = ranges[len(self.loops)]
        found: list[dict[str, int]] = []
        for _ in range(3):
            sizes = {loop.trips: self.random.randint(low, high) for loop in self.loops}
            if self.block:
                sizes["p"] = self.random.randint(0, 3 * self.block + 1)
                if not self.tail:
                    sizes["p"] = sizes["p"] // self.block * self.block
            found.append(sizes)
        return found

    def _element(self, written: bool) -> str:
        names = ["float", "float", "double", "double", "int", "long", "short", "signed char"]
        return self.random.choice(names if written else [*names, "struct pair"])

    def _array(self, name: str) -> Array:
        """An array that is read; chooses the loop that each dimension of its section follows."""
        rank = self.pick(1, 1, 2, 2, 3)
        if rank == 1 and len(self.loops) > 1 and self.chance(0.3):
            rank = 2
        lowers: list[Linear] = []
        lengths: list[int] = []
        sequential = self.random.randrange(rank) if self.block and self.chance(0.85) else -1
        loops = self.loops[:-1] if self.around_lanes else self.loops
        for d in range(rank):
            if d == sequential:
                lower, length = variable("k"), self.block
                if self.chance(0.15):
                    lower = lower.plus(self._moving(loops))
            elif self.chance(0.15):
                lower, length = Linear((), 0), self.pick(1, 2, 5, 8)
            else:
                lower, length = self._moving(loops), self.pick(1, 1, 2, 3, 3, 4, 7)
                if self.chance(0.08):
                    lower = lower.plus(self._moving(loops))
            lowers.append(lower.plus(self.pick(-2, -1, 0, 0, 0, 1)))
            lengths.append(length)
        if self.large and rank == 1 and sequential < 0 and self.chance(0.2):
            lengths = [self.pick(300, 5000, 7000, 13000)]
        flat = rank == 2 and lengths[0] == 1 and self.chance(0.5)
        array = Array(name, self._element(False), lowers, lengths, flat=flat)
        array.fixed = not flat and self.chance(0.3)
        array.readonly = self.chance(0.4)
        return array

    def _moving(self, loops: list[Loop]) -> Linear:
        loop = self.random.choice(loops)
        rate = self.pick(1, 1, 1, 1, 2, 3, -1, -2)
        if rate < 0:
            return variable(f"({loop.name}_last - {loop.name})", -rate)
        return variable(loop.name, rate)

    def _written(self, name: str) -> Array:
        """An array with a section in which every iteration writes its own elements."""
        lowers: list[Linear] = []
        lengths: list[int] = []
        for loop in self.loops:
            rate = self.pick(1, 1, 2)
            before, behind = self.pick(0, 0, 1), self.pick(0, 0, 1)
            lowers.append(variable(loop.name, rate).plus(-before))
            length = before + self.random.randint(1, rate * loop.step) + behind
            lengths.append(length)
            self.overlapping |= before + behind > 0
            self.own[f"{name}{loop.name}"] = (before, rate * loop.step)
        return Array(name, self._element(True), lowers, lengths, written=True)

    # Code

    def _signature(self) -> str:
        parameters = [loop.trips for loop in self.loops] + (["p"] if self.block else [])
        pointers: list[str] = ["const int *restrict sel"]
        for array in [*self.arrays, self.out]:
            rank = len(array.lowers)
            if array.flat:
                parameters += [f"{array.name}_n", f"{array.name}_1", f"{array.name}_o"]
                pointers.append(f"{array.type} *restrict {array.name}")
                continue
            parameters += [f"{array.name}_{d}" for d in range(rank)]
            parameters += [f"{array.name}_o{d}" for d in range(rank)]
            inner = "".join(
                f"[{array.name.upper()}_{d}]" if array.fixed else f"[{array.name}_{d}]"
                for d in range(1, rank)
            )
            name = f"(*restrict {array.name})" if inner else f"*restrict {array.name}"
            pointers.append(f"{array.type} {name}{inner}")
        integers = ", ".join(f"int {name}" for name in parameters)
        return f"void f({integers}, {', '.join(pointers)})"

    def _lasts(self) -> list[str]:
        found: list[str] = []
        for loop in self.loops:
            count = loop.trips if loop.count is None else str(loop.count)
            found.append(
                f"    int {loop.name}_last = {loop.first} + {loop.step} * ({count} > 0 ? {count} - 1 : 0);"
            )
        return found

    def _data(self) -> str:
        clauses = ["copyin(sel[0:64])"]
        for array in [*self.arrays, self.out]:
            extent = f"{array.name}_n" if array.flat else f"{array.name}_0"
            kind = "copy" if array.written or array is self.out else "copyin"
            clauses.append(f"{kind}({array.name}[0:{extent}])")
        return " ".join(clauses)

    def _nest(self) -> None:
        rank = len(self.loops)
        sizes = ""
        if self.chance(0.2):
            sizes = f" vector_length({self.pick(32, 64, 128)})"
        elif self.chance(0.1) and rank == 2:
            sizes = f" num_workers({self.pick(2, 4)}) vector_length(32)"
        if self.splits and self.chance(0.2):
            sizes += f" num_gangs({self.pick(1, 2, 5)})"
        nested = self.around_lanes or (rank > 1 and self.chance(0.4))
        collapse = f" collapse({rank})" if rank > 1 and not nested else ""
        gang = " gang" if self.around_lanes or (nested and self.chance(0.3)) else ""
        self.add(f"#pragma acc parallel loop{gang}{collapse}{sizes} {self._data()}")
        for level, loop in enumerate(self.loops):
            if level and nested:
                last = level == rank - 1
                word = (
                    " vector" if last and (self.around_lanes or (gang and self.chance(0.5))) else ""
                )
                if last and self.around_lanes:
                    self._directives(self.arrays)
                self.add(f"#pragma acc loop{word}")
            self.add(loop.head + (" {" if nested or level == rank - 1 else ""))
            self.indent += 1
            if nested and level < rank - 1 and self.chance(0.3):
                self.add(f"int t{level} = {loop.name} * 3 + 1;")
                self.add(f"(void)t{level};")
        self._body()
        for level in reversed(range(rank)):
            self.indent -= 1
            if nested or level == rank - 1:
                self.add("}")

    def _body(self) -> None:
        self.add("double sum = 0;")
        self.add(
            f"int s = {' + '.join(f'{n + 2} * {loop.name}' for n, loop in enumerate(self.loops))};"
        )
        reads = [a for a in self.arrays if not a.written]
        writes = [a for a in self.arrays if a.written]
        if self.block:
            outside = [a for a in reads if not self._uses_k(a)]
            inside = [a for a in reads if self._uses_k(a)]
            if not self.around_lanes:
                self._directives(outside)
            counts = self.large and self.chance(0.1)
            if counts:
                self.add("int k = 0;")
                self.add("while (k < p) {")
            else:
                self.add(f"for (int k = 0; k < p; k += {self.block}) {{")
            self.indent += 1
            self._directives(inside)
            if inside:
                self._renewed(inside)
            if outside and self.chance(0.5):
                self._reads(self.random.choice(outside))
            if counts:
                self.add(f"k += {self.block};")
            self.indent -= 1
            self.add("}")
            reads = outside
        elif not self.around_lanes:
            self._directives(reads)
        for array in reads:
            for _ in range(self.pick(1, 1, 2)):
                self._reads(array)
        for array in writes:
            own = [
                lower.plus(self.own[f"{array.name}{loop.name}"][0])
                for lower, loop in zip(array.lowers, self.loops, strict=True)
            ]
            if self.splits and self.chance(0.4):
                self.add(f"{array.access(own)} += {self.pick(1, 2)};")
            inner = self.splits and self.chance(0.5)
            self.add("{" if inner else ";")
            self._directives([array])
            self._writes(array)
            self.add("}" if inner else ";")
            if inner and self.chance(0.7):
                self.add(f"sum += 2 * {array.access(own)};")
                self.add(f"{array.access(own)} -= {self.pick(1, 2)};")
        self.add(f"{self.out.access(self.out.lowers)} += sum;")

    def _uses_k(self, array: Array) -> bool:
        return any(name == "k" for lower in array.lowers for name, _ in lower.terms)

    def _directives(self, arrays: list[Array]) -> None:
        """The directives of some arrays, one or several."""
        left = list(arrays)
        while left:
            count = self.random.randint(1, len(left))
            chosen, left = left[:count], left[count:]
            readonly = all(a.readonly for a in chosen)
            sections = [text for a in chosen for text in self._sections(a)]
            prefix = "readonly: " if readonly else ""
            if self.splits and self.chance(0.3):
                for text in sections:
                    self.add(f"CACHE({prefix}{text})")
            else:
                self.add(f"CACHE({prefix}{', '.join(sections)})")

    def _sections(self, array: Array) -> list[str]:
        """What a directive names of an array: its section, or two that may overlap or leave gaps."""
        long = [d for d, length in enumerate(array.lengths) if length > 1]
        if not self.splits or not long or array.flat or not self.chance(0.35):
            return [array.section()]
        d = self.random.choice(long)
        length = array.lengths[d]
        ends = self.random.randint(1, length), self.random.randint(0, length - 1)
        first, second = list(array.lengths), list(array.lengths)
        first[d], second[d] = ends[0], length - ends[1]
        lowers = list(array.lowers)
        lowers[d] = lowers[d].plus(ends[1])
        if not array.written or ends[0] < ends[1]:
            self.strict_indices = False
        texts = [
            replace(array, lengths=first).section(),
            replace(array, lengths=second, lowers=lowers).section(),
        ]
        self.random.shuffle(texts)
        return texts

    def _renewed(self, arrays: list[Array]) -> None:
        """Code in the sequential loop whose variable is `k`: `q` runs over the block."""
        form = self.pick(0, 1, 2)
        end = f"MIN(k + {self.block}, p)" if self.tail else f"k + {self.block}"
        if form == 0:
            self.add(f"for (int q = k; q < {end}; q++) {{")
        elif form == 1:
            self.add(f"for (int o = 0; o < {self.block}; o++) {{")
        else:
            self.add(f"for (int q = {end} - 1; q >= k; q--) {{")
        self.indent += 1
        if form == 1:
            self.add("int q = k + o;")
            if self.tail:
                self.add("if (q < p)")
                self.indent += 1
        product_ = " * ".join(a.access(self._index(a)) for a in arrays)
        self.add(f"sum += {product_};")
        self.indent -= 2 if form == 1 and self.tail else 1
        self.add("}")

    def _index(self, array: Array) -> list[Linear]:
        """An element of the section: `q` in the dimension of the blocks, else anywhere."""
        found: list[Linear] = []
        for lower, length in zip(array.lowers, array.lengths, strict=True):
            terms = dict(lower.terms)
            if "k" in terms:
                del terms["k"]
                # The section begins at k plus a constant that an access to `q` must not fall behind.
                found.append(Linear((("q", 1), *terms.items()), lower.constant))
            else:
                found.append(lower.plus(self.random.randrange(length)))
        return found

    def _reads(self, array: Array) -> None:
        """Reads elements of a section that is not renewed here, or that the loop around renews."""
        index = [lower.plus(0) for lower in array.lowers]
        heads: list[str] = []
        for d, length in enumerate(array.lengths):
            form = self.random.random()
            if length > MOST_TURNS:
                form = 0.3 if form < 0.5 else 0.9
            if form < 0.35:
                index[d] = index[d].plus(self.random.randrange(length))
            elif form < 0.65:
                name = self.name("r", 0, length - 1)
                heads.append(f"for (int {name} = 0; {name} < {length}; {name}++)")
                index[d] = index[d].plus(variable(name))
            elif form < 0.8:
                low, high = sorted((self.random.randrange(length), self.random.randrange(length)))
                name = self.name("r", low, high)
                heads.append(f"for (int {name} = {high}; {name} >= {low}; {name}--)")
                index[d] = index[d].plus(variable(name))
            else:
                reach = length
                if self.chance(0.4):
                    reach, self.strict_indices = 2 * length, False
                name = self.name("z", 0, reach - 1)
                self.add(f"int {name} = sel[s % 61] % {reach};")
                index[d] = index[d].plus(variable(name))
        if self.chance(0.2):
            heads.append(f"if ((s + {self.pick(0, 1, 2)}) % 3)")
        access = array.access(index)
        if self.chance(0.2):
            heads.append(f"if ({access} > -3)")
        self.add(" ".join([*heads, f"sum += {self.pick(1, 2, 3)} * {access};"]))

    def _writes(self, array: Array) -> None:
        own: list[list[int]] = []
        for loop, length in zip(self.loops, array.lengths, strict=True):
            before, most = self.own[f"{array.name}{loop.name}"]
            own.append(list(range(before, min(length, before + most))))
        choices = list(product(*own))
        for deltas in (choices[0], choices[-1]):  # the array has all of them
            ends = zip(array.lowers, deltas, strict=True)
            array.indices.append([lower.plus(delta) for lower, delta in ends])
        chosen = self.random.sample(choices, min(len(choices), self.pick(1, 2, 3)))
        loop = self.chance(0.6)
        condition = self.pick(0, 0, 1, 2)
        if loop:
            self.add(f"for (int t = 0; t < {self.random.choice(['3', '5', 'sel[0] % 4'])}; t++) {{")
            self.indent += 1
        for deltas in chosen:
            index = [lower.plus(delta) for lower, delta in zip(array.lowers, deltas, strict=True)]
            name = array.access(index)
            guard = ""
            if condition == 1:
                guard = f"if (s % {self.pick(2, 5)} == 0) "
            elif condition == 2:
                guard = f"if ({name} > 0) "
            value = f"{self.pick(1, 2, 3)} - {name}" + (" + t % 2" if loop else "")
            self.add(f"{guard}{name} = {value};")
        if loop:
            self.indent -= 1
            self.add("}")
        self.add(
            f"sum += {array.access([a.plus(d) for a, d in zip(array.lowers, chosen[0], strict=True)])};"
        )


def make_nest(seed: int) -> Nest:
    """The nest of a seed."""
    return Generator(seed).make()


def make_options(seed: int, *, strict_indices: bool) -> str:
    """Random options of promote-cache-to-shared that keep the program's meaning."""
    chosen = random.Random(seed * 7919 + 1)
    options = {"promote": chosen.choice(["always", "always", "always", "auto"])}
    methods = ["auto", "auto", "auto", "rbc", "ehc"]
    if strict_indices:
        methods += ["rbi", "rbi"]
        if chosen.random() < 0.2:
            options["trust"] = "true"
    options["method"] = chosen.choice(methods)
    options["write"] = chosen.choice(["auto", "through", "back", "mask"])
    options["renewal"] = chosen.choice(["private", "private", "communicating"])
    options["fetch"] = chosen.choice(["auto", "registers", "async"])
    if seed % 4 == 1:
        options["fetch"] = "bulk"
    if chosen.random() < 0.5:
        options["rows"], options["columns"] = (str(chosen.randint(1, 4)) for _ in range(2))
    if chosen.random() < 0.3:
        options["block_x"] = str(chosen.choice([16, 32, 64]))
        options["block_y"] = str(chosen.choice([2, 4, 8]))
    if chosen.random() < 0.3:
        options["padding"] = str(chosen.choice([0, 1, 2, 3]))
    if options["method"] == "ehc":
        options["sets"], options["ways"] = str(chosen.choice([1, 4, 8])), str(chosen.choice([1, 2]))
    if chosen.random() < 0.5:
        options["stages"] = str(chosen.choice([1, 2]))
    return " ".join(f"{name}={value}" for name, value in options.items())
