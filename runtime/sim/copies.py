"""Copies and fills of memory, piece by piece in the widest type that fits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .memory import STATE_VIEWS
from .values import Array, Threads, Value, ndarray, take

if TYPE_CHECKING:
    from .access import Access
    from .memories import Memories


def copy(
    memories: Memories,
    threads: Threads,
    target: Value,
    source: Value,
    length: Value,
    to: Access,
    frm: Access,
) -> None:
    """`memmove` of each thread; the state of the bytes goes with them."""
    for chosen, start, size, dtype in _pieces(threads, length, (target, source)):
        if size <= 0:
            continue
        to.dtype = frm.dtype = np.dtype(dtype)
        step = frm.dtype.itemsize
        t, s = take(start, target), take(start, source)
        values: list[tuple[Value, Value]] = []
        for at in range(0, size, step):
            value = memories.load(chosen, s + at, frm)
            values.append((value, memories.state(chosen, s + at, frm)))
        for at, (value, state) in zip(range(0, size, step), values, strict=True):
            memories.store(chosen, t + at, value, to)
            memories.set_state(chosen, t + at, state, to)


def fill(
    memories: Memories, threads: Threads, target: Value, byte: Value, length: Value, to: Access
) -> None:
    """`memset` of each thread."""
    for chosen, start, size, dtype in _pieces(threads, length, (target,)):
        to.dtype = np.dtype(dtype)
        step = to.dtype.itemsize
        t = take(start, target)
        pattern = take(start, byte).astype(np.uint8).astype(np.uint64)
        for _ in range(step.bit_length() - 1):
            width = pattern.dtype.type(8 << _)
            pattern = pattern | (pattern << width)
        value = pattern.astype(STATE_VIEWS[step]).view(to.dtype)
        for at in range(0, size, step):
            memories.store(chosen, t + at, value, to)


def _pieces(
    threads: Threads, length: Value, pointers: tuple[Value, ...]
) -> list[tuple[Threads, Array | None, int, type[Any]]]:
    """Groups of threads with one length each, and the widest type that fits their pointers."""
    groups: list[tuple[Threads, Array | None, int, type[Any]]] = []
    lengths = np.unique(length) if isinstance(length, ndarray) else [length]
    for size in lengths:
        chosen = None
        if len(lengths) > 1:
            chosen = np.flatnonzero(length == size)
        bits = int(size)
        for pointer in pointers:
            own = take(chosen, pointer)
            bits |= int(np.bitwise_or.reduce(own)) if isinstance(own, ndarray) else int(own)
        dtype = np.int64 if bits % 8 == 0 else np.int32 if bits % 4 == 0 else np.int8
        groups.append((threads.sub(chosen), chosen, int(size), dtype))
    return groups
