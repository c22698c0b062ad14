"""Passes whose work is for GPUs only: CPU threads and LLVM do on the host what they would."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ..decisions.schedule import Target
from .machine import machine_of


@dataclass(frozen=True)
class GpuPass(ModulePass, ABC):
    """A pass that leaves modules for the host as they are. Option `target`: instead of the module's own."""

    target: Target | None = None

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if (self.target or machine_of(op).target) != "host":
            self.rewrite(op)

    @abstractmethod
    def rewrite(self, module: ModuleOp) -> None:
        """What the pass does for a GPU."""
