"""The loops of a unit as C."""

from __future__ import annotations

from dataclasses import dataclass, field

from .model import EXTENTS, Accumulator, Temporary, Unit
from .operators import initial, update

FAMILIES = "ARSPUVW"
"""
Arrays: A is read; R, S and P get elements, results of inner accumulators and running values; U, V and W
the same of the second nest.
"""
COUNTERS = ("i", "j", "k", "l")


@dataclass
class Text:
    """Lines of C being written."""

    lines: list[str] = field(default_factory=list)
    indent: int = 1
    used: set[tuple[str, int]] = field(default_factory=set)

    def add(self, line: str) -> None:
        self.lines.append(line if line.startswith("#") else "    " * self.indent + line)

    def open(self, line: str) -> None:
        self.add(line)
        self.indent += 1

    def close(self) -> None:
        self.indent -= 1
        self.add("}")


def element(unit: Unit, text: Text, family: str, depth: int) -> str:
    """The element of the present iteration at a depth."""
    dimensions = depth + 1
    text.used.add((family, dimensions))
    names = COUNTERS[:dimensions]
    if unit.arrays == "global":
        return f"{family}{dimensions}" + "".join(f"[{n}]" for n in names)
    name = f"{family.lower()}{dimensions}"
    if unit.arrays == "rows":
        return name + "".join(f"[{n}]" for n in names)
    linear = names[0]
    for extent, n in zip(EXTENTS[dimensions][1:], names[1:], strict=True):
        linear = f"({linear}) * {extent} + {n}" if "+" in linear else f"{linear} * {extent} + {n}"
    return f"{name}[{linear}]"


def value(unit: Unit, text: Text, depth: int, salt: object, before: int | None = None) -> str:
    """An integer expression between -60 and 60 of what the iteration knows at a depth."""
    visible = [t for t in unit.temporaries[:before] if t.home <= depth]
    terms = [element(unit, text, "A", depth)]
    if visible:
        terms.append(f"(int){unit.pick(('t', salt), visible).name}")
        if before is None and unit.chance(("t2", salt), 50):
            terms.append(f"(int){unit.pick(('t3', salt), visible).name}")
    if len(terms) == 1 or unit.chance(("i", salt), 40):
        terms.append(f"(int)({COUNTERS[depth]} % 7)")
    joined = terms[0] + "".join(
        f" {unit.pick(('sign', salt, n), '+-')} {term}" for n, term in enumerate(terms[1:])
    )
    return f"({joined})"


def head(unit: Unit, position: int) -> str:
    loop, name = unit.loops[position], COUNTERS[position]
    bound = f"n{position}" if loop.runtime else str(loop.extent)
    start = "" if loop.top else f"{loop.type} "
    if loop.type in ("unsigned", "size_t") and loop.form == 2:
        return f"for ({start}{name} = 0; {name} != {bound}; {name}++)"
    forms = (
        f"for ({start}{name} = 0; {name} < {bound}; {name}++)",
        f"for ({start}{name} = 0; {name} <= {bound} - 1; ++{name})",
        f"for ({start}{name} = {bound} - 1; {name} >= 0; {name}--)",
        f"for ({start}{name} = 1; {name} < {bound}; {name} += 2)",
        f"for ({start}{name} = {COUNTERS[position - 1]}; {name} < {bound}; {name}++)",
    )
    return forms[loop.form]


def clause(unit: Unit, a: Accumulator) -> str:
    """The reduction clause. What is subtracted from is a sum (2.5.15 has no `-`, which some write)."""
    minus = a.operator == "-" and unit.chance(("minus", a.name), 90)
    return f"reduction({'+' if minus else a.operator}:{a.name})"


def clauses(unit: Unit, named: list[Accumulator], salt: object) -> list[str]:
    """The reduction clauses of a directive: one for two scalars with one operator, or two."""
    words = [clause(unit, a) for a in named]
    starts = [word.rpartition(":")[0] for word in words]
    if len(words) == 2 and starts[0] == starts[1] and unit.chance(("one clause", salt), 60):
        return [f"{starts[0]}:{named[0].name}, {named[1].name})"]
    return words


def directive(unit: Unit, position: int) -> list[str]:
    """The clauses of a loop's directive."""
    loop = unit.loops[position]
    words = [*loop.words, *loop.levels, *([loop.together] if loop.together else [])]
    words += clauses(unit, [a for a in unit.accumulators if position in a.named], position)
    private = [t.name for t in unit.temporaries if position in t.named and position >= 0]
    private += [COUNTERS[v] for k, v in unit.private_counters if k == position]
    if private:
        words.append(f"private({', '.join(private)})")
    return words


