"""The levels of parallelism, narrow to wide (OpenACC 3.4, 2.9)."""

from __future__ import annotations

from enum import IntEnum


class Level(IntEnum):
    """The levels from narrow to wide; a loop may only contain loops of narrower levels."""

    SEQ = 0
    VECTOR = 1
    WORKER = 2
    GANG = 3


LEVEL_NAMES = {
    Level.SEQ: "seq",
    Level.VECTOR: "vector",
    Level.WORKER: "worker",
    Level.GANG: "gang",
}
