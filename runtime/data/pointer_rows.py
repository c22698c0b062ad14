"""
Sections through arrays of pointers: `a[0:n][0:m]` of `float **a` (OpenACC 3.4, 2.7.1).

Such a clause means the block of pointers and every row they point to, each row attached to its
pointer. A request for one has the flag `ROWS` and a shape whose dimensions of pointers, which are
followed to the next dimension, have a negative stride; `parts` returns the requests for its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from ...compiler.base.abi import DataFlag, DataKind
from .sections import Shape, Triple, span_of

if TYPE_CHECKING:
    from .clauses import Request


@dataclass(frozen=True, slots=True)
class Part:
    """
    A block of pointers, or a row: `bytes` bytes from `base + offset`, where `base` is the value of the
    pointer at `pointer` (0 if that is unknown); `shape` is set for a row of several dimensions.
    """

    base: int
    offset: int
    bytes: int
    pointer: int
    shape: tuple[Triple, ...]
    is_block: bool


_CREATES = frozenset({DataKind.COPY, DataKind.COPYIN, DataKind.COPYOUT, DataKind.CREATE})
"""Kinds of clauses on the rows that allocate the block of pointers."""


def parts(
    request: Request, read_pointer: Callable[[int], int], *, leaving: bool = False
) -> list[Request]:
    """
    The requests for the parts of `request`, the block of pointers first; only `request` itself if it has no
    rows. `leaving`: the clause is on `exit data`, whose `copyout` also removes the block. An update has no
    block: only rows are moved.

    The values of a block's pointers are set by attaching the rows. Null pointers are not attached (2.6.4), so
    a block that has some is copied.
    """
    if not request.flags & DataFlag.ROWS:
        return [request]
    found = list(expand(request.base, request.pointer, request.shape, read_pointer))
    kind = request.kind
    if kind in _CREATES:
        has_null = any(part.base == 0 for part in found)
        kind = DataKind.COPYIN if has_null else DataKind.CREATE
    if leaving and request.dynamic and request.kind == DataKind.COPYOUT:
        kind = DataKind.DELETE
    updates = request.kind in (DataKind.UPDATE_SELF, DataKind.UPDATE_DEVICE)
    return [
        replace(
            request,
            base=part.base,
            offset=part.offset,
            bytes=part.bytes,
            pointer=part.pointer,
            shape=part.shape,
            kind=kind if part.is_block else request.kind,
            flags=request.flags & ~DataFlag.ROWS,
        )
        for part in found
        if not (updates and part.is_block)
    ]


def expand(
    base: int, pointer: int, dims: Shape, read_pointer: Callable[[int], int]
) -> Iterator[Part]:
    """The parts of the section `dims` from `base`, the value of the pointer object at `pointer`; the block
    of pointers first."""
    last = next((i for i, (_, _, stride) in enumerate(dims) if stride < 0), None)
    head = list(dims) if last is None else [(a, n, abs(s)) for a, n, s in dims[: last + 1]]
    offset, size = span_of(head)
    if last is None:
        yield Part(base, offset, size, pointer, tuple(head) if len(head) > 1 else (), False)
        return
    yield Part(base, offset, size, pointer, (), True)
    if base == 0 or size == 0:
        return
    for position in product(*(range(lower, lower + extent) for lower, extent, _ in head)):
        address = base + sum(i * stride for i, (_, _, stride) in zip(position, head, strict=True))
        yield from expand(read_pointer(address), address, dims[last + 1 :], read_pointer)
