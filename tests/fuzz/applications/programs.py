"""Whole programs out of units: a header, a file of globals, files with some functions each, `main`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path

from .functions import function, globals_of, prototype
from .model import EXTENTS, Unit
from .render import FAMILIES

HEADER = "nests.h"
_SIZES = {n: " * ".join(map(str, EXTENTS[n])) for n in EXTENTS}

_COMMON = """\
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) (((a) < (b)) ? (a) : (b))
#pragma acc routine seq
static inline int scaled(int v, int by)
{
    int r, n;
    r = 0;
    for (n = 0; n < by; n++)
        r += v;
    return r;
}
#pragma acc routine seq
static inline void put_int(int *to, int v)
{
    *to = v;
}
#pragma acc routine seq
static inline void put_double(double *to, int v)
{
    *to = v;
}
void show(int number, const char *name, const int *values, int count);"""

_SHOW = """\
void show(int number, const char *name, const int *values, int count)
{
    unsigned sum = 0;
    for (int k = 0; k < count; k++)
        sum = sum * 31 + (unsigned)values[k];
    printf("%d %s %u\\n", number, name, sum);
}"""


def _arrays() -> list[str]:
    """Declarators of all arrays."""
    return [
        f"{family}{n}" + "".join(f"[{e}]" for e in EXTENTS[n])
        for family, n in product(FAMILIES, EXTENTS)
    ]


def _clear() -> list[str]:
    lines = ["static void clear(void)", "{", "    int k;"]
    for n, family in product(EXTENTS, FAMILIES):
        value = "k * 7 % 19 - 9" if family == "A" else "-1"
        lines.append(
            f"    for (k = 0; k < {_SIZES[n]}; k++) (&{family}{n}{'[0]' * n})[k] = {value};"
        )
    return [*lines, "}"]


@dataclass(frozen=True)
class Source:
    """The files of a program by name, and which unit each line of each file belongs to."""

    files: dict[str, str]
    owners: dict[tuple[str, int], int]

    def write(self, folder: Path) -> list[Path]:
        """Writes the files; the paths of those to compile."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (folder / name).write_text(text)
        return [folder / name for name in self.files if name.endswith(".c")]


def program(units: Sequence[Unit], parts: int = 1) -> Source:
    """A program of the units, whose functions are in `parts` files; one file in all for `parts` 0."""
    header, definitions = [_COMMON], [f"int {declarator};" for declarator in _arrays()]
    if parts:
        header += [f"extern int {declarator};" for declarator in _arrays()]
    chunks: list[list[tuple[int, str]]] = [[] for _ in range(max(parts, 1))]
    calls: list[str] = []
    prototypes: list[str] = []
    for position, unit in enumerate(units):
        lines, call = function(unit)
        declared, defined, own = globals_of(unit)
        header += declared if parts else []
        definitions += defined if parts else [line.removeprefix("extern ") for line in declared]
        prototypes.append(prototype(lines))
        calls += ["    clear();", f"    {call}"]
        chunks[position % len(chunks)] += [(unit.number, line) for line in [*own, *lines, ""]]
    main = [*_clear(), "int main(void)", "{", *calls, "    return 0;", "}"]
    files: dict[str, str] = {}
    owners: dict[tuple[str, int], int] = {}
    include = [f'#include "{HEADER}"']
    if parts:
        files[HEADER] = "\n".join(
            ["#ifndef NESTS_H", "#define NESTS_H", *header, *prototypes, "#endif", ""]
        )
        files["globals.c"] = "\n".join([*include, *definitions, *_SHOW.split("\n"), ""])
        files["main.c"] = "\n".join([*include, *main, ""])
    for number, chunk in enumerate(chunks):
        name = f"part{number}.c" if parts else "prog.c"
        start = include if parts else "\n".join([*header, *definitions, _SHOW]).split("\n")
        for offset, (owner, _) in enumerate(chunk, len(start) + 1):
            owners[name, offset] = owner
        files[name] = "\n".join(
            [*start, *(line for _, line in chunk), *([] if parts else main), ""]
        )
    return Source(files, owners)
