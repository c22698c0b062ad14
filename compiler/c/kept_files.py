"""The interface of a store for preprocessed and checked files (`preprocess_kept.py`, `kept.py`)."""

from __future__ import annotations

from typing import Protocol


class KeptFiles(Protocol):
    """
    Preprocessed files, by name and options, and checked files, by name, text and target, all of this
    version of the compiler.
    """

    def get_text(self, file: str, options: str) -> bytes | None:
        """The bytes of a file that was preprocessed before."""
        ...

    def put_text(self, file: str, options: str, data: bytes) -> None:
        """Keeps the bytes of a preprocessed file."""
        ...

    def has(self, file: str, text: str, target: str) -> bool:
        """Whether there is a file that was checked before."""
        ...

    def get(self, file: str, text: str, target: str) -> bytes | None:
        """The bytes of a file that was checked before."""
        ...

    def put(self, file: str, text: str, target: str | None, data: bytes) -> None:
        """Keeps the bytes of a checked file; `target` is None if they are the same for all."""
        ...
