"""
Statements (C11 6.8), and the OpenACC directives among them.

Blocks are checked as lists, because a pragma belongs to the statement after it, and pycparser puts
the statements of a `case` in the case's own list.
"""

# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from pycparser import c_ast

from ...base.diagnostics import SourceLoc, error
from ...base.similar import did_you_mean
from ..asm_syntax import AsmStatement
from ..ast import (
    Break,
    Case,
    Compound,
    ComputedGoto,
    Continue,
    DeclStmt,
    DoWhile,
    Expr,
    ExprStmt,
    For,
    Goto,
    If,
    IntConst,
    Label,
    Null,
    Return,
    StatementExpr,
    Stmt,
    Switch,
    While,
)
from ..gnu_expressions import GnuComputedGoto, LocalLabels
from ..gnu_syntax import CaseRange
from ..openmp.templates import Fence, Region
from ..types import INT, VOID, IntType, PointerType, VoidType, pointer_to
from .casts import promote
from .constants import wrap
from .conversions import convert_assigned
from .inline_asm import AsmChecker
from .unit import CheckedFunction, Jump, Target, Unit

_LARGEST_CASE_RANGE = 256

_LOOP = Target("loop")
_SWITCH = Target("switch")
_DECLARATIONS = (c_ast.Decl, c_ast.Typedef, c_ast.StaticAssert)


