"""
The site table: the constant data of each place where host code calls the runtime.

It is the module attribute `accx.sites`, an array of dictionaries. Keys of an entry (absent when they
do not apply):

| key | value |
|---|---|
| `kind` | one of `SiteKind` |
| `construct` | `serial` or `kernels`, where the site comes from such a construct |
| `file`, `line`, `function` | the directive's place and the C function around it |
| `vars` | names of the data records' variables, indexed by `DataRecord.var` |
| `types` | element type of each variable, as `"f32"`, `"i32"`, `"struct.point"` |
| `element_bytes` | size of that type in bytes, 0 if unknown |
| `kernel`, `arg_bytes` | symbol of the kernel, size of each of its arguments (launch sites) |
| `declare` | arrays of host symbol, device symbol, size in bytes, `DataKind` (declare sites) |

For a `link` variable the device symbol is a pointer that the runtime sets when the variable becomes
present.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, Operation

from ....compiler.base.abi import DataKind
from ....compiler.base.diagnostics import SourceLoc
from ....dialects.accx import FROM_KERNELS, FROM_SERIAL, SITES

SiteKind = Literal[
    "compute", "data", "enter data", "exit data", "host_data", "update", "declare", "wait", "launch",
    "init", "shutdown", "set", "deviceid", "update peer",
]  # fmt: skip


@dataclass(frozen=True)
class SiteVariable:
    """One variable of a site: the name the user wrote, its element type and that type's size."""

    name: str
    type: str = ""
    element_bytes: int = 0


@dataclass(frozen=True)
class DeclaredVariable:
    """A global variable in a `declare` clause: its two symbols, size in bytes, and the clause."""

    host: str
    device: str
    bytes: int
    kind: DataKind

    def to_attr(self) -> ArrayAttr[Attribute]:
        return ArrayAttr(
            [
                StringAttr(self.host),
                StringAttr(self.device),
                IntegerAttr(self.bytes, i64),
                IntegerAttr(int(self.kind), i64),
            ]
        )

    @staticmethod
    def from_attr(attr: Attribute) -> DeclaredVariable:
        host, device, size, kind = _items(attr)
        return DeclaredVariable(
            _text(host) or "", _text(device) or "", _number(size), DataKind(_number(kind))
        )


@dataclass(frozen=True)
class SiteEntry:
    """One entry of the site table; see the file's docstring."""

    kind: SiteKind
    file: str
    line: int
    function: str
    variables: tuple[SiteVariable, ...] = ()
    kernel: str | None = None
    arg_bytes: tuple[int, ...] = ()
    declared: tuple[DeclaredVariable, ...] = ()
    construct: str | None = None

    def to_attr(self) -> DictionaryAttr:
        """The entry as an attribute."""
        entry: dict[str, Attribute] = {
            "kind": StringAttr(self.kind),
            "file": StringAttr(self.file),
            "line": IntegerAttr(self.line, i64),
            "function": StringAttr(self.function),
        }
        if self.variables:
            entry["vars"] = ArrayAttr([StringAttr(v.name) for v in self.variables])
            entry["types"] = ArrayAttr([StringAttr(v.type) for v in self.variables])
            entry["element_bytes"] = ArrayAttr(
                [IntegerAttr(v.element_bytes, i64) for v in self.variables]
            )
        if self.kernel is not None:
            entry["kernel"] = StringAttr(self.kernel)
        if self.construct is not None:
            entry["construct"] = StringAttr(self.construct)
        if self.arg_bytes:
            entry["arg_bytes"] = ArrayAttr([IntegerAttr(n, i64) for n in self.arg_bytes])
        if self.declared:
            entry["declare"] = ArrayAttr([d.to_attr() for d in self.declared])
        return DictionaryAttr(entry)

    @staticmethod
    def from_attr(attr: DictionaryAttr) -> SiteEntry:
        """
        The entry of an attribute made by `to_attr`. Raises `KeyError` for one without kind, file, line or
        function.
        """
        entry = attr.data
        names = _texts(entry.get("vars"))
        types = _texts(entry.get("types")) or [""] * len(names)
        sizes = _numbers(entry.get("element_bytes")) or [0] * len(names)
        kind = _text(entry["kind"])
        declared = entry.get("declare")
        return SiteEntry(
            kind=kind,  # pyright: ignore[reportArgumentType]
            file=_text(entry["file"]) or "",
            line=_number(entry["line"]),
            function=_text(entry["function"]) or "",
            variables=tuple(map(SiteVariable, names, types, sizes)),
            kernel=_text(entry.get("kernel")),
            arg_bytes=tuple(_numbers(entry.get("arg_bytes"))),
            declared=tuple(DeclaredVariable.from_attr(d) for d in _items(declared)),
            construct=_text(entry.get("construct")),
        )


def construct_name(op: Operation) -> str | None:
    """The construct that the user wrote where `op` is now: `serial`, `kernels`, or None if it is the same."""
    if FROM_KERNELS in op.attributes:
        return "kernels"
    return "serial" if FROM_SERIAL in op.attributes else None


def _text(attr: Attribute | None) -> str | None:
    return attr.data if isinstance(attr, StringAttr) else None


def _number(attr: Attribute) -> int:
    return attr.value.data if isinstance(attr, IntegerAttr) else 0


def _items(attr: Attribute | None) -> tuple[Attribute, ...]:
    """The elements of an array attribute; none if there is no array."""
    return attr.data if isinstance(attr, ArrayAttr) else ()


def _texts(attr: Attribute | None) -> list[str]:
    return [_text(a) or "" for a in _items(attr)]


def _numbers(attr: Attribute | None) -> list[int]:
    return [_number(a) for a in _items(attr)]


@dataclass
class SiteTable:
    """
    The site table while passes add to it. `SiteTable.of(module)` reads what earlier passes left;
    `store(module)` writes it back.
    """

    sites: list[SiteEntry] = field(default_factory=list[SiteEntry])

    @staticmethod
    def of(module: ModuleOp) -> SiteTable:
        entries = _items(module.attributes.get(SITES))
        return SiteTable([SiteEntry.from_attr(e) for e in entries if isinstance(e, DictionaryAttr)])

    def add(
        self,
        kind: SiteKind,
        loc: SourceLoc | Attribute,
        function: str,
        variables: Sequence[SiteVariable] = (),
        *,
        kernel: str | None = None,
        arg_bytes: Sequence[int] = (),
        declared: Sequence[DeclaredVariable] = (),
        construct: str | None = None,
    ) -> int:
        """Adds an entry for the directive at `loc`; returns its index."""
        place = SourceLoc.from_attr(loc) if isinstance(loc, Attribute) else loc
        self.sites.append(
            SiteEntry(
                kind, place.file, place.line, function, tuple(variables), kernel, tuple(arg_bytes),
                tuple(declared), construct,
            )
        )  # fmt: skip
        return len(self.sites) - 1

    def set_arg_bytes(self, index: int, sizes: Sequence[int]) -> None:
        """Sets the sizes in bytes of the kernel arguments of launch site `index`."""
        self.sites[index] = replace(self.sites[index], arg_bytes=tuple(sizes))

    def store(self, module: ModuleOp) -> None:
        """Writes the table to `accx.sites` (removed if empty)."""
        if self.sites:
            module.attributes[SITES] = ArrayAttr([s.to_attr() for s in self.sites])
        else:
            module.attributes.pop(SITES, None)
