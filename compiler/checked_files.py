"""
Checked files kept on disk (`c/kept.py`), so that an unchanged file is not parsed again when other files or
options of later stages have changed, or when it was compiled by `accc -c` and is linked now. OpenMP's
runtime is such a file, in every program that uses it. Preprocessed files are kept too, with their inputs
(`c/preprocess_kept.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from .backend.cache import DiskCache, content_key
from .fingerprint import compiler_fingerprint

_OF_ALL = "any"
"""The word in place of the target for trees that are the same for all targets."""


class CheckedFiles:
    """
    Implements `KeptFiles` in a folder. `known` are entries from object files, by key; `is_new` is called
    after each file that had to be preprocessed.
    """

    def __init__(
        self,
        known: Mapping[str, bytes] | None = None,
        is_new: Callable[[], object] = lambda: None,
    ) -> None:
        self._is_new = is_new
        self._disk = DiskCache.default("checked")
        self._texts = DiskCache.default("preprocessed")
        self._known = known or {}
        self._used: dict[tuple[str, str], tuple[str, bytes]] = {}

    def is_usable(self) -> bool:
        """Whether anything can be kept."""
        return self._disk.is_usable() and self._texts.is_usable()

    def has_text(self, file: str, options: str) -> bool:
        """Whether a file was preprocessed before from this folder, whatever it was then."""
        return self._texts.has(_text_key(file, options))

    def get_text(self, file: str, options: str) -> bytes | None:
        """The bytes of a file that was preprocessed before, from this folder."""
        return self._texts.get(_text_key(file, options))

    def put_text(self, file: str, options: str, data: bytes) -> None:
        """Keeps the bytes of a preprocessed file."""
        self._texts.put(_text_key(file, options), data)
        self._is_new()

    def has(self, file: str, text: str, target: str) -> bool:
        """Whether the file was checked before by this compiler."""
        keys = [_key(file, text, kind) for kind in (_OF_ALL, target)]
        return any(key in self._known or self._disk.has(key) for key in keys)

    def get(self, file: str, text: str, target: str) -> bytes | None:
        """The bytes of a file that was checked before by this compiler."""
        for kind in (_OF_ALL, target):
            key = _key(file, text, kind)
            data = self._known.get(key) or self._disk.get(key)
            if data is not None:
                self._used[file, text] = key, data
                return data
        return None

    def put(self, file: str, text: str, target: str | None, data: bytes) -> None:
        """Keeps the bytes of a file; `target` is None if they are the same for all."""
        key = _key(file, text, target or _OF_ALL)
        self._used[file, text] = key, data
        self._disk.put(key, data)

    def entry(self, file: str, text: str) -> tuple[str, bytes] | None:
        """Key and bytes of a file that `get` or `put` has seen, to be stored in an object file."""
        return self._used.get((file, text))


def _text_key(file: str, options: str) -> str:
    """The key of a preprocessed file. It covers the machine's set of headers, as preprocessing may depend
    on which exist."""
    from .c.preprocess_headers import system_folders  # not loaded by programs that only run

    try:
        here = str(Path.cwd())
    except OSError:  # the folder has been removed
        here = ""
    machine = [str((folder / "stdio.h").is_file()) + str(folder) for folder in system_folders()]
    return content_key("preprocessed file", compiler_fingerprint(), here, *machine, options, file)


def _key(file: str, text: str, target: str) -> str:
    return content_key("checked file", compiler_fingerprint(), target, file, text)
