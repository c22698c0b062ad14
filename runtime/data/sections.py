"""
Sections as runs of bytes, for non-contiguous updates and for transfers that leave out attached pointers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product

from ..device import Strips

Triple = tuple[int, int, int]
"""Lower bound, extent, and stride in bytes of a dimension; negative where its elements are pointers."""

Shape = Sequence[Triple]
"""The dimensions of a section, outermost first."""


def span_of(shape: Shape) -> tuple[int, int]:
    """The first byte of a section without pointers, as an offset from its base, and the bytes from there to
    its last one; 0 bytes if it is empty."""
    first = sum(lower * stride for lower, _, stride in shape)
    if not shape or any(extent <= 0 for _, extent, _ in shape):
        return first, 0
    return first, shape[-1][2] + sum((extent - 1) * stride for _, extent, stride in shape)


def innermost_run(shape: Shape) -> tuple[int, list[tuple[int, int, int]]]:
    """The number of contiguous bytes at the inner end of a section, and the dimensions around them."""
    *outer, (_, extent, stride) = shape
    width = extent * stride
    while outer and (outer[-1][1] == 1 or outer[-1][2] == width):
        width *= outer.pop()[1]
    return width, outer


def strips_of(shape: Shape, offset: int, size: int) -> Iterator[Strips]:
    """
    The bytes of a section, as offsets from its first byte.

    No `shape` means the `size` contiguous bytes. `offset` is the section's start relative to the
    base that `shape` counts from. Adjacent runs are merged, and the innermost non-contiguous
    dimension becomes rows.
    """
    if not shape:
        yield Strips(0, size)
        return
    if any(extent <= 0 for _, extent, _ in shape):
        return
    first = sum(lower * stride for lower, _, stride in shape) - offset
    width, outer = innermost_run(shape)
    rows, pitch = (outer[-1][1], outer[-1][2]) if outer else (1, 0)
    loops = [range(0, e * s, s) for _, e, s in outer[:-1]]
    for steps in product(*loops):
        yield Strips(first + sum(steps), width, rows, pitch)


def split_around(strips: Iterator[Strips], words: Sequence[int], width: int) -> Iterator[Strips]:
    """The strips without the `width` bytes at each of the ascending offsets `words`."""
    for strip in strips:
        low = strip.offset
        high = strip.offset + strip.pitch * (strip.rows - 1) + strip.width
        inside = [w for w in words if w < high and low < w + width]
        if not inside:
            yield strip
            continue
        for start in strip.starts():
            end = start + strip.width
            for word in inside:
                if word + width <= start or word >= end:
                    continue
                if word > start:
                    yield Strips(start, word - start)
                start = min(word + width, end)
            if start < end:
                yield Strips(start, end - start)
