"""
Warnings of passes about the user's program, stored on the module (`accx.messages`) until a driver prints
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    FileLineColLoc,
    ModuleOp,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation

from ....compiler.base.diagnostics import Diagnostic, Severity, SourceLoc
from ....dialects.accx import MESSAGES

Note = tuple[SourceLoc, str]


def access_notes(read: Operation | None, write: Operation | None) -> list[Note]:
    """The places where a variable is read and assigned, as far as they are given."""
    places = (read, "it is read here"), (write, "it is assigned here")
    return [(SourceLoc.from_attr(op.location), text) for op, text in places if op is not None]


@dataclass
class Messages:
    """The warnings of one pass about `module`; `save` appends them to those of earlier passes."""

    module: ModuleOp
    _said: dict[Attribute, None] = field(default_factory=dict[Attribute, None])

    def warn(
        self,
        loc: SourceLoc,
        text: str,
        remedy: str | None = None,
        notes: Sequence[Note] = (),
        *,
        only_wall: bool = False,
        option: str | None = None,
    ) -> None:
        """
        Adds a warning, which with `only_wall` is shown only under `-Wall`; `option` is as in `Diagnostic`.
        """
        fields: dict[str, Attribute] = {"loc": loc.to_attr(), "text": StringAttr(text)}
        if remedy is not None:
            fields["remedy"] = StringAttr(remedy)
        if notes:
            fields["notes"] = ArrayAttr(
                DictionaryAttr({"loc": at.to_attr(), "text": StringAttr(note)})
                for at, note in notes
            )
        if option is not None:
            fields["option"] = StringAttr(option)
        if only_wall:
            fields["wall"] = UnitAttr()
        self._said.setdefault(DictionaryAttr(fields))

    def save(self) -> None:
        known = self.module.attributes.get(MESSAGES)
        before = known.data if isinstance(known, ArrayAttr) else ()
        if self._said:
            self.module.attributes[MESSAGES] = ArrayAttr((*before, *self._said))


def take_messages(module: ModuleOp, *, wall: bool) -> list[Diagnostic]:
    """
    Removes the passes' warnings from the module and returns them by line; those for `-Wall` only with
    `wall`.
    """
    attribute = module.attributes.pop(MESSAGES, None)
    found: list[Diagnostic] = []
    for message in attribute.data if isinstance(attribute, ArrayAttr) else ():
        assert isinstance(message, DictionaryAttr)
        fields = message.data
        if "wall" in fields and not wall:
            continue
        notes = fields.get("notes")
        entries = notes.data if isinstance(notes, ArrayAttr) else ()
        found.append(
            Diagnostic(
                Severity.WARNING,
                _loc(fields),
                _text(fields, "text") or "",
                _text(fields, "remedy"),
                tuple(
                    (_loc(note.data), _text(note.data, "text") or "")
                    for note in entries
                    if isinstance(note, DictionaryAttr)
                ),
                _text(fields, "option"),
            )
        )
    return sorted(found, key=lambda d: (d.loc.file, d.loc.line))


def _loc(fields: Mapping[str, Attribute]) -> SourceLoc:
    loc = fields["loc"]
    assert isinstance(loc, FileLineColLoc)
    return SourceLoc.from_attr(loc)


def _text(fields: Mapping[str, Attribute], name: str) -> str | None:
    text = fields.get(name)
    return text.data if isinstance(text, StringAttr) else None
