"""
Programs that check calling conventions against another compiler: `generate(seed, count)` is a C file for
both sides. Every function has a random signature; it compares what it gets with what every caller passes,
and the callers compare the result. Compiled as `-DSIDE=ours` and `-DSIDE=theirs` (and `-DOTHER=` the
reverse), `main` of one side calls the other by name and through pointers, lets the other call back, and
prints the functions with wrong results.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

INTEGERS = (
    "char",
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long",
    "unsigned long",
    "long long",
    "__int128",
    "_Bool",
    "enum Kind",
)
FLOATS = ("float", "double", "_Float16")
WIDE = ("long double",)
BIT_FIELDS = (("unsigned", 24), ("int", 24), ("unsigned char", 7), ("long long", 40))
"""Types of bit-fields, and how wide they are at most."""
COMPLEX = ("float _Complex", "double _Complex", "long double _Complex")


WISHES = ("__attribute__((aligned(16)))", "__attribute__((aligned(32)))")
"""Alignments of members and of types."""


@dataclass
class Record:
    """A structure or union: the declarations of its members, and the paths of the scalars to fill and
    compare."""

    name: str
    text: str
    leaves: list[tuple[str, str]]
    """(path from the record, which is `@`, scalar type)"""


@dataclass
class Generator:
    seed: int
    records: list[Record] = field(default_factory=list[Record])

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.value = 0

    def scalar(self) -> str:
        r = self.random.random()
        if r < 0.5:
            return self.random.choice(INTEGERS)
        if r < 0.9:
            return self.random.choice(FLOATS)
        return self.random.choice(WIDE) if r < 0.95 else "void *"

    def record(self) -> Record:
        name = f"R{len(self.records)}"
        members: list[str] = []
        leaves: list[tuple[str, str]] = []
        union = self.random.random() < 0.15
        same = self.scalar() if self.random.random() < 0.3 else None
        count = self.random.randint(1, 4) if self.random.random() < 0.97 else 0
        for n in range(count):
            member = f"m{n}"
            r = self.random.random()
            own: list[tuple[str, str]] = []
            if same is None and r < 0.15 and self.records:
                inner = self.random.choice(self.records[-6:])
                members.append(f"struct {inner.name} {member};")
                own = [(path.replace("@", f"@.{member}"), t) for path, t in inner.leaves]
            elif same is None and r < 0.25:
                base, most = self.random.choice(BIT_FIELDS)
                width = self.random.randint(1, most)
                members.append(f"{base} {member} : {width};")
                if self.random.random() < 0.1:
                    members.append(f"{base} : 0;")
                own = [(f"@.{member}", f"bits {width - (base in ('int', 'long long'))}")]
            elif r < 0.45:
                t = same or self.scalar()
                length = self.random.randint(1, 3)
                declared = (
                    f"void *{member}[{length}];" if t == "void *" else f"{t} {member}[{length}];"
                )
                members.append(declared)
                own = [(f"@.{member}[{i}]", t) for i in range(length)]
            else:
                t = same or self.scalar()
                if same is None and self.random.random() < 0.1:
                    t = self.random.choice(COMPLEX)
                wish = self.random.choice(WISHES) if self.random.random() < 0.06 else ""
                members.append(f"{wish} {t} {member};")
                own = _leaves(t, f"@.{member}")
            if not union or n == 0:
                leaves += own  # of a union, the first member is used
        body = " ".join(members)
        wish = self.random.choice(("packed", *WISHES)) if self.random.random() < 0.1 else ""
        wish = f"__attribute__(({wish}))" if wish == "packed" else wish
        if union:
            text = f"struct {name} {{ union {{ {body} }} u; }} {wish};"
            leaves = [(path.replace("@", "@.u"), t) for path, t in leaves]
        else:
            text = f"struct {name} {{ {body} }} {wish};"
        made = Record(name, text, leaves)
        self.records.append(made)
        return made

    def type(self, *, variadic: bool = False) -> str | Record:
        r = self.random.random()
        if r < 0.45:
            if self.records and self.random.random() < 0.7:
                return self.random.choice(self.records)
            return self.record()
        if r < 0.55:
            return self.random.choice(COMPLEX)
        t = self.scalar()
        if variadic:
            t = {"float": "double"}.get(t, t)
            if "char" in t or "short" in t or t == "_Bool":
                t = "int"
        return t

    def literal(self, t: str) -> str:
        self.value += 1
        n = self.value
        if t.startswith("bits "):
            return str(n % (1 << int(t[5:])))
        if t == "_Bool":
            return str(n % 2)
        if t == "enum Kind":
            return f"(enum Kind){n % 3}"
        if t == "void *":
            return f"(void *)(long){n * 4096}"
        if t in FLOATS + WIDE:
            return f"({t})({n % 1000}.5)"
        if "char" in t:
            return f"({t}){n % 200}"
        return f"({t})({'-' if n % 3 == 0 and 'unsigned' not in t else ''}{n})"


def _name(t: str | Record) -> str:
    return f"struct {t.name}" if isinstance(t, Record) else t


def _leaves(t: str | Record, variable: str) -> list[tuple[str, str]]:
    if isinstance(t, Record):
        return [(path.replace("@", variable), leaf) for path, leaf in t.leaves]
    if "_Complex" in t:
        element = t.removesuffix(" _Complex")
        return [(f"{part} {variable}", element) for part in ("__real__", "__imag__")]
    return [(variable, t)]


def generate(seed: int, count: int) -> str:
    """The C file of `count` functions."""
    g = Generator(seed)
    parts: list[str] = []
    calls: list[str] = []
    for i in range(count):
        variadic = g.random.random() < 0.2
        result = g.type() if g.random.random() < 0.85 else "void"
        params = [g.type() for _ in range(g.random.randint(1, 9))]
        extra = [g.type(variadic=True) for _ in range(g.random.randint(1, 6))] if variadic else []
        parts.append(_function(g, i, result, params, extra))
        calls.append(f"    CHECK({i})")
    records = "\n".join(r.text for r in g.records)
    return _FRAME.format(records=records, functions="\n".join(parts), calls="\n".join(calls))


def _function(
    g: Generator,
    i: int,
    result: str | Record,
    params: list[str | Record],
    extra: list[str | Record],
) -> str:
    declared = ", ".join(f"{_name(p)} a{n}" for n, p in enumerate(params))
    types = ", ".join(_name(p) for p in params) + (", ..." if extra else "")
    dots = ", ..." if extra else ""
    everything = [*params, *extra]
    fill: list[str] = []
    compare: list[str] = []
    for n, t in enumerate(everything):
        if isinstance(t, Record):
            fill.append(f"memset(&a{n}, 0, sizeof a{n});")
        for path, leaf in _leaves(t, f"a{n}"):
            literal = g.literal(leaf)
            fill.append(f"{path} = {literal};")
            compare.append(f"bad |= {path} != {literal};")
    locals_ = " ".join(f"{_name(t)} a{n};" for n, t in enumerate(everything))
    arguments = ", ".join(f"a{n}" for n in range(len(everything)))
    given, wanted = [], []
    for path, leaf in _leaves(result, "r") if result != "void" else []:
        literal = g.literal(leaf)
        given.append(f"{path} = {literal};")
        wanted.append(f"bad |= {path} != {literal};")
    returns = f"{_name(result)} r;" if result != "void" else ""
    clear = "memset(&r, 0, sizeof r);" if result != "void" else ""
    leave = "return r;" if result != "void" else ""
    takes = ""
    if extra:
        first = len(params)
        reads = " ".join(
            f"{_name(t)} a{first + n} = va_arg(list, {_name(t)});" for n, t in enumerate(extra)
        )
        takes = f"va_list list; va_start(list, a{first - 1}); {reads} va_end(list);"
    store = "r = " if result != "void" else ""
    comparing, giving = "\n    ".join(compare), "\n    ".join(given)
    return f"""
