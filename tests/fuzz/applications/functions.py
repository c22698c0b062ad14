"""The function around a unit's loops: declarations, data regions, the construct, and what is printed."""

from __future__ import annotations

from .model import EXTENTS, FLOATS, Accumulator, Temporary, Unit
from .operators import initial
from .render import COUNTERS, FAMILIES, Text, clauses, directive, nests
from .rules import reasons

Scalar = Accumulator | Temporary


def scalars(unit: Unit) -> list[Scalar]:
    return [*unit.accumulators, *unit.temporaries]


def globals_of(unit: Unit) -> tuple[list[str], list[str], list[str]]:
    """Lines for the header, for the file that defines globals, and for the unit's own file."""
    header, definitions, own = [], [], []
    for s in scalars(unit):
        declare = f"#pragma acc declare create({s.name})"
        declared = isinstance(s, Accumulator) and s.data == "declare"
        if s.storage == "extern":
            header += [f"extern {s.type} {s.name};", *([declare] if declared else [])]
            definitions.append(f"{s.type} {s.name};")
        elif s.storage == "file":
            own += [f"static {s.type} {s.name};", *([declare] if declared else [])]
    return header, definitions, own


def _array_parameter(unit: Unit, family: str, dimensions: int) -> str:
    name, extents = f"{family.lower()}{dimensions}", EXTENTS[dimensions][1:]
    const = "const " if family == "A" else ""
    if unit.arrays == "rows" and dimensions > 1:
        return f"{const}int (*{name})" + "".join(f"[{e}]" for e in extents)
    return f"{const}int *{name}"


def _sections(unit: Unit, used: list[tuple[str, int]], families: str) -> str:
    """Arrays as a data clause names them."""
    parts = []
    for family, n in used:
        if family not in families:
            continue
        if unit.arrays == "global":
            parts.append(f"{family}{n}")
        elif unit.arrays == "rows":
            parts.append(f"{family.lower()}{n}" + "".join(f"[0:{e}]" for e in EXTENTS[n]))
        else:
            parts.append(f"{family.lower()}{n}[0:{' * '.join(map(str, EXTENTS[n]))}]")
    return ", ".join(parts)


def _array_clauses(unit: Unit, used: list[tuple[str, int]]) -> list[str]:
    read, written = _sections(unit, used, "A"), _sections(unit, used, FAMILIES[1:])
    return [f"copyin({read})"] * bool(read) + [f"copy({written})"] * bool(written)


def _declarations(unit: Unit, used: list[tuple[str, int]]) -> tuple[list[str], list[str]]:
    """Parameters of the function, and the arguments of its call."""
    parameters, arguments = [], []
    for k, loop in enumerate(unit.loops):
        if loop.runtime:
            parameters.append(f"int n{k}")
            arguments.append(str(loop.extent))
    for family, n in used if unit.arrays != "global" else []:
        parameters.append(_array_parameter(unit, family, n))
        flat = unit.arrays == "pointer" or n == 1
        arguments.append(f"&{family}{n}{'[0]' * n}" if flat else f"{family}{n}")
    for s in scalars(unit):
        if s.storage == "parameter":
            parameters.append(f"{s.type} {s.name}")
            arguments.append("0")
    return parameters, arguments


def _top(unit: Unit, text: Text) -> None:
    """Declarations at the top, as C89 has them: several in one line where types agree."""
    groups: dict[str, list[str]] = {}
    for k, loop in enumerate(unit.loops):
        if loop.top:
            groups.setdefault(loop.type, []).append(COUNTERS[k])
    for s in scalars(unit):
        if s.storage in ("top", "static"):
            groups.setdefault(("static " if s.storage == "static" else "") + s.type, []).append(
                s.name
            )
    if any(t.form == "loop" for t in unit.temporaries):
        groups.setdefault("int", []).append("m")
    for type_, names in groups.items():
        text.add(f"{type_} {', '.join(names)};")
    for t in unit.temporaries:
        if t.clause == "firstprivate" and -1 in t.named:
            text.add(f"{t.name} = 1;")
    for a in unit.accumulators:
        if a.kind != "inner":
            text.add(f"{a.name} = {initial(a)};")


