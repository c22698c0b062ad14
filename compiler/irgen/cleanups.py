"""Variables with `cleanup(f)` (GNU C): `f` is called with their address when control leaves their scope."""

from __future__ import annotations

from dataclasses import dataclass

from ..base.diagnostics import SourceLoc, error
from ..c import ast as c
from .function import FunctionState


@dataclass
class CleanUp:
    """Calls `function` with the address of `decl` when control leaves its scope."""

    fn: FunctionState
    decl: c.VarDecl
    function: c.FunctionDecl

    def __call__(self) -> None:
        symbol = self.fn.module.function_symbol(self.function)
        self.fn.call(symbol, [self.fn.address(self.decl)])


def push(fn: FunctionState, decl: c.VarDecl, function: c.FunctionDecl) -> None:
    """Registers the call of `function` for all ways to leave the scope, from here to its end."""
    fn.exits.append(CleanUp(fn, decl, function))


def refuse(fn: FunctionState, loc: SourceLoc) -> None:
    """Raises `CompileError` for a `goto` in the scope of a variable with `cleanup`, as its label may be
    outside."""
    if any(isinstance(action, CleanUp) for action in fn.exits):
        raise error(
            loc,
            "'goto' in the scope of a variable with 'cleanup' is not supported",
            "leave the scope by 'return', 'break' or 'continue'",
        )