typedef {_name(result)} (*T{i})({types});
{_name(result)} NAME(OTHER, f{i})({types});
{_name(result)} NAME(SIDE, f{i})({declared}{dots}) {{
    int bad = 0; {returns} {takes} {clear}
    {comparing}
    {giving}
    if (bad) NAME(SIDE, wrong)++;
    {leave}
}}
int NAME(OTHER, drive{i})(T{i});
#define DRIVE(F) {locals_} {returns} int bad = 0; \\
    {" ".join(fill)} \\
    {store}F({arguments}); \\
    {" ".join(wanted)} \\
    return bad;
int NAME(SIDE, drive{i})(T{i} f) {{ DRIVE(f) }}
int NAME(SIDE, own{i})(void) {{ DRIVE(NAME(SIDE, f{i})) }}
#ifdef MAIN
int NAME(SIDE, named{i})(void) {{ DRIVE(NAME(OTHER, f{i})) }}
#endif
#undef DRIVE
"""


_FRAME = """#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#define PASTE(a, b) a##_##b
#define NAME(a, b) PASTE(a, b)
int NAME(SIDE, wrong);
extern int NAME(OTHER, wrong);
enum Kind {{ ONE, TWO, THREE }};
{records}
{functions}
#define STEP(i, what, call) if ((call) + NAME(SIDE, wrong) + NAME(OTHER, wrong)) {{ \\
    printf("f%d: %s\\n", i, what); NAME(SIDE, wrong) = NAME(OTHER, wrong) = 0; failed++; }}
#define CHECK(i) STEP(i, "call out", NAME(SIDE, named##i)()) STEP(i, "call within", NAME(SIDE, own##i)()) \\
    STEP(i, "pointer out", NAME(SIDE, drive##i)(NAME(OTHER, f##i))) \\
    STEP(i, "pointer within", NAME(SIDE, drive##i)(NAME(SIDE, f##i))) \\
    STEP(i, "call in", NAME(OTHER, drive##i)(NAME(SIDE, f##i)))
#ifdef MAIN
int main(void) {{
    int failed = 0;
{calls}
    printf("%d wrong\\n", failed);
    return failed != 0;
}}
#endif
"""
