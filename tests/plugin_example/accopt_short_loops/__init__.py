"""A package with a pass for accopt, provided through xDSL's plugin interface."""

from __future__ import annotations

from xdsl.passes import ModulePass
from xdsl.universe import Universe


def _serialise_short_loops() -> type[ModulePass]:
    from .serialise_short_loops import SerialiseShortLoopsPass

    return SerialiseShortLoopsPass


UNIVERSE = Universe(all_passes={"serialise-short-loops": _serialise_short_loops})
