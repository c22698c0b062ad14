"""Device memory that `acc_shutdown` has released: addresses that the program may still have."""

from __future__ import annotations


class Released:
    """Spans of one device's memory, first address and the one past the last."""

    def __init__(self) -> None:
        self._spans: list[tuple[int, int]] = []

    def __bool__(self) -> bool:
        return bool(self._spans)

    def __contains__(self, address: int) -> bool:
        return any(first <= address < past for first, past in self._spans)

    def add(self, address: int, size: int) -> None:
        """A block has been released."""
        self._spans.append((address, address + size))

    def reuse(self, address: int, size: int) -> None:
        """Memory has been allocated again: the spans in which it lies are forgotten."""
        if self._spans:
            past = address + max(size, 1)
            self._spans = [s for s in self._spans if s[1] <= address or past <= s[0]]
