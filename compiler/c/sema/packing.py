"""`#pragma pack`: the largest alignment of members in the structures that follow."""

from __future__ import annotations

import re

_ANCHOR = re.compile(r"/\*.*?\*/")
_PACK = re.compile(r"\s*pack\s*\(\s*(push|pop)?\s*,?\s*([A-Za-z_]\w*)?\s*,?\s*(\d+)?\s*\)")


def without_anchors(text: str) -> str:
    """A pragma's text without anchors, the comments with the places of its words."""
    return _ANCHOR.sub("", text)


class PragmaPack:
    """The state of `#pragma pack` in a file: `most` is the largest alignment in bytes, None where it is not
    limited."""

    def __init__(self) -> None:
        self.most: int | None = None
        self._stack: list[tuple[str | None, int | None]] = []

    def obey(self, text: str) -> bool:
        """Carries out a pragma's `text` (without `#pragma`) if it is `pack`; returns False otherwise."""
        found = _PACK.match(without_anchors(text))
        if found is None:
            return False
        action, label, number = found.groups()
        given = int(number) if number else None
        if action == "push":
            self._stack.append((label, self.most))
        elif action == "pop":
            self._pop(label)
        if given is not None or action is None:
            self.most = given or None
        return True

    def _pop(self, label: str | None) -> None:
        """Restores the state before the last `push`, or before the `push` with that label."""
        while self._stack:
            name, self.most = self._stack.pop()
            if label is None or name == label:
                return
