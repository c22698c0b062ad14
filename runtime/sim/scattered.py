"""Accesses whose threads access different variables or kinds of memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from .memory import LOCAL, SPACE_SHIFT, LocalMemory
from .values import Array, Threads, Value, put


class Scattered(Exception):
    """Raised when the threads of an access must be split by the variables they access."""

    def __init__(self, addresses: Array, local: LocalMemory):
        super().__init__()
        homes = addresses >> SPACE_SHIFT
        for address in np.unique(addresses[homes == LOCAL]):
            variable = local.at(int(address))
            if variable is not None:
                homes[addresses == address] = variable.start
        self._homes = homes

    def parts(self, threads: Threads) -> Iterator[tuple[Threads, Array]]:
        """Threads that access one variable, or one memory, and their positions."""
        for home in np.unique(self._homes):
            here = np.flatnonzero(self._homes == home)
            yield threads.sub(here), here

    def gather(self, threads: Threads, value: Callable[[Threads, Array], Value]) -> Value:
        """The merged results of `value` for each part."""
        result: Value = None
        for some, here in self.parts(threads):
            result = put(threads.n, result, here, value(some, here))
        return result
