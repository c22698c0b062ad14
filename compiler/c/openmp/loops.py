"""
Loops whose iterations threads share: their canonical form (OpenMP 4.5, 2.6), and the C that runs the pieces
that a thread gets.

The iterations of `collapse(n)` loops are numbered consecutively. A thread asks for pieces, which are ranges
of these numbers, and runs each as a loop over the program's own variable, row by row if there are several
loops.
"""

# pycparser has no type information: its trees are Any here.
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false, reportAttributeAccessIssue=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import CompileError, SourceLoc, error

_SWAPPED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "!=": "!="}
_CANONICAL = "write it as for (i = first; i < end; i += step)"

Place = Callable[[Any], SourceLoc]


@dataclass
class SharedLoop:
    """
    `for (variable = first; variable relation bound; variable += sign * step)`. `declared`: the declaration of
    the variable if it is the loop's own; `step` None for 1; `node`: the loop, whose body is its `stmt`.
    """

    variable: str
    declared: Any
    first: Any
    relation: str
    bound: Any
    step: Any
    sign: int
    node: Any
    loc: SourceLoc

    @property
    def constant_step(self) -> int | None:
        """The step without its sign, if it is an integer constant; else None."""
        if self.step is None:
            return 1
        if isinstance(self.step, c_ast.Constant) and self.step.value.isdigit():
            return int(self.step.value) or None
        return None


def shared_loop(node: Any, directive: str, place: Place) -> SharedLoop:
    """The canonical form of the loop `node`. Raises `CompileError` if its number of iterations is not known
    when it starts."""
    loc = place(node)
    if not isinstance(node, c_ast.For):
        raise error(
            loc,
            f"'omp {directive}' is not followed by a 'for' loop",
            "write a 'for' loop directly after it",
        )

    def refused(what: str, at: Any = None) -> CompileError:
        return error(
            loc if at is None else place(at),
            f"the threads cannot share this loop: {what} (OpenMP 4.5, 2.6)",
            _CANONICAL,
        )

    variable, declared, first = _start(node.init, refused)
    relation, bound = _condition(node.cond, variable, refused)
    sign, step = _step(node.next, variable, refused)
    if relation == "!=" and not (step is None or _is_one(step)):
        raise refused("with '!=' the step must be 1 or -1", node.cond)
    if relation != "!=" and (relation[0] == "<") != (sign > 0):
        raise refused(f"'{variable}' moves away from its bound", node.next)
    return SharedLoop(variable, declared, first, relation, bound, step, sign, node, loc)


def _is_one(step: Any) -> bool:
    return isinstance(step, c_ast.Constant) and step.value == "1"


def _start(init: Any, refused: Callable[..., CompileError]) -> tuple[str, Any, Any]:
    if isinstance(init, c_ast.DeclList) and len(init.decls) == 1 and init.decls[0].init is not None:
        declared = copy.copy(init.decls[0])
        first, declared.init = declared.init, None
        return declared.name, declared, first
    if isinstance(init, c_ast.Assignment) and init.op == "=" and isinstance(init.lvalue, c_ast.ID):
        return init.lvalue.name, None, init.rvalue
    raise refused("it does not start with the assignment of one variable", init)


def _condition(node: Any, variable: str, refused: Callable[..., CompileError]) -> tuple[str, Any]:
    if isinstance(node, c_ast.BinaryOp) and node.op in _SWAPPED:
        if _is(node.left, variable):
            return node.op, node.right
        if _is(node.right, variable):
            return _SWAPPED[node.op], node.left
    raise refused(f"its condition does not compare '{variable}' with a bound", node)


def _step(node: Any, variable: str, refused: Callable[..., CompileError]) -> tuple[int, Any]:
    if isinstance(node, c_ast.UnaryOp) and _is(node.expr, variable):
        if node.op in ("++", "p++"):
            return 1, None
        if node.op in ("--", "p--"):
            return -1, None
    if isinstance(node, c_ast.Assignment) and _is(node.lvalue, variable):
        value = node.rvalue
        if node.op in ("+=", "-="):
            return _signed(value, 1 if node.op == "+=" else -1)
        if node.op == "=" and isinstance(value, c_ast.BinaryOp) and value.op in "+-":
            if _is(value.left, variable):
                return _signed(value.right, 1 if value.op == "+" else -1)
            if _is(value.right, variable) and value.op == "+":
                return _signed(value.left, 1)
    raise refused(f"'{variable}' does not change by the same step every time", node)


def _signed(step: Any, sign: int) -> tuple[int, Any]:
    if isinstance(step, c_ast.UnaryOp) and step.op == "-":
        return -sign, step.expr
    return sign, step


def _is(node: Any, variable: str) -> bool:
    return isinstance(node, c_ast.ID) and node.name == variable


def only_statement(node: Any) -> Any:
    """The statement of which a block, or nested blocks, consist; other nodes as they are."""
    while isinstance(node, c_ast.Compound) and len(node.block_items or []) == 1:
        node = node.block_items[0]
    return node


