"""IR generation: typed trees → the acc-level module."""

from .module import generate_module

__all__ = ["generate_module"]
