"""
Warnings about calls of `printf`, `scanf` and related functions whose arguments do not fit the format
(`format`; C11 7.21.6.1 and 7.21.6.2).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ...base.diagnostics import Diagnostic, warning
from .. import ast as c
from ..tree import Node
from ..types import HALF, CType, FloatType, IntType, PointerType, VoidType

_FUNCTIONS: dict[str, int] = {
    **dict.fromkeys(("printf", "scanf"), 0),
    **dict.fromkeys(("fprintf", "sprintf", "fscanf", "sscanf", "dprintf"), 1),
    "snprintf": 2,
}
"""Function → the number of its argument that is the format."""

_CONVERSION = re.compile(
    r"%(?P<flags>[-+ #0']*)(?P<width>\*|\d+)?(?:\.(?P<precision>\*|\d*))?"
    r"(?P<length>hh|h|ll|l|j|z|t|L|q)?(?P<kind>\[\^?\]?[^\]]*\]|.)?",
    re.DOTALL,
)
_INTEGERS = {"": 4, "hh": 1, "h": 2, "l": 8, "ll": 8, "q": 8, "j": 8, "z": 8, "t": 8, "L": 8}
"""Length modifier → bytes of the integer."""


@dataclass(frozen=True)
class _Wanted:
    """The argument of a conversion, `text` as written: a value of `kind` and of `size` bytes (0: any
    size)."""

    text: str
    kind: str
    size: int = 0

    def takes(self, t: CType) -> bool:
        match self.kind:
            case "integer":
                return isinstance(t, IntType) and t.size == self.size
            case "floating":
                return isinstance(t, FloatType) and t.size == self.size
            case "string":
                return isinstance(t, PointerType) and (
                    isinstance(t.pointee.type, VoidType)
                    or (isinstance(t.pointee.type, IntType) and t.pointee.type.size == self.size)
                )
            case _:
                return isinstance(t, PointerType)

    def __str__(self) -> str:
        sizes = {1: "char", 2: "short", 4: "int", 8: "long"}
        floats = {4: "float", 8: "double", 16: "long double"}
        names = {
            "integer": f"'{sizes.get(self.size)}' (signed or not)",
            "floating": f"'{floats.get(self.size)}'",
            "string": "'char *'" if self.size == 1 else "'wchar_t *'",
        }
        return names.get(self.kind, "a pointer")


def wrong_formats(nodes: Sequence[Node]) -> Iterator[Diagnostic]:
    """Warnings about all calls with a literal format."""
    for node in nodes:
        if not (isinstance(node, c.Call) and isinstance(node.callee, c.FunctionRef)):
            continue
        at = _FUNCTIONS.get(node.callee.decl.name)
        if at is None or len(node.args) <= at or node.callee.decl.body is not None:
            continue
        text = literal_text(node.args[at])
        if text is not None:
            scans = "scanf" in node.callee.decl.name
            yield from _call(node, text, node.args[at + 1 :], scans=scans)


def literal_text(e: c.Expr) -> str | None:
    """The characters of a string literal; None if `e` is anything else."""
    while isinstance(e, c.Cast | c.Decay):
        e = e.operand
    return e.data.rstrip(b"\0").decode("latin-1") if isinstance(e, c.StringLiteral) else None


def _call(call: c.Call, text: str, args: Sequence[c.Expr], *, scans: bool) -> Iterator[Diagnostic]:
    wanted = list(_scanned(text) if scans else _printed(text))
    for number, (each, arg) in enumerate(zip(wanted, args, strict=False), 1):
        t = arg.type
        if scans:
            fits = isinstance(t, PointerType) and (
                each.takes(t if each.kind in ("string", "pointer") else t.pointee.type)
                or isinstance(t.pointee.type, VoidType)
            )
        else:
            fits = each.takes(t)
        if not fits:
            meant = f"a pointer to {each}" if scans and each.kind != "string" else str(each)
            yield warning(
                arg.loc,
                f"'{each.text}' takes {meant}, and argument {number} after the format is '{t}'",
                "change the conversion or the argument"
                if t != HALF
                else "write the cast '(double)', as C does not promote '_Float16'",
                option="format",
            )
    if len(args) != len(wanted):
        yield warning(
            call.loc,
            f"the format takes {len(wanted)} arguments, and there are {len(args)}",
            "pass one argument for each conversion",
            option="format",
        )


def _printed(text: str) -> Iterator[_Wanted]:
    for m in _CONVERSION.finditer(text):
        kind, length = m["kind"] or "", m["length"] or ""
        if kind == "%":
            continue
        for star in (m["width"], m["precision"]):
            if star == "*":
                yield _Wanted("*", "integer", 4)
        if kind in "diouxXb":
            yield _Wanted(m.group(), "integer", max(_INTEGERS[length], 4))
        elif kind == "c":
            yield _Wanted(m.group(), "integer", 4)
        elif kind in "aAeEfFgG":
            yield _Wanted(m.group(), "floating", 16 if length == "L" else 8)
        elif kind == "s":
            yield _Wanted(m.group(), "string", 4 if length == "l" else 1)
        elif kind in "pn":
            yield _Wanted(m.group(), "pointer")


def least_printed(text: str) -> int:
    """How many characters a format prints at least."""
    least = len(_CONVERSION.sub("", text))
    for m in _CONVERSION.finditer(text):
        certain = m["kind"] and m["kind"] in "diuoxXc%eEfFgGaA" and m["precision"] is None
        width = int(m["width"]) if (m["width"] or "*") != "*" else 0
        least += max(width, 1 if certain else 0)
    return least


def _scanned(text: str) -> Iterator[_Wanted]:
    for m in _CONVERSION.finditer(text):
        kind, length = m["kind"] or "", m["length"] or ""
        if kind == "%" or m["width"] == "*":
            continue
        if kind in "diouxXn":
            yield _Wanted(m.group(), "integer", _INTEGERS[length])
        elif kind in "aAeEfFgG":
            yield _Wanted(m.group(), "floating", {"": 4, "l": 8}.get(length, 16))
        elif kind in "sc" or kind.startswith("["):
            yield _Wanted(m.group(), "string", 4 if length == "l" else 1)
        elif kind == "p":
            yield _Wanted(m.group(), "pointer")
