"""`#pragma pack`: how strictly the members of the structures that follow are aligned at most."""

from __future__ import annotations

import re

_ANCHOR = re.compile(r"/\*.*?\*/")
_PACK = re.compile(r"\s*pack\s*\(\s*(push|pop)?\s*,?\s*([A-Za-z_]\w*)?\s*,?\s*(\d+)?\s*\)")


def without_anchors(text: str) -> str:
    """A pragma's text without the comments that say where its words stand."""
    return _ANCHOR.sub("", text)


class PragmaPack:
    """The state of `#pragma pack` in a file: `most`, in bytes, is None where nothing limits alignment."""

    def __init__(self) -> None:
        self.most: int | None = None
        self._stack: list[tuple[str | None, int | None]] = []

    def obey(self, text: str) -> bool:
        """Carries out a pragma's `text` (without `#pragma`), if it is of this kind; else False."""
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
        """Back to what held before the last `push`, or the one with that label."""
        while self._stack:
            name, self.most = self._stack.pop()
            if label is None or name == label:
                return
