"""
The object files of `accc -c`: preprocessed C, which is compiled when the whole program is linked, as with
link-time optimisation in other compilers, and its typed tree, so that the same compiler need not parse it
again. `ar` puts such files into archives like any others.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from ..backend.foreign_objects import ForeignObject
from ..base.diagnostics import UNKNOWN_LOC, CompileError, error
from ..base.seal import DIGEST_BYTES, digest
from ..c.preprocess import PreprocessedSource
from .fat_objects import held_in

_MAGIC = b"accopt object 4\n"
_ANY_MAGIC = b"accopt object "
_LENGTH = 8
"""The size in bytes of the field with the length of the text part, which comes before that part; the typed
tree follows it."""
_ARCHIVE = b"!<arch>\n"
_THIN = b"!<thin>\n"
"""The first bytes of thin archives, whose members remain separate files (`ar T`, as Meson makes them)."""
_HEADER = 60
"""The size in bytes of a member's header in an archive: name (16), date, owner, group, mode, size (10, at
48), end mark."""
_TABLES = ("/", "//", "/SYM64/", "__.SYMDEF")
"""The members that are no files: the index of symbols, and the long names."""


@dataclass(frozen=True)
class ObjectFile:
    """
    An object file: its preprocessed C, the options that apply when linking compiles it, the messages that
    its compilation printed, the names that it defines for others and those that it uses, and key and bytes
    of its checked tree (`checked_files.py`). `is_member`: it comes from an archive.
    """

    source: PreprocessedSource
    arguments: tuple[str, ...]
    messages: tuple[str, ...]
    defined: frozenset[str]
    undefined: frozenset[str]
    checked: tuple[str, bytes] | None = None
    is_member: bool = False

    def to_bytes(self) -> bytes:
        """The contents of the file."""
        key, tree = self.checked or ("", b"")
        names = sorted(self.defined), sorted(self.undefined)
        fields = [self.source.file, self.source.text, self.arguments, self.messages, *names, key]
        text = zlib.compress(json.dumps(fields).encode(), 1)
        content = len(text).to_bytes(_LENGTH, "little") + text + tree
        return _MAGIC + digest(content) + content


def read_objects(path: Path) -> list[ObjectFile | ForeignObject]:
    """The object in a file, or those in an archive. Raises `CompileError` if it holds anything else."""
    data = _contents(path)
    if data.startswith(_THIN):
        names = [name for name, _ in _members(str(path), data, thin=True)]
        members = ((name, _contents(path.parent / name)) for name in names)
    elif not data.startswith(_ARCHIVE):
        return [_read(str(path), data)]
    else:
        members = _members(str(path), data)
    return [_read(f"{path}({name})", member, is_member=True) for name, member in members]


def _contents(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as e:
        raise error(UNKNOWN_LOC, f"cannot read '{path}': {e.strerror}", "check its name") from e


def _members(archive: str, data: bytes, *, thin: bool = False) -> Iterator[tuple[str, bytes]]:
    """
    Names and contents of an archive's members, without its index and table of long names. Of thin archives
    the contents are empty. Raises `CompileError` if the archive ends too early.
    """
    at = len(_ARCHIVE)
    long_names = b""
    while at + _HEADER <= len(data):
        name = data[at : at + 16].decode(errors="replace").strip()
        digits = data[at + 48 : at + 58].strip()
        if not digits.isdigit():
            raise _damaged(archive)
        size = int(digits)
        at += _HEADER
        if at + (0 if thin and name not in _TABLES else size) > len(data):
            raise _damaged(archive)
        if name == "//":
            long_names = data[at : at + size]
        elif name not in _TABLES:
            size = 0 if thin else size
            if name.startswith("/") and name[1:].isdigit():
                start = int(name[1:])
                name = long_names[start : long_names.find(b"/\n", start)].decode(errors="replace")
            yield name.rstrip("/"), data[at : at + size]
        at += size + size % 2
    if at < len(data):
        raise _damaged(archive)


def _damaged(name: str) -> CompileError:
    return error(UNKNOWN_LOC, f"'{name}' is damaged", "copy it again, or make it again")


def _read(name: str, data: bytes, *, is_member: bool = False) -> ObjectFile | ForeignObject:
    if data.startswith(b"\x7fELF"):
        held = held_in(data, name)
        if held is None:
            return ForeignObject(name, data)
        data = held
    if data.startswith(_ANY_MAGIC) and not data.startswith(_MAGIC):
        raise error(
            UNKNOWN_LOC,
            f"'{name}' was made by another version of accc",
            "compile its C source again",
        )
    if not data.startswith(_MAGIC):
        raise error(
            UNKNOWN_LOC,
            f"'{name}' is not an object file of accc",
            "compile its C source with accc, or with a compiler that makes ELF object files",
        )
    content = len(_MAGIC) + DIGEST_BYTES
    if digest(data[content:]) != data[len(_MAGIC) : content]:
        raise _damaged(name)
    begin = content + _LENGTH
    end = begin + int.from_bytes(data[content:begin], "little")
    fields = json.loads(zlib.decompress(data[begin:end]))
    file, text, arguments, messages, defined, undefined, key = fields
    return ObjectFile(
        PreprocessedSource(file, text),
        tuple(arguments),
        tuple(messages),
        frozenset(defined),
        frozenset(undefined),
        (key, data[end:]) if key else None,
        is_member,
    )


Linkable = TypeVar("Linkable", bound=ObjectFile | ForeignObject)


def needed(objects: Sequence[Linkable], wanted: set[str], defined: set[str]) -> list[Linkable]:
    """
    The objects that are not members of archives; and the members that define names in `wanted`, or that these
    objects use, but do not define and are not in `defined`; and the members that those need in turn (ld(1),
    archives).
    """
    chosen = [each for each in objects if not each.is_member]
    wanted = wanted.union(*(each.undefined for each in chosen))
    defined = defined.union(*(each.defined for each in chosen))
    left = [each for each in objects if each.is_member]
    progress = True
    while progress:
        progress = False
        for member in list(left):
            if member.defined & (wanted - defined):
                left.remove(member)
                chosen.append(member)
                wanted |= member.undefined
                defined |= member.defined
                progress = True
    return chosen
