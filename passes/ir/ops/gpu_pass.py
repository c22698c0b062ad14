"""Base class of passes that apply to GPU targets only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...decisions.schedule import Target
from .machine import machine_of


@dataclass(frozen=True)
class GpuPass(ModulePass, ABC):
    """A pass that leaves modules for the host unchanged. Option `target` overrides the module's target."""

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if (self.target or machine_of(op).target) != "host":
            self.rewrite(op)

    @abstractmethod
    def rewrite(self, module: ModuleOp) -> None:
        """Rewrites a module for a GPU."""
