"""
Sites: the compiler's data about each place in the program that calls the runtime.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..compiler.base.abi import DataKind
from .errors import ProgramPlace

COMPUTE = "compute construct"

_CONSTRUCTS = {
    "compute": COMPUTE,
    "data": "data construct",
    "launch": COMPUTE,
}
"""Kind of site → its name in messages, if the kind is not the name of a directive."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A global variable with a counterpart in device code (`declare`); `bytes` is its size."""

    host_symbol: str
    device_symbol: str
    bytes: int
    kind: DataKind = DataKind.CREATE


@dataclass(frozen=True, slots=True)
class Site:
    """One element of the module attribute `accx.sites`."""

    place: ProgramPlace
    vars: tuple[str, ...] = ()
    kernel: str = ""
    arg_bytes: tuple[int, ...] = ()
    declared: tuple[Declared, ...] = ()

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Site:
        """
        Reads the dictionary form: `kind`, `construct`, `file`, `line`, `function`, `vars`, `kernel`,
        `arg_bytes`, `declare` (host symbol, device symbol, bytes, and a `DataKind` where it is not
        create). Everything but `kind` may be absent.
        """
        kind = str(fields["kind"])
        place = ProgramPlace(
            _CONSTRUCTS.get(kind, kind),
            str(fields.get("file", "")),
            int(fields.get("line", 0)),
            str(fields.get("function", "")),
            str(fields.get("construct", "")),
        )
        declared = tuple(
            Declared(host, device, int(size), DataKind(*kind) if kind else DataKind.CREATE)
            for host, device, size, *kind in fields.get("declare", ())
        )
        return Site(
            place,
            tuple(fields.get("vars", ())),
            str(fields.get("kernel", "")),
            tuple(int(n) for n in fields.get("arg_bytes", ())),
            declared,
        )

    def variable(self, index: int) -> str:
        """The name of variable `index`, for messages."""
        return self.vars[index] if 0 <= index < len(self.vars) else "?"

    def origin(self, index: int) -> str:
        """What maps variable `index`, for messages."""
        return origin_of(str(self.place), self.variable(index))


def origin_of(place: str, variable: str) -> str:
    """What maps a variable, for messages; `place`: that of the clause, if it is known."""
    return f"{place}, '{variable}'" if place else f"'{variable}'"
