"""
When computing the rows that a copy between devices sends first, before their construct, saves time
(`passes/compute_borders_first`). Times are in microseconds, for GPUs connected by NVLink; kernels are taken
to be limited by memory, so that others take longer than is estimated here.

Without it, a step takes the construct, then the copy and the waits for it. With it, it takes the longer one
of the construct, which shares the GPU with the border, and of border, copy and waits after one another; and
what the additional launch and events take of the GPU.
"""

from __future__ import annotations

from dataclasses import dataclass

MEMORY_BYTES, LINK_BYTES = 4.1e6, 0.39e6
"""The bytes that a GPU moves in a microsecond to and from its memory, and to another GPU."""
LAUNCH, COPY, WAITS, ADDED = 4.0, 7.0, 3.0, 2.5
"""A launch; a copy of few bytes; the waits of GPUs for one another around it; what a border's launch and its
two events take of both GPUs."""
HOST_LAUNCH, HOST_COPY = 3.0, 12.0
"""What a step takes of the host for each device, and for each copy, of which there are two between
neighbours; with borders computed first."""
SHORTEST = 15.0
"""The time after which a copy that begins with a construct has ended."""
LEAST_GAIN = 0.01
"""Less than this share of the construct is not worth a second kernel."""


@dataclass(frozen=True)
class BorderLimits:
    """
    The limits between which a border pays, in bytes of the device's memory: those that the whole construct
    accesses, `least` to `most`, and those of the border alone, at most `border`.
    """

    least: int
    most: int
    border: int

    def why_not(self, construct: int, border: int) -> str | None:
        """Why a border of a construct, with the bytes that they access, does not pay; None if it does."""
        took = f"its kernel accesses {_amount(construct)}, about {construct / MEMORY_BYTES:.2g} us"
        if construct < self.least:
            return f"{took}, too little to hide a copy: at least {_amount(self.least)} are needed"
        if construct > self.most:
            return f"{took}, of which a copy takes less than {LEAST_GAIN:.0%}"
        if border > self.border:
            return (
                f"the border's {_amount(border)} take about {border / MEMORY_BYTES:.2g} us, longer than"
                " a copy of it"
            )
        return None


def border_limits(copied: int, devices: int) -> BorderLimits:
    """
    The limits for copies of at most `copied` bytes in a process that uses so many devices: if kernels take
    less than the host needs for all of them, more calls make a step longer.
    """
    exchange = COPY + WAITS + copied / LINK_BYTES
    host = HOST_LAUNCH * devices + HOST_COPY * 2 * (devices - 1)
    return BorderLimits(
        least=round(max(SHORTEST, host) * MEMORY_BYTES),
        most=round(exchange / LEAST_GAIN * MEMORY_BYTES),
        border=round((exchange - ADDED) * MEMORY_BYTES),
    )


def step_times(construct: int, border: int, copied: int) -> tuple[float, float]:
    """A step's time without and with a border first, from the bytes that construct and border access and
    that are copied."""
    kernel, rows = construct / MEMORY_BYTES, border / MEMORY_BYTES
    exchange = COPY + WAITS + copied / LINK_BYTES
    return kernel + exchange, max(kernel + rows, LAUNCH + rows + exchange) + ADDED


def _amount(size: int) -> str:
    return f"{size} bytes" if size < 100_000 else f"{size / 1e6:.3g} MB"