def construct(unit: Unit, used: list[tuple[str, int]]) -> str:
    """The compute directive."""
    words = [unit.construct]
    if unit.combined:
        words += ["loop", *directive(unit, 0)]
    words += [unit.sizes] * bool(unit.sizes)
    words += clauses(unit, [a for a in unit.accumulators if -1 in a.named], "construct")
    words += [f"{t.clause}({t.name})" for t in unit.temporaries if -1 in t.named]
    words += [f"copy({a.name})" for a in unit.accumulators if a.data == "copy"]
    if unit.mapping == "construct":
        words += _array_clauses(unit, used)
    elif unit.mapping == "region" and unit.chance("present", 50):
        words.append(f"present({_sections(unit, used, FAMILIES)})")
    return "#pragma acc " + " ".join(words)


def _before_and_after(unit: Unit, used: list[tuple[str, int]]) -> tuple[list[str], list[str]]:
    """Data directives before the construct, and after it; a data region is its block."""
    by_form: dict[str, list[str]] = {}
    for a in unit.accumulators:
        by_form.setdefault(a.data, []).append(a.name)
    region = [f"copy({name})" for name in by_form.get("region", [])]
    region += [f"create({name})" for name in by_form.get("update", [])]
    before, after = [], []
    moved = by_form.get("update", []) + by_form.get("declare", [])
    enter = [f"copyin({n})" for n in by_form.get("enter", [])]
    leave = [f"copyout({n})" for n in by_form.get("enter", [])]
    if unit.mapping == "region":
        region += _array_clauses(unit, used)
    elif unit.mapping == "enter":
        enter.append(f"copyin({_sections(unit, used, FAMILIES)})")
        leave.append(f"copyout({_sections(unit, used, FAMILIES[1:])})")
        leave.append(f"delete({_sections(unit, used, 'A')})")
        leave = [word for word in leave if "()" not in word]
    if enter:
        before.append("#pragma acc enter data " + " ".join(enter))
    if region:
        before += ["#pragma acc data " + " ".join(region), "{"]
    if moved:
        before.append(f"#pragma acc update device({', '.join(moved)})")
        after.append(f"#pragma acc update self({', '.join(moved)})")
    if region:
        after.append("}")
    if leave:
        after.append("#pragma acc exit data " + " ".join(leave))
    return before, after


def _print(unit: Unit, text: Text, name: str, type_: str) -> None:
    if type_ in FLOATS:
        text.add(f'printf("{unit.number} {name} %.17g\\n", (double){name});')
    else:
        text.add(f'printf("{unit.number} {name} %lld\\n", (long long){name});')


def function(unit: Unit) -> tuple[list[str], str]:
    """The lines of the unit's function, and the statement that calls it."""
    body = nests(unit)
    used = sorted(body.used)
    parameters, arguments = _declarations(unit, used)
    text = Text()
    _top(unit, text)
    before, after = _before_and_after(unit, used)
    for line in before:
        text.add(line)
    text.add(construct(unit, used))
    if not unit.combined:
        text.add("{")
    text.lines += body.lines
    if not unit.combined:
        text.add("}")
    for line in after:
        text.add(line)
    for a in unit.accumulators:
        if a.kind != "inner":
            _print(unit, text, a.name, a.type)
    for t in unit.temporaries:
        if t.after:
            _print(unit, text, t.name, t.type)
    for family, n in used:
        if family != "A":
            total = " * ".join(map(str, EXTENTS[n]))
            text.add(f'show({unit.number}, "{family}{n}", &{family}{n}{"[0]" * n}, {total});')
    head = f"void nest_{unit.number}({', '.join(parameters) or 'void'})"
    comments = [f"/* {line} */" for line in reasons(unit)]
    call = f"nest_{unit.number}({', '.join(arguments)});"
    return [*comments, head, "{", *text.lines, "}"], call


def prototype(lines: list[str]) -> str:
    """The declaration of a function, from its lines."""
    return next(line for line in lines if line.startswith("void ")) + ";"
