"""Some kernels of a file: to compile all of them for each set of options is most of a test's time."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path

_KERNEL = re.compile(r"^void (\w+)\(.*?^}\n", re.MULTILINE | re.DOTALL)


def part(file: Path, kernels: Collection[str], folder: Path) -> Path:
    """A copy of `file`, in `folder`, without its other kernels: functions `void …` that are not static."""
    text = file.read_text()
    assert set(kernels) <= {found[1] for found in _KERNEL.finditer(text)}
    path = folder / file.name
    path.write_text(_KERNEL.sub(lambda found: found[0] if found[1] in kernels else "", text))
    return path
