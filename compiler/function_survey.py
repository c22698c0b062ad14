"""
What other functions of a file may learn of a function, and so what must not be lost when the function is
left out (`kept_functions.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xdsl.dialects import llvm

from ..passes.ir.ops.acc_ops import callee_of
from .c import ast as c
from .c.function_texts import is_left_out
from .c.tree import symbol_name, walk
from .c.types import is_scalar
from .irgen.conventions import has_records

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp
    from xdsl.ir import SSAValue

_FILE_SCOPE = (c.Storage.GLOBAL, c.Storage.STATIC_GLOBAL)


@dataclass(frozen=True)
class ProgramSurvey:
    """
    Checked files. `functions`: those that may be left out, by name, and the functions that each names, if
    they decide about warnings; `symbols`: the names of all functions and variables at file scope; `renamed`:
    those of variables that have several, and those that mean different things in two files; `directed`: the
    functions with directives of their own; `exposed`: the scalar variables at file scope whose addresses are
    taken.
    """

    functions: dict[str, tuple[str, ...]]
    symbols: frozenset[str]
    renamed: frozenset[str]
    directed: frozenset[str]
    exposed: frozenset[str]


def survey(units: Sequence[c.TranslationUnit], *, wall: bool) -> ProgramSurvey:
    """The survey of files; `wall`: which functions others name decides about warnings."""
    functions = [f for unit in units for f in unit.functions]
    variables = [v for unit in units for v in unit.variables if v.storage in _FILE_SCOPE]
    return ProgramSurvey(
        {
            f.name: tuple(_named(f.body)) if wall else ()
            for f in functions
            if f.body is not None and _may_be_left_out(f, f.body)
        },
        frozenset(symbol_name(decl) for decl in (*functions, *variables)),
        frozenset(name for v in variables for name in _names(v)) | _ambiguous(units),
        frozenset(f.name for f in functions if f.directives),
        frozenset(v.name for v in variables if v.address_taken and is_scalar(v.type)),
    )


def _ambiguous(units: Sequence[c.TranslationUnit]) -> frozenset[str]:
    """The names that are internal in a file and that another file has, too."""
    files: dict[str, set[int]] = {}
    internal: set[str] = set()
    for number, unit in enumerate(units):
        for decl in (*unit.functions, *unit.variables):
            files.setdefault(decl.name, set()).add(number)
            if (
                decl.is_static
                if isinstance(decl, c.FunctionDecl)
                else decl.storage is c.Storage.STATIC_GLOBAL
            ):
                internal.add(decl.name)
    return frozenset(name for name in internal if len(files[name]) > 1)


def _names(variable: c.VarDecl) -> tuple[str, ...]:
    """The names of a variable if it has, or may have, several."""
    symbol = symbol_name(variable)
    if symbol == variable.name and variable.alias is None and not variable.is_weak:
        return ()
    return symbol, variable.name, variable.alias or symbol


def _may_be_left_out(function: c.FunctionDecl, body: c.Compound) -> bool:
    """Whether its body is checked without a trace in other functions, and called as it is declared."""
    return (
        function.is_quiet
        and not is_left_out(body)
        and not (function.directives or function.is_weak or function.alias or function.symbol)
        and not (function.type.variadic or has_records(function.type))
    )


def _named(body: c.Compound) -> dict[str, None]:
    """The functions that a body names, in order."""
    return dict.fromkeys(n.decl.name for n in walk(body) if isinstance(n, c.FunctionRef))


def uses_of_variables(module: ModuleOp) -> dict[str, dict[str, frozenset[str]]]:
    """
    How each function of an acc-level module, and the initial values of its static variables, use each global
    variable: the operations, with the operand's number or the callee, that get its address or one computed
    from it. Passes decide by nothing else whether other functions let pointers to a variable out, or give it
    a device copy.
    """
    found: dict[str, dict[str, set[str]]] = {}
    for op in module.body.block.ops:
        if isinstance(op, llvm.FuncOp) and op.body.blocks:
            _add_uses(found.setdefault(op.sym_name.data, {}), op)
        elif isinstance(op, llvm.GlobalOp) and op.body.blocks and "." in op.sym_name.data:
            _add_uses(found.setdefault(op.sym_name.data.partition(".")[0], {}), op)
    return {
        function: {name: frozenset(kinds) for name, kinds in uses.items()}
        for function, uses in found.items()
    }


def _add_uses(found: dict[str, set[str]], inside: llvm.FuncOp | llvm.GlobalOp) -> None:
    for op in inside.walk():
        if isinstance(op, llvm.AddressOfOp):
            found.setdefault(op.global_name.string_value(), set()).update(_kinds(op.result))


def _kinds(address: SSAValue) -> Iterator[str]:
    pending = [(address, "")]
    seen = {address}
    while pending:
        value, path = pending.pop()
        for use in value.uses:
            op = use.operation
            callee = callee_of(op)
            yield f"{path}{op.name} {use.index if callee is None else callee}"
            computed = [r for r in op.results if isinstance(r.type, llvm.LLVMPointerType)]
            if not isinstance(op, llvm.LoadOp) and callee is None:
                pending += [(r, f"{path}{op.name} ") for r in computed if r not in seen]
                seen.update(computed)
