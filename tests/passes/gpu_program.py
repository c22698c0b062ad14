"""The programs of `gpu_programs.py` as data."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

NPT = {
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
    "i64": np.int64,
    "i8": np.int8,
    "i16": np.int16,
}
"""Types of the IR in NumPy."""


@dataclass(frozen=True)
class Program:
    """
    Scheduled-level IR of a function `f` with one construct, the contents of the arrays and scalars
    it is called with, and what arrays hold afterwards (up to `tolerance`).
    """

    name: str
    text: str
    arrays: dict[str, NDArray[np.generic]]
    scalars: dict[str, tuple[str, int | float]]
    expected: dict[str, NDArray[np.generic]]
    tolerance: float = 0.0


@dataclass
class Cases:
    """The programs so far, and where their data come from."""

    programs: list[Program] = field(default_factory=list[Program])
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(1))

    def add(self, name, text, arrays, scalars, expected, tol=0.0):
        self.programs.append(
            Program(f"{name}_{len(self.programs)}", text, arrays, scalars, expected, tol)
        )