class StatementChecker:
    """Checks statements in the unit's current scope and function."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._checkers: dict[type[Any], Callable[[Any], Stmt]] = {
            c_ast.Compound: self._compound,
            c_ast.If: self._if,
            c_ast.For: self._for,
            c_ast.While: self._while,
            c_ast.DoWhile: self._do_while,
            c_ast.Switch: self._switch,
            c_ast.Label: self._label,
            c_ast.Goto: self._goto,
            c_ast.Break: self._break,
            c_ast.Continue: self._continue,
            c_ast.Return: self._return,
            AsmStatement: self._asm,
            Region: lambda node: self.unit.openmp.regions.region(node),
            Fence: lambda node: self.unit.openmp.regions.fence(node),
            GnuComputedGoto: self._computed_goto,
            LocalLabels: self._local_labels,
            c_ast.EmptyStatement: lambda node: Null(loc=self.unit.loc(node)),
            c_ast.AttributeDeclaration: lambda node: Null(loc=self.unit.loc(node)),
        }

    @property
    def _function(self) -> CheckedFunction:
        state = self.unit.function
        assert state is not None, "move it into a function"
        return state

    # Lists ------------------------------------------------------------------------------------

    def function_body(self, node: Any) -> Compound:
        """The outermost block of a function, in the scope of its parameters."""
        with self._labels():
            body = Compound(loc=self.unit.loc(node), body=self.block(node.block_items or []))
        self._function.decl.jump_targets = frozenset(name for name, _ in self._function.gotos)
        for name, jump in self._function.gotos:
            with self.unit.recovery.going_on():
                self._check_goto(name, jump)
        return body

    def _check_goto(self, name: str, jump: Jump) -> None:
        state = self._function
        label = state.labels.get(name)
        if label is None:
            remedy = did_you_mean(name, state.labels) or f"write '{name}:' before a statement"
            raise error(jump.loc, f"label '{name}' is not defined in '{state.decl.name}'", remedy)
        if label.constructs != jump.constructs:
            raise error(
                jump.loc,
                f"goto '{name}' crosses the boundary of an {_construct(self.unit)}",
                "keep the goto and its label on the same side",
                [(label.loc, "the label")],
            )

    def block(self, nodes: list[Any]) -> list[Stmt]:
        """The statements of a block or of a `case`, in order."""
        out: list[Stmt] = []
        index = 0
        while index < len(nodes):
            stmts, index = self.item(nodes, index)
            out += stmts
        return out

    def item(self, nodes: list[Any], index: int) -> tuple[list[Stmt], int]:
        """The statements for nodes[index] and the nodes that belong to it, and the next index."""
        following = index + 1
        stmts: list[Stmt] = []
        with self.unit.recovery.going_on(nodes[index]):
            stmts, following = self._item(nodes, index)
        return stmts, following

    def _item(self, nodes: list[Any], index: int) -> tuple[list[Stmt], int]:
        node = nodes[index]
        if isinstance(node, c_ast.Pragma):
            return self.unit.directives.statement(nodes, index)
        if isinstance(node, c_ast.Case | c_ast.Default):
            return self._case(node), index + 1
        if isinstance(node, _DECLARATIONS):
            loc = self.unit.loc(node)
            decls = self.unit.declarations.local(node)
            return (
                [DeclStmt(loc=decls[0].loc if decls else loc, decls=decls)] if decls else []
            ), index + 1
        return [self.statement(node)], index + 1

    def statement(self, node: Any) -> Stmt:
        """One statement that is the body of an `if`, a loop or a label."""
        checker = self._checkers.get(type(node))
        if checker is not None:
            return checker(node)
        if isinstance(node, c_ast.Pragma | c_ast.Case | c_ast.Default | c_ast.Decl | c_ast.Typedef):
            loc = self.unit.loc(node)
            body = self.block([node])
            return (
                body[0]
                if len(body) == 1
                else Compound(loc=loc, body=body)
                if body
                else Null(loc=loc)
            )
        if isinstance(node, c_ast.AttributedStatement):
            return self.statement(node.stmt)
        expr = self.unit.expressions.effect(node)
        return ExprStmt(loc=expr.loc, expr=expr)

    def _compound(self, node: Any) -> Stmt:
        items: list[Any] = node.block_items or []
        loc = self.unit.loc(node)
        if items and isinstance(items[0], c_ast.Pragma) and items[0].coord is node.coord:
            return self._pragma_body(items, loc)
        with self.unit.nested_scope(), self._labels():
            return Compound(loc=loc, body=self.block(items))

    @contextmanager
    def _labels(self) -> Generator[None]:
        """Checks a block, which may declare labels of its own (`__label__`)."""
        self._function.local_labels.append({})
        yield
        self._function.local_labels.pop()

    def expression(self, node: Any) -> Expr:
        """`({ … })` (GNU C): the value of the last statement, if that is an expression."""
        loc = self.unit.loc(node)
        if self.unit.function is None:
            raise error(
                loc,
                "a statement expression '({ … })' outside a function",
                "write a static inline function",
            )
        items: list[Any] = list(node.block_items or [])
        while items and isinstance(last := items[-1], c_ast.Label):  # use its statement's value
            empty = c_ast.EmptyStatement(last.coord)
            items[-1:] = [c_ast.Label(last.name, empty, last.coord), last.stmt]
        with self.unit.nested_scope(), self._labels():
            if (
                not items
                or type(items[-1]) in self._checkers
                or isinstance(items[-1], _DECLARATIONS)
            ):
                return StatementExpr(type=VOID, loc=loc, body=self.block(items), value=None)
            body = self.block(items[:-1])
            value = self.unit.expressions.value(items[-1])
        return StatementExpr(type=value.type, loc=loc, body=body, value=value)

    def _pragma_body(self, items: list[Any], loc: SourceLoc) -> Stmt:
        """`if (c) #pragma … statement`: pycparser wraps the pragmas and the statement."""
        self.unit.directives.require_body(items)
        with self.unit.nested_scope():
            stmts = self.block(items)
        return stmts[0] if len(stmts) == 1 else Compound(loc=loc, body=stmts)

    # Selection and iteration ------------------------------------------------------------------

    def _scoped(self, node: Any) -> Stmt:
        """A substatement, which is a block of its own (C11 6.8.4p3)."""
        if isinstance(node, c_ast.Compound):
            return self.statement(node)
        stmt: Stmt = Null(loc=self.unit.loc(node))
        with self.unit.nested_scope(), self.unit.recovery.going_on():
            stmt = self.statement(node)
        return stmt

    def _asm(self, node: AsmStatement) -> Stmt:
        expr = AsmChecker(self.unit).check(node)
        return ExprStmt(loc=expr.loc, expr=expr)

    def _if(self, node: Any) -> Stmt:
        condition = self._condition(node.cond, "if")
        then = self._scoped(node.iftrue)
        otherwise = self._scoped(node.iffalse) if node.iffalse is not None else None
        return If(loc=self.unit.loc(node), condition=condition, then=then, otherwise=otherwise)

    def _for(self, node: Any) -> Stmt:
        with self.unit.nested_scope():
            init: Stmt | None = None
            step: Expr | None = None
            with self.unit.recovery.going_on(node.init):
                init = self._for_init(node.init)
            condition = self._condition(node.cond, "for") if node.cond is not None else None
            with self.unit.recovery.going_on():
                step = self.unit.expressions.effect(node.next) if node.next is not None else None
            body = self._loop_body(node.stmt)
        return For(loc=self.unit.loc(node), init=init, condition=condition, step=step, body=body)

    def _condition(self, node: Any, word: str) -> Expr:
        """The condition of a statement; true if it contains a mistake, which is reported."""
        condition: Expr = IntConst(type=INT, loc=self.unit.loc(node), value=1)
        with self.unit.recovery.going_on():
            condition = self.unit.expressions.condition(node, f"the condition of '{word}'")
        return condition

    def _for_init(self, node: Any) -> Stmt | None:
        if node is None:
            return None
        loc = self.unit.loc(node)
        if not isinstance(node, c_ast.DeclList):
            return ExprStmt(loc=loc, expr=self.unit.expressions.effect(node))
        declared = [d for d in node.decls if not isinstance(d, c_ast.Pragma)]
        decls = [v for d in declared for v in self.unit.declarations.local(d)]
        return DeclStmt(loc=loc, decls=decls)

    def _loop_body(self, node: Any) -> Stmt:
        self._function.targets.append(_LOOP)
        body = self._scoped(node)
        self._function.targets.pop()
        return body

    def _while(self, node: Any) -> Stmt:
        condition = self._condition(node.cond, "while")
        return While(loc=self.unit.loc(node), condition=condition, body=self._loop_body(node.stmt))

    def _do_while(self, node: Any) -> Stmt:
        body = self._loop_body(node.stmt)
        condition = self._condition(node.cond, "while")
        return DoWhile(loc=self.unit.loc(node), body=body, condition=condition)

    # Switch -----------------------------------------------------------------------------------

    def _switch(self, node: Any) -> Stmt:
        loc = self.unit.loc(node)
        value = promote(self.unit.expressions.value(node.cond))
        if not isinstance(value.type, IntType):
            raise error(value.loc, f"'switch' on '{value.type}'", "switch on an integer")
        state = self._function
        state.targets.append(_SWITCH)
        state.switch_values.append({})
        state.switch_types.append(value.type)
        body = self._scoped(node.stmt)
        state.switch_types.pop()
        state.switch_values.pop()
        state.targets.pop()
        return Switch(loc=loc, value=value, body=body)

    def _case(self, node: Any) -> list[Stmt]:
        """`case v:` and the statements after it; the label is attached to the first of them."""
        loc = self.unit.loc(node)
        state = self._function
        if not state.switch_values:
            word = "default" if isinstance(node, c_ast.Default) else "case"
            raise error(loc, f"'{word}' outside 'switch'", "move it into a switch")
        values: list[int | None] = [None]
        last: int | None = None
        if isinstance(node, CaseRange):
            span = self._case_range(node)
            values = list(span[:_LARGEST_CASE_RANGE])
            if len(values) < span.stop - span.start:  # too many to list: compared instead
                values, last = [span.start], span.stop - 1
        elif isinstance(node, c_ast.Case):
            values = [self._case_value(node.expr, loc)]
        seen = state.switch_values[-1]
        for value in values:
            if value in seen:
                text = "default" if value is None else f"case {value}"
                raise error(
                    loc,
                    f"'{text}' appears twice in this switch",
                    "remove one",
                    [(seen[value], "first here")],
                )
            seen[value] = loc
        stmts = self.block(list(node.stmts or ()))
        first: Stmt = Null(loc=loc)
        if stmts and not isinstance(stmts[0], DeclStmt):
            first, *stmts = stmts
        for value in reversed(values):
            first = Case(loc=loc, value=value, body=first, last=last)
        return [first, *stmts]

    def _case_value(self, node: Any, loc: SourceLoc) -> int:
        value = self.unit.expressions.integer(node)
        if value is None:
            raise error(
                loc, "the value of 'case' is not an integer constant", "use a constant, or an if"
            )
        return wrap(value, self._function.switch_types[-1])

    def _case_range(self, node: CaseRange) -> range:
        """The values of `case first ... last:` (GNU C)."""
        loc = self.unit.loc(node)
        first, last = self._case_value(node.expr, loc), self._case_value(node.last, loc)
        if first > last:
            raise error(
                loc, f"'case {first} ... {last}' has no values", "write the lower value first"
            )
        return range(first, last + 1)

    # Jumps ------------------------------------------------------------------------------------

    def _label_name(self, name: str) -> str:
        """The unique label of `name` here: one that `__label__` declares, or the function's."""
        for declared in reversed(self._function.local_labels):
            if name in declared:
                return declared[name]
        return name

    def _local_labels(self, node: Any) -> Stmt:
        """`__label__ a, b;` at the beginning of a block."""
        innermost = self._function.local_labels[-1]
        for name in node.name.split():
            innermost[name] = self.unit.numbered(name)
        return Null(loc=self.unit.loc(node))

    def _label(self, node: Any) -> Stmt:
        loc, state, name = self.unit.loc(node), self._function, self._label_name(node.name)
        if name in state.labels:
            first = state.labels[name].loc
            raise error(
                loc, f"label '{node.name}' is defined twice", "rename one", [(first, "first here")]
            )
        state.labels[name] = Jump(loc, state.constructs)
        return Label(loc=loc, name=name, body=self.statement(node.stmt))

    def _goto(self, node: Any) -> Stmt:
        loc, state, name = self.unit.loc(node), self._function, self._label_name(node.name)
        state.gotos.append((name, Jump(loc, state.constructs)))
        return Goto(loc=loc, label=name)

    def label_address(self, node: Any) -> Expr:
        """
        `&&label` (GNU C). Its value is a number instead of an address, by which `goto *p` selects the
        label; the difference of two labels is that of their numbers.
        """
        loc = self.unit.loc(node)
        if self.unit.function is None:
            raise error(loc, "'&&' outside a function", "take a label's address in its function")
        state, name = self._function, self._label_name(node.name)
        number = state.addresses.setdefault(name, len(state.addresses) + 1)
        state.gotos.append((name, Jump(loc, state.constructs)))
        return IntConst(type=pointer_to(VOID), loc=loc, value=number)

    def _computed_goto(self, node: Any) -> Stmt:
        loc, state = self.unit.loc(node), self._function
        target = self.unit.expressions.value(node.target)
        if not isinstance(target.type, PointerType):
            raise error(target.loc, f"'goto *' of '{target.type}'", "use the address of a label")
        return ComputedGoto(loc=loc, target=target, labels=state.addresses)

    def _leave(self, loc: SourceLoc, word: str, kinds: tuple[str, ...]) -> None:
        """Raise `CompileError` if `break` or `continue` has no target, or leaves a construct to reach
        it."""
        for target in reversed(self._function.targets):
            if target.kind in kinds:
                return
            if target.kind in ("construct", "iteration"):
                raise error(
                    loc,
                    f"'{word}' leaves the '{target.name}' construct{target.rule}",
                    "set a flag and test it after the construct",
                )
        where = "a loop or switch" if "switch" in kinds else "a loop"
        raise error(loc, f"'{word}' outside {where}", "remove it, or move it into one")

    def _break(self, node: Any) -> Stmt:
        loc = self.unit.loc(node)
        self._leave(loc, "break", ("loop", "switch"))
        return Break(loc=loc)

    def _continue(self, node: Any) -> Stmt:
        loc = self.unit.loc(node)
        self._leave(loc, "continue", ("loop", "iteration"))
        return Continue(loc=loc)

    def _return(self, node: Any) -> Stmt:
        loc, state = self.unit.loc(node), self._function
        construct = next((t for t in state.targets if t.kind in ("construct", "iteration")), None)
        if construct is not None:
            raise error(
                loc,
                f"'return' leaves the '{construct.name}' construct{construct.rule}",
                "assign the result to a variable and return after the construct",
            )
        result = state.decl.type.result
        name = state.decl.name
        if node.expr is None:
            if not isinstance(result, VoidType):
                self.unit.sink.warn(
                    loc,
                    f"'return' without a value in '{name}', which returns '{result}'",
                    "return a value",
                )
            return Return(loc=loc)
        value = self.unit.expressions.value(node.expr)
        if isinstance(result, VoidType):
            if not isinstance(value.type, VoidType):
                self.unit.sink.warn(
                    loc,
                    f"'{name}' returns void but this returns a value, which is dropped",
                    "remove the value, or change the result type",
                )
            return Return(loc=loc, value=value)
        return Return(
            loc=loc,
            value=convert_assigned(value, result, f"returning from '{name}'", self.unit.sink),
        )


def _construct(unit: Unit) -> str:
    if unit.tree.has_openmp:
        return "OpenACC or OpenMP construct (OpenACC 3.4, 2.5; OpenMP 4.5, 1.2.2)"
    return "OpenACC construct (OpenACC 3.4, 2.5)"
