"""Source files as text, and headers that several files of a program include."""

from __future__ import annotations

import sys
from pathlib import Path

from ..base.diagnostics import UNKNOWN_LOC, SourceLoc, error
from .preprocess_again import Inclusions
from .preprocess_expand import Macro
from .preprocess_lexer import LexedFile, Token


def read_source(path: Path, loc: SourceLoc) -> str:
    """The text of a source file; `loc` is the place of errors."""
    try:
        data = path.read_bytes()
    except OSError as failure:
        raise error(loc, f"cannot read '{path}': {failure.strerror}") from None
    return source_text(data)


def read_input() -> bytes:
    """The contents of standard input. Raises `CompileError` if it cannot be read."""
    try:
        return sys.stdin.buffer.read()
    except OSError as e:
        raise error(UNKNOWN_LOC, f"cannot read standard input: {e.strerror}", "name a file") from e


def source_text(data: bytes) -> str:
    """C source from a file's bytes; bytes that are not UTF-8 are kept as surrogates."""
    return data.decode("utf-8-sig", "surrogateescape").replace("\r\n", "\n")


class Headers:
    """
    The headers that the files of a program include, each read and lexed once; what including them did, their
    macros by the token of the name, and those that options define or remove.
    """

    def __init__(self) -> None:
        self._files: dict[Path, LexedFile] = {}
        self.inclusions = Inclusions()
        self.macros: dict[int, tuple[Token, Macro]] = {}
        self.predefined: dict[str, tuple[dict[str, Macro], set[str]]] = {}

    def get(self, path: Path, loc: SourceLoc) -> LexedFile:
        """The header at `path`; `loc` is the place of errors."""
        found = self._files.get(path)
        if found is None:
            found = self._files[path] = LexedFile(read_source(path, loc), str(path), shared=True)
        return found
