"""accopt's dialects and passes for xDSL's plugin interface: `xdsl-opt` and other tools find them by entry
point."""

from __future__ import annotations

from xdsl.universe import Universe

from ..dialects.accx import ACCX
from ..passes.registry import all_passes

ACCOPT_UNIVERSE = Universe(all_dialects={"accx": lambda: ACCX}, all_passes=all_passes())
