"""Dialects that xDSL lacks: `nvvm`, the missing half of `llvm`, and our research dialect `accx`."""

from . import quick_xdsl

quick_xdsl.install()