def nested_loop(body: Any, directive: str, place: Place) -> Any:
    """The loop that is the only statement of `body`, for `collapse`."""
    body = only_statement(body)
    if not isinstance(body, c_ast.For):
        raise error(
            place(body),
            f"'collapse' on 'omp {directive}': the loops are not tightly nested",
            "leave nothing between the loops, or collapse fewer",
        )
    return body


def names_in(node: Any) -> set[str]:
    """The identifiers in a node, None for an absent one, that may be variables, so not those of members."""
    if isinstance(node, c_ast.ID):
        return {node.name}
    parts = [node.name] if isinstance(node, c_ast.StructRef) else node or ()
    return set[str]().union(*map(names_in, parts))


def declarations(loops: list[SharedLoop]) -> tuple[str, str, dict[str, Any]]:
    """C that declares the loops' own variables, from nodes that are also returned, and C for copies of the
    other ones."""
    own = [loop.declared for loop in loops if loop.declared is not None]
    others = [loop.variable for loop in loops if loop.declared is None]
    parts = {f"DECL{number}": node for number, node in enumerate(own)}
    copies = "".join(f"__typeof__({name}) {name};" for name in others)
    return "".join(f"{name};" for name in parts), copies, parts


def counts(loops: list[SharedLoop]) -> tuple[str, dict[str, Any]]:
    """C that declares first values (`__omp_b`), steps (`__omp_s`), trip counts (`__omp_n`) and their
    product."""
    text: list[str] = []
    parts: dict[str, Any] = {}
    for d, loop in enumerate(loops):
        parts |= {f"FIRST{d}": loop.first, f"BOUND{d}": loop.bound}
        parts[f"AGAIN{d}"] = copy.deepcopy(loop.bound)
        step = str(loop.constant_step) if loop.constant_step is not None else f"STEP{d}"
        if loop.constant_step is None:
            parts[f"STEP{d}"] = loop.step
        v = loop.variable
        text.append(
            f"long __omp_b{d} = FIRST{d}, __omp_s{d} = {step};"
            f"long __omp_e{d} = (__typeof__({v} + (AGAIN{d})))(BOUND{d});"
            f"long __omp_n{d} = {_trips(loop, d)};"
        )
    product = " * ".join(f"__omp_n{d}" for d in range(len(loops)))
    text.append(f"long __omp_n = {product};")
    return "".join(text), parts


def _trips(loop: SharedLoop, d: int) -> str:
    low, high = (f"__omp_b{d}", f"__omp_e{d}") if loop.sign > 0 else (f"__omp_e{d}", f"__omp_b{d}")
    if loop.relation in ("<=", ">="):
        return f"{low} > {high} ? 0 : ({high} - {low}) / __omp_s{d} + 1"
    return f"{low} >= {high} ? 0 : ({high} - {low} - 1) / __omp_s{d} + 1"


def piece_text(loops: list[SharedLoop]) -> str:
    """C that runs the iterations from `__omp_k` to `__omp_end - 1`; `BODY` is the user's."""
    last = len(loops) - 1
    if last == 0:
        return _run(loops[0], 0, "__omp_k", "__omp_end")
    rows = "".join(
        f"{loops[d].variable} = __omp_b{d} + __omp_r % __omp_n{d} * {_sign(loops[d])}__omp_s{d};"
        + (f"__omp_r /= __omp_n{d};" if d else "")
        for d in range(last - 1, -1, -1)
    )
    return (
        "while (__omp_k < __omp_end) {"
        f"long __omp_j = __omp_k % __omp_n{last}, __omp_r = __omp_k / __omp_n{last};{rows}"
        f"long __omp_h = __omp_n{last} - __omp_j < __omp_end - __omp_k ? __omp_n{last}"
        " : __omp_j + __omp_end - __omp_k;"
        "__omp_k += __omp_h - __omp_j;"
        f"{_run(loops[last], last, '__omp_j', '__omp_h')} }}"
    )


def _sign(loop: SharedLoop) -> str:
    return "" if loop.sign > 0 else "-"


def _run(loop: SharedLoop, d: int, low: str, high: str) -> str:
    """A loop over the variable itself if its step is a constant, else over iteration numbers."""
    v, step = loop.variable, loop.constant_step
    value = f"__omp_b{d} {'+' if loop.sign > 0 else '-'} {{}} * __omp_s{d}"
    if step is None or loop.sign < 0:
        return (
            f"for (long __omp_i = {low}; __omp_i < {high}; __omp_i++)"
            f" {{ {v} = {value.format('__omp_i')}; (void){v}; BODY; }}"
        )
    stop = f"{value.format(f'({high} - 1)')} + 1"
    return (
        f"{{ __typeof__({v}) __omp_stop = {stop};"
        f"for ({v} = {value.format(low)}; {v} < __omp_stop; {v} += {step}) BODY; }}"
    )


def final_text(loops: list[SharedLoop], name: str) -> str:
    """C that assigns a loop's variable its value after the loops; nothing for other names."""
    for d, loop in enumerate(loops):
        if loop.variable == name:
            return f"{name} = __omp_b{d} + __omp_n{d} * {_sign(loop)}__omp_s{d};"
    return ""
