"""Splits a copy between two sections of equal size and any shapes into rectangles, each of which the driver
copies at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..device import Strips


@dataclass(frozen=True, slots=True)
class PeerStrips:
    """
    A rectangle: `rows` runs of `width` bytes, from `source` on and to `target` on, `source_pitch` and
    `target_pitch` bytes apart. Both are offsets from addresses that the caller knows.
    """

    target: int
    source: int
    width: int
    rows: int = 1
    target_pitch: int = 0
    source_pitch: int = 0

    @property
    def target_bytes(self) -> int:
        """The bytes from the first to the last one written."""
        return self.target_pitch * (self.rows - 1) + self.width

    @property
    def source_bytes(self) -> int:
        """The bytes from the first to the last one read."""
        return self.source_pitch * (self.rows - 1) + self.width

    def pieces(self, most: int) -> Iterator[PeerStrips]:
        """The copy in pieces of at most `most` bytes."""
        if self.width > most:
            for row in range(self.rows):
                target, source = self.target_of(row), self.source_of(row)
                for at in range(0, self.width, most):
                    yield PeerStrips(target + at, source + at, min(most, self.width - at))
            return
        step = max(most // max(self.width, 1), 1)
        for row in range(0, self.rows, step):
            yield PeerStrips(
                self.target_of(row),
                self.source_of(row),
                self.width,
                min(step, self.rows - row),
                self.target_pitch,
                self.source_pitch,
            )

    def target_of(self, row: int) -> int:
        """The offset to which a row is written."""
        return self.target + row * self.target_pitch

    def source_of(self, row: int) -> int:
        """The offset from which a row is read."""
        return self.source + row * self.source_pitch


def paired(targets: Iterable[Strips], sources: Iterable[Strips]) -> Iterator[PeerStrips]:
    """The copies that fill `targets` with `sources`, byte after byte, up to the end of the shorter one."""
    targets, sources = list(targets), list(sources)
    alike = [(t.width, t.rows) for t in targets] == [(s.width, s.rows) for s in sources]
    if alike:
        for t, s in zip(targets, sources, strict=True):
            yield PeerStrips(t.offset, s.offset, t.width, t.rows, t.pitch, s.pitch)
        return
    yield from _joined(_common_runs(_runs(targets), _runs(sources)))


def _runs(strips: Iterable[Strips]) -> Iterator[tuple[int, int]]:
    for strip in strips:
        for start in strip.starts():
            yield start, strip.width


def _common_runs(
    targets: Iterator[tuple[int, int]], sources: Iterator[tuple[int, int]]
) -> Iterator[tuple[int, int, int]]:
    """Target, source and length of each run that is contiguous on both sides."""
    target, left = next(targets, (0, 0))
    source, held = next(sources, (0, 0))
    while left and held:
        length = min(left, held)
        yield target, source, length
        target, left = target + length, left - length
        source, held = source + length, held - length
        if not left:
            target, left = next(targets, (0, 0))
        if not held:
            source, held = next(sources, (0, 0))


def _joined(runs: Iterable[tuple[int, int, int]]) -> Iterator[PeerStrips]:
    """Runs at equal distances as rows of one rectangle."""
    first: PeerStrips | None = None
    for target, source, width in runs:
        if first is not None and first.width == width:
            steps = (
                target - first.target_of(first.rows - 1),
                source - first.source_of(first.rows - 1),
            )
            pitches = (first.target_pitch, first.source_pitch)
            if (first.rows == 1 and min(steps) >= width) or steps == pitches:
                first = PeerStrips(first.target, first.source, width, first.rows + 1, *steps)
                continue
        if first is not None:
            yield first
        first = PeerStrips(target, source, width)
    if first is not None:
        yield first


def without(
    strips: Iterable[PeerStrips], targets: list[int], sources: list[int], width: int
) -> Iterator[PeerStrips]:
    """The strips without the `width` bytes at each of these offsets of the target and of the source."""
    for strip in strips:
        target_words = _inside(targets, strip.target, strip.target_bytes, width)
        source_words = _inside(sources, strip.source, strip.source_bytes, width)
        if not target_words and not source_words:
            yield strip
            continue
        for row in range(strip.rows):
            target, source = strip.target_of(row), strip.source_of(row)
            words = [w - target for w in target_words] + [w - source for w in source_words]
            yield from _cut(target, source, strip.width, sorted(words), width)


def _inside(words: list[int], start: int, size: int, width: int) -> list[int]:
    return [word for word in words if start - width < word < start + size]


def _cut(target: int, source: int, size: int, words: list[int], width: int) -> Iterator[PeerStrips]:
    at = 0
    for word in words:
        if word >= size or word + width <= at:
            continue
        if word > at:
            yield PeerStrips(target + at, source + at, word - at)
        at = max(at, word + width)
    if at < size:
        yield PeerStrips(target + at, source + at, size - at)