def assign(unit: Unit, text: Text, t: Temporary, salt: object) -> None:
    """Gives a temporary its value."""
    before = unit.temporaries.index(t)
    e = value(unit, text, t.home, (salt, t.name), before)
    mask = " & 1" if t.type == "_Bool" else " & 15" if t.type.startswith("unsigned") else " % 17"
    match t.form:
        case "branch":
            text.add(f"if ({e} > 2) {t.name} = {e}{mask};")
            text.add(f"else {t.name} = 4 - (int)({COUNTERS[t.home]} % 3) & 1;")
        case "switch":
            text.open(f"switch ({e} & 3) {{")
            text.add(f"case 0: {t.name} = 1; break;")
            text.add(f"case 1: {t.name} = {e}{mask}; break;")
            text.add(f"default: {t.name} = 0; break;")
            text.close()
        case "loop":
            text.add(f"{t.name} = 1;")
            text.add(f"for (m = 0; m < 3; m++) {t.name} = ((int){t.name} + m * {e}){mask};")
        case "call":
            text.add(f"{t.name} = scaled({e}, 3){mask};")
        case "pointer":
            text.add(f"put_{t.type.replace(' ', '_')}(&{t.name}, {e}{mask});")
        case _:
            text.add(f"{t.name} = {e}{mask};")


def reset(unit: Unit, text: Text, a: Accumulator) -> str:
    """The value an inner accumulator begins with: one that leaves room for the updates."""
    if a.operator in "+-" and a.type != "_Bool" and unit.chance(("reset", a.name), 40):
        return f"{element(unit, text, 'A', a.home)} & 7"
    return initial(a)


def change(unit: Unit, text: Text, a: Accumulator, depth: int, salt: object, family: str) -> None:
    """The update of an accumulator at a depth."""
    e, f = (value(unit, text, depth, (salt, a.name, depth, n)) for n in range(2))
    condition = f"({element(unit, text, 'A', depth)} > 1)"
    match a.kind:
        case "carried":
            text.add(f"{a.name} = ({a.name} * 3 + {e}) % 101;")
        case "flag":
            text.add(f"if ({e} > 5) {a.name} = 1;")
        case _:
            text.add(update(a, e, f, condition))
    if a.kind in ("prefix", "carried"):
        text.add(f"{element(unit, text, family, depth)} = (int){a.name};")


def level(unit: Unit, text: Text, depth: int, salt: object, families: str) -> None:
    """Loop `depth` and all inside; `families` of arrays for elements, results, running values."""
    loop = unit.loops[depth]
    if loop.directive and not (depth == 0 and unit.combined):
        text.add(" ".join(["#pragma acc loop", *directive(unit, depth)]))
    text.open(head(unit, depth) + " {")
    for t in unit.temporaries:
        if t.home == depth:
            assign(unit, text, t, salt)
    inner = [a for a in unit.accumulators if a.kind == "inner" and a.home == depth]
    for a in inner:
        text.add(f"{a.name} = {reset(unit, text, a)};")
    for a in unit.accumulators:
        if depth in a.depths:
            change(unit, text, a, depth, salt, families[2])
    last = depth == unit.depth - 1
    if last:
        if not unit.accumulators or unit.chance("store", 60):
            text.add(
                f"{element(unit, text, families[0], depth)} = {value(unit, text, depth, salt)};"
            )
    else:
        level(unit, text, depth + 1, salt, families)
        if depth == unit.depth - 2 and unit.twice:
            level(unit, text, depth + 1, (salt, "twice"), "UVW")
        results = " + ".join(f"(int){a.name}" for a in inner)
        if results:
            text.add(f"{element(unit, text, families[1], depth)} = {results};")
        elif not unit.tight(depth) and unit.chance(("post", depth), 30):
            text.add(
                f"{element(unit, text, families[0], depth)} = {value(unit, text, depth, 'post')};"
            )
    text.close()


def nests(unit: Unit) -> Text:
    """The construct's loops."""
    text = Text(indent=2)
    level(unit, text, 0, 0, "RSP")
    if unit.chains > 1:
        level(unit, text, 0, 1, "UVW")
    return text
