"""
Random programs as people write them: structures with pointers, data regions in other functions
than the constructs, updates of parts, queues, functions called in constructs, reductions of several kinds,
macros, and declarations at the top of a function.

gcc, which ignores the directives, prints the result. The generator knows which copy of each array is the
newer one, and which queue works on it, and has the directives that OpenACC requires in between. All values
are small integers, also in floating point, so that sums are the same in any order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

ROUNDS = 14
"""Steps of a program: constructs in functions of their own, and work on the host."""
_TYPES = ("double", "double", "float", "int", "long", "unsigned", "short")
_START = """
#define FOR(i, n) for (i = 0; i < (n); i++)
#define AT(p, i, j) (p)[(i) * M + (j)]
#define ACC(...) _Pragma(#__VA_ARGS__)
#define LEAST(a, b) ((a) < (b) ? (a) : (b))
typedef struct {{ double w; int *k; }} Inner;
typedef struct {{ int n; {first} *u; int pad[3]; {second} *v; Inner in; int m; }} Field;
typedef struct {{ int lo, hi; double w; }} Range;
enum {{ N = {n}, M = {m}, SIZE = N * M }};

static long bounded(double x) {{ return (long)(x - 97 * floor(x / 97)); }}
#pragma acc routine(bounded) seq
static double second(const double *p, int i) {{ return p[i] + i % 3; }}
#pragma acc routine seq
static void both(double x, double *a, double *b) {{ *a = x + 1; if (x < 4) return; *b = x - 1; }}
static double inside(Range r, int i) {{ return i >= r.lo && i < r.hi ? r.w : 1; }}
static Range range(int lo, int hi) {{ Range r; r.lo = lo; r.hi = hi; r.w = 2; return r; }}
static void show(const char *what, double x) {{ printf("%s %g\\n", what, x); }}
#define SHOW(p, n) do {{ double s_ = 0; int i_; FOR(i_, n) s_ += (double)(p)[i_] * (i_ % 13 + 1); \\
    show(#p, s_); }} while (0)
"""


@dataclass
class _Array:
    """An array of `length` elements. `name` is how main and functions with its owner name it."""

    name: str
    type: str
    length: str = "SIZE"
    parameter: str = ""
    """What a function that uses it is passed, as declared there; empty for globals."""
    argument: str = ""
    resident: bool = True
    newer_on_device: bool = False
    queue: int | None = None

    def section(self, start: str = "0", length: str = "") -> str:
        return f"{self.name}[{start}:{length or self.length}]"


@dataclass
class _Program:
    chance: random.Random
    lines: list[str] = field(default_factory=list)
    main: list[str] = field(default_factory=list)
    arrays: list[_Array] = field(default_factory=list)
    number: int = 0

    def pick(self, *choices: str) -> str:
        return self.chance.choice(choices)

    def likely(self, probability: float) -> bool:
        return self.chance.random() < probability

    # values

    def value(self, elements: list[str], depth: int = 2) -> str:
        if depth == 0 or self.likely(0.25):
            return self.pick(*elements, *elements, "i", "3", "w")
        left, right = self.value(elements, depth - 1), self.value(elements, depth - 1)
        if self.likely(0.12):
            return f"({left} > {right} ? {left} : {self.pick('2', 'w')})"
        return f"({left} {self.pick('+', '-', '+', '*')} {right})"

    def stored(self, target: _Array, value: str) -> str:
        return f"({target.type})bounded({value})"

    # directives

    def ready(self, arrays: list[_Array], queue: int | None) -> str:
        """Waits in main for other queues that work on the arrays; or a clause that does."""
        others = sorted({a.queue for a in arrays if a.queue is not None and a.queue != queue})
        for a in arrays:
            a.queue = None if queue is None else queue
        if not others:
            return ""
        numbers = ", ".join(map(str, others))
        if self.likely(0.4):
            return f" wait({numbers})"
        for a in self.arrays:
            a.queue = None if a.queue in others and a not in arrays else a.queue
        self.main.append(self.pick(f"#pragma acc wait({numbers})", "#pragma acc wait"))
        return ""

    def to_host(self, array: _Array) -> None:
        """Makes the host's copy the newest."""
        if not array.resident or not array.newer_on_device:
            return
        word = self.pick("self", "host")
        if array.queue is not None and self.likely(0.5):
            at = array.queue
            self.main.append(f"#pragma acc update {word}({array.section()}) async({at})")
            self.main.append(f"#pragma acc wait({at})")
        else:
            if array.queue is not None:
                self.main.append(f"#pragma acc wait({array.queue})")
            if self.likely(0.3):
                self.main.append(f"#pragma acc update {word}({array.section('0', 'M')})")
                self.main.append(f"#pragma acc update {word}({array.section('M', 'SIZE - M')})")
            else:
                self.main.append(f"#pragma acc update {word}({array.section()})")
        array.queue = None
        array.newer_on_device = False

    def clauses(self, read: list[_Array], written: list[_Array], whole: bool) -> str:
        found: list[str] = []
        for a in [*written, *(r for r in read if r not in written)]:
            if a.resident:
                if a.name.startswith("f->"):
                    found.append(self.pick("", "", "present(f)", f"present({a.section()})"))
                else:
                    found.append(
                        self.pick("", "", f"present({a.section()})", f"copy({a.section()})")
                    )
            elif a in written:
                word = "copyout" if whole and a not in read and self.likely(0.5) else "copy"
                found.append(f"{word}({a.section()})")
            else:
                found.append(f"copyin({a.section()})")
        kept = list(dict.fromkeys(c for c in found if c))
        if kept.count("present(f)") and any("f->" in c and c != "present(f)" for c in kept):
            kept.remove("present(f)")
        if all(a.resident for a in [*read, *written]) and self.likely(0.2):
            kept = ["default(present)"]
        return "".join(f"{self.pick(' ', ', ') if i else ' '}{c}" for i, c in enumerate(kept))

    # functions

    def function(
        self,
        read: list[_Array],
        written: list[_Array],
        body: list[str],
        result: str = "",
        queue: int | None = None,
    ) -> str:
        """Adds a function with the lines of `body`, and returns the call."""
        self.number += 1
        used = {
            a.parameter: a.argument
            for a in sorted([*written, *read], key=lambda a: a.name)
            if a.parameter
        }
        parameters = ["int n", "int w", *used]
        arguments = ["SIZE", self.pick("2", "1", "n % 5"), *used.values()]
        name = f"step{self.number}"
        head = f"static {result or 'void'} {name}({', '.join(parameters)})\n{{"
        self.lines += [head, *(f"    {line}" if line[0] != "#" else line for line in body), "}"]
        for a in written:
            a.newer_on_device = a.resident
        return f"{name}({', '.join(arguments)})"

    def head(self, clauses: str, queue: int | None, loop: str = "") -> str:
        construct = self.pick("parallel loop", "parallel loop", "kernels loop independent")
        levels = (
            ""
            if loop
            else self.pick("", "", " gang vector", " gang", " vector_length(32) gang vector")
        )
        text = f"acc {construct}{loop}{levels}{clauses}"
        if queue is not None:
            text += f" async({queue})"
        if self.likely(0.15):
            return f"ACC({text})"
        if self.likely(0.15):
            at = text.index(" ", 6)
            text = f"{text[:at]} \\\n        {text[at:]}"
        return f"#pragma {text}"

    def some(self, number: int, other: list[_Array] | None = None) -> list[_Array]:
        free = [a for a in self.arrays if a not in (other or [])]
        return self.chance.sample(free, min(number, len(free)))

    def step(self) -> None:
        """A construct in a function, and its call."""
        kind = self.pick(*_STEPS)
        getattr(self, f"_{kind}")()

    def queue_for(self, arrays: list[_Array]) -> int | None:
        return (
            self.chance.randint(1, 3)
            if all(a.resident for a in arrays) and self.likely(0.4)
            else None
        )

    def emit(self, call: str) -> None:
        self.main.append(f"{call};")

    def _map(self) -> None:
        (out,) = self.some(1)
        read = self.some(self.chance.randint(1, 2), [out])
        same = self.likely(0.4)
        elements = [f"{a.name}[i]" for a in read] + ([f"{out.name}[i]"] if same else [])
        queue = self.queue_for([out, *read])
        waits = self.ready([out, *read], queue)
        outside = self.likely(0.5)
        temporary = self.likely(0.4)
        value = self.value(elements)
        statement = [f"{out.name}[i] = {self.stored(out, value)};"]
        if temporary:
            statement = [f"t = {value};", f"{out.name}[i] = {self.stored(out, 't + w')};"]
        form = self.chance.random()
        if form < 0.15:
            statement = (
                [f"if ({elements[0]} > 3) goto last;", *statement, "last: ;"] if same else statement
            )
        elif form < 0.3 and same:
            statement = [f"if (i % 3 == {self.pick('0', '1')}) continue;", *statement]
        elif form < 0.45:
            statement = [
                f"switch (i % 3) {{ case 0: {' '.join(statement)} break; default: {out.name}[i] = 1; }}"
            ]
        clauses = self.clauses([*read, *([out] if same else [])], [out], True)
        private = " private(t)" if temporary and outside and self.likely(0.5) else ""
        body = ["int i; double t = 0;"] if outside else []
        loop = "FOR(i, n)" if outside else "for (int i = 0; i < n; i++)"
        inside = [] if outside or not temporary else ["double t;"]
        body += [
            self.head(clauses + private + waits, queue),
            f"{loop} {{",
            *inside,
            *statement,
            "}",
        ]
        if outside:
            body.append("(void)t;")
        self.emit(self.function(read, [out], body, queue=queue))

    def _matrix(self) -> None:
        (out,) = self.some(1)
        (source,) = self.some(1, [out])
        queue = self.queue_for([out, source])
        waits = self.ready([out, source], queue)
        place = self.pick(
            "j * N + i", "i * M + j", "i * M + (M - 1 - j)", "(N - 1 - i) * M + j", "i * M"
        )
        target = self.pick(f"AT({out.name}, i, j)", f"{out.name}[i * M + j]")
        inner = self.pick("", "", "#pragma acc loop vector", "#pragma acc loop")
        collapse = "" if inner else self.pick("", " collapse(2)", " tile(4, 8)")
        counter = self.pick("int", "long", "unsigned")
        value = self.stored(out, self.value([f"{source.name}[{place}]", "j"]))
        clauses = self.clauses([source], [out], True)
        head = self.head(
            clauses + waits,
            queue,
            " gang" if inner == "#pragma acc loop vector" else collapse or " ",
        )
        body = [
            f"{counter} i, j;",
            head,
            "FOR(i, N)",
            *([inner] if inner else []),
            f"FOR(j, M) {target} = {value};",
        ]
        self.emit(self.function([source], [out], body, queue=queue))

    def _stencil(self) -> None:
        (out,) = self.some(1)
        (source,) = self.some(1, [out])
        queue = self.queue_for([out, source])
        waits = self.ready([out, source], queue)
        near = [f"{source.name}[i{at}]" for at in (" - 1", " + 1", "", " - M", " + M")]
        value = self.stored(out, self.value(near))
        clauses = self.clauses([source, out], [out], False)
        lower, upper = self.pick("M", "M + 1"), self.pick("n - M", "n - M - 1")
        body = [
            "int i;",
            self.head(clauses + waits, queue),
            f"for (i = {lower}; i < {upper}; ++i)",
            f"    {out.name}[i] = {value};",
        ]
        self.emit(self.function([source], [out], body, queue=queue))

    def _reduce(self) -> None:
        read = self.some(self.chance.randint(1, 2))
        waits = self.ready(read, None)
        x = f"{read[0].name}[i]"
        y = f"{read[-1].name}[i]"
        forms = [
            ("+", "s", "0", f"s += {x};"),
            ("+", "s2", "w", f"s2 = s2 + {y} * (i % 3);"),
            ("max", "top", "-5", f"if ({x} > top) top = {x};"),
            ("max", "top2", "0", f"top2 = fmax(top2, {y} + i % 7);"),
            ("min", "low", "500", f"low = LEAST(low, {y});"),
            ("||", "any", "0", f"any = any || {x} == 7;"),
            ("&&", "all", "1", f"all = all && {y} < 96;"),
            ("^", "bits", "0", f"bits ^= (long){x} + i;"),
            ("|", "seen", "0", f"seen |= 1L << (long){y} % 31;"),
        ]
        chosen = self.chance.sample(forms, self.chance.randint(1, 4))
        whole = ("bits", "seen", "any", "all")
        clauses = "".join(f" reduction({op}:{name})" for op, name, _, _ in chosen)
        declared = [
            f"{'long' if name in whole else 'double'} {name} = {start};"
            for _, name, start, _ in chosen
        ]
        total = " + ".join(f"{k + 1} * (double){name}" for k, (_, name, _, _) in enumerate(chosen))
        body = [
            " ".join(["int i;", *declared]),
            self.head(self.clauses(read, [], False) + clauses + waits, None),
            "FOR(i, n) {",
            *(statement for *_, statement in chosen),
            "}",
            f"return {total};",
        ]
        call = self.function(read, [], body, "double")
        self.main.append(f'show("sums", {call});')

    def _rows(self) -> None:
        (out,) = self.some(1)
        (source,) = self.some(1, [out])
        queue = self.queue_for([out, source])
        waits = self.ready([out, source], queue)
        kind = self.pick("clause", "plain", "search", "call", "array")
        element = self.pick(
            f"AT({source.name}, i, j)", f"{source.name}[i * M + j]", f"{source.name}[j * N + i]"
        )
        inner = [f"FOR(j, M) t += {element} * (j % 3);"]
        if kind == "clause":
            inner = ["#pragma acc loop vector reduction(+:t)", *inner]
        elif kind == "search":
            inner = [f"for (j = 0; j < M; j++) {{ if ({element} > 60) break; t += {element}; }}"]
        elif kind == "call":
            inner = [
                f"double a = 0, b = 0; Range r = range(1, M); both({source.name}[i * M], &a, &b);"
            ]
            inner += [f"FOR(j, M) t += {element} * inside(r, j); t += a + b;"]
        elif kind == "array":
            inner = [
                f"double c[4] = {{0}}; FOR(j, M) c[j % 4] += {element}; t = second(c, 1) + c[3] * 2;"
            ]
        head = self.head(
            self.clauses([source, out], [out], False) + waits,
            queue,
            " gang" if kind == "clause" else "",
        )
        body = [
            "int i, j;",
            head,
            "FOR(i, N) {",
            "double t = 0;" if kind != "clause" else "double t = w;",
            *inner,
            f"{out.name}[i] = {self.stored(out, 't')};",
            "}",
            "(void)j;",
        ]
        if kind in ("plain", "search") and self.likely(0.5):
            body[0] = "int i, j; double t;"
            body[3] = "t = 0;"
        self.emit(self.function([source, out], [out], body, queue=queue))

    def _count(self) -> None:
        (out,) = self.some(1)
        (source,) = self.some(1, [out])
        waits = self.ready([out, source], None)
        places = self.pick("M", "4", "N")
        update = self.pick(
            f"{out.name}[b] += 1;", f"{out.name}[b]++;", f"{out.name}[b] = {out.name}[b] + 1;"
        )
        body = [
            "int i;",
            self.head(self.clauses([source, out], [out], False) + waits, None),
            "FOR(i, n) {",
            f"int b = (int)bounded({source.name}[i]) % {places};",
            "#pragma acc atomic update",
            update,
            "}",
        ]
        self.emit(self.function([source], [out], body))
        # counters may exceed what `bounded` leaves: they are reduced at once
        body = [
            "int i;",
            self.head(self.clauses([out], [out], False), None),
            f"FOR(i, n) {out.name}[i] = {self.stored(out, f'{out.name}[i]')};",
        ]
        self.emit(self.function([out], [out], body))

    def _running_sum(self, out: _Array, source: _Array) -> str:
        return f"{out.name}[i] = {self.stored(out, f'{out.name}[i - 1] + {source.name}[i]')};"

    def _serial(self) -> None:
        (out,) = self.some(1)
        (source,) = self.some(1, [out])
        waits = self.ready([out, source], None)
        clauses = self.clauses([source, out], [out], False)
        running = self._running_sum(out, source)
        body = [
            "int i;",
            f"#pragma acc serial{clauses}{waits}",
            f"for (i = 1; i < LEAST(n, 40); i++) {running}",
        ]
        self.emit(self.function([source, out], [out], body))

    def _region(self) -> None:
        """A `kernels` region of loops that need each other's results, or of a recurrence."""
        (out,) = self.some(1)
        (source,) = self.some(1, [out])
        waits = self.ready([out, source], None)
        clauses = self.clauses([source, out], [out], False)
        running = self._running_sum(out, source)
        second = self.pick(
            f"FOR(i, n) {out.name}[i] = {self.stored(out, f'{out.name}[i] + {source.name}[n - 1 - i]')};",
            f"for (i = 1; i < n; i++) {running}",
            f"for (i = 0; i < n - 1; i++) {out.name}[i] = {self.stored(out, f'{out.name}[i + 1] + 1')};",
        )
        body = [
            "int i;",
            f"#pragma acc kernels{clauses}{waits}",
            "{",
            f"FOR(i, n) {out.name}[i] = {self.stored(out, f'{source.name}[i] * 2 + w')};",
            second,
            "}",
        ]
        self.emit(self.function([source, out], [out], body))

    def _host(self) -> None:
        """The host changes a part, and the device gets it."""
        (array,) = self.some(1)
        self.to_host(array)
        if array.queue is not None:  # a construct that reads it
            self.main.append(f"#pragma acc wait({array.queue})")
            array.queue = None
        start, length = self.chance.choice(
            (("0", "SIZE"), ("M", "M"), ("3", "SIZE - 5"), ("2 * M", "1"))
        )
        self.main.append(
            f"for (i = {start}; i < {start} + {length}; i++) "
            f"{array.name}[i] = {self.stored(array, f'{array.name}[i] * 2 + i')};"
        )
        if array.resident:
            queue = self.chance.choice((None, None, 1, 2))
            text = f"#pragma acc update device({array.section(start, length)})"
            self.main.append(text + (f" async({queue})" if queue else ""))
            array.queue = queue

    def _show(self) -> None:
        (array,) = self.some(1)
        self.to_host(array)
        self.main.append(f"SHOW({array.name}, {array.length});")

    def _loop(self) -> None:
        """Time steps, of which each takes the result of the one before."""
        pair = [a for a in self.arrays if a.resident and a.parameter and "Field" not in a.parameter]
        pair = [a for a in pair if a.type == pair[0].type]
        if len(pair) < 2:
            return self._map()
        one, other = pair[:2]
        self.ready([one, other], None)
        for a in (one, other):
            if a.queue is not None:
                self.main.append(f"#pragma acc wait({a.queue})")
                a.queue = None
        self.main.append("#pragma acc wait")
        for a in self.arrays:
            a.queue = None
        body = [
            "int i;",
            self.head(self.clauses([one], [other], False), None),
            "for (i = 1; i < n - 1; i++)",
            f"    {other.name}[i] = {self.stored(other, f'{one.name}[i - 1] + {one.name}[i + 1] + w')};",
        ]
        call = self.function([one], [other], body)
        swap = f"{one.name} = {other.name}; {other.name} = t;"
        self.main.append(
            f"for (i = 0; i < 4; i++) {{ {one.type} *t = {one.name}; {call}; {swap} }}"
        )
        one.newer_on_device = other.newer_on_device = True
        return None


_STEPS = (
    *("map", "map", "matrix", "stencil", "reduce", "rows", "rows", "count", "serial", "region"),
    *("host", "host", "show", "loop"),
)


def make_program(seed: int, rounds: int = ROUNDS) -> str:
    """The C source of the program for `seed`, which prints sums."""
    chance = random.Random(seed)
    program = _Program(chance)
    first, second = chance.choice(_TYPES), chance.choice(_TYPES)
    common = chance.choice(_TYPES)
    arrays = program.arrays
    members = [("f->u", first), ("f->v", second), ("f->in.k", "int")]
    for name, type_ in members:
        arrays.append(_Array(name, type_, parameter="Field *f", argument="f"))
    lines = ["#include <math.h>", "#include <stdio.h>", "#include <stdlib.h>"]
    lines.append(
        _START.format(
            first=first, second=second, n=chance.choice((5, 12, 33)), m=chance.choice((4, 7, 16))
        )
    )
    declared = chance.random() < 0.4
    lines.append(f"static {common} g[SIZE];")
    if declared:
        lines.append("#pragma acc declare create(g)")
    lines.append(f"static {chance.choice(_TYPES)} h[SIZE];")
    arrays.append(_Array("g", common))
    arrays.append(_Array("h", lines[-1].split()[1], resident=False))
    for name in "xy":
        arrays.append(_Array(name, common, parameter=f"{common} *{name}", argument=name))
    arrays.append(_Array("z", "double", parameter="double *z", argument="z", resident=False))
    make = [
        "static Field *make(int n)",
        "{",
        "    Field *f = malloc(sizeof(Field)); int i;",
        "    f->n = n; f->m = M; f->in.w = 3;",
    ]
    for name, type_ in members:
        make.append(f"    {name} = malloc(n * sizeof({type_}));")
        make.append(f"    FOR(i, n) {name}[i] = (i * {chance.randint(2, 9)} + 1) % 23;")
    sections = [f"{name}[0:n]" for name, _ in members]
    make.append("#pragma acc enter data copyin(f[0:1])")
    if chance.random() < 0.5:
        make.append(f"#pragma acc enter data copyin({', '.join(sections)})")
    else:
        make += [f"#pragma acc enter data copyin({section})" for section in sections]
    make += ["    return f;", "}"]
    drop = ["static void drop(Field *f)", "{"]
    drop.append(f"#pragma acc exit data copyout({sections[0].replace('0:n', '0:f->n')})")
    drop.append(
        f"#pragma acc exit data delete({', '.join(s.replace('0:n', '0:f->n') for s in sections[1:])})"
    )
    drop += [
        "#pragma acc exit data delete(f[0:1])",
        "    SHOW(f->u, f->n);",
        "    free(f->u); free(f->v); free(f->in.k); free(f);",
        "}",
    ]
    program.lines = lines + make + drop
    structured = chance.random() < 0.5
    main = program.main
    main += [
        "int i, n = SIZE;",
        f"{common} *x = malloc(n * sizeof *x), *y = calloc(n, sizeof *y);",
        "double *z = malloc(n * sizeof *z);",
        "Field *f = make(n);",
    ]
    main.append("FOR(i, n) { x[i] = i % 19; z[i] = (i * 3) % 29; g[i] = i % 5; h[i] = i % 31; }")
    if declared:
        main.append("#pragma acc update device(g)")
    others = ["x[0:n]", *([] if declared else ["g"])]
    if structured:
        main += [f"#pragma acc data copy({', '.join(others)}) copyin(y[0:n])", "{"]
    else:
        main.append(f"#pragma acc enter data copyin({', '.join([*others, 'y[:n]'])})")
    for _ in range(rounds):
        program.step()
    main.append("#pragma acc wait")
    for array in arrays:
        array.queue = None
        if array.name != "f->u" or not array.resident:
            program.to_host(array)
            main.append(f"SHOW({array.name}, {array.length});")
    main.append(
        "}"
        if structured
        else "#pragma acc exit data delete(x, y, g)".replace(", g" if declared else "", "", 1)
    )
    main += ["drop(f);", "free(x); free(y); free(z);", "return 0;"]
    text = [line if line.startswith("#") else f"    {line}" for line in main]
    return "\n".join([*program.lines, "int main(void)", "{", *text, "}"]) + "\n"
