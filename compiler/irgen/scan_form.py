"""
Recognises the scan in the loop under a `scan` clause (research extension, after R. Xu, "Optimizing the
Performance of Directive-based Programming Model for GPGPUs", 2016, 4.1.7).

The clause replaces the loop, so the loop must be the prefix it names: one assignment

    out[i] = out[i-1] OP in[i];        inclusive
    out[i] = out[i-1] OP in[i-1];      exclusive

or, in place and exclusive, `x = a[i]; a[i] = before; before = before OP x;`, in any spelling of C, with the
elements before the first in place. `recognize` works on the typed tree, and reports what is wrong with any
other loop.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..base.diagnostics import CompileError, SourceLoc, error
from ..c import ast as c
from ..c.tree import int_constant, loaded_variable, strip_casts, walk
from ..c.types import BOOL, INT, LONG, CType, FloatType, IntType
from ..directives.records import Directive, GangClause, ScanClause, VarRefItem
from .counted import CountedLoop

_FORMS = (
    "write out[i] = out[i-1] OP in[i] for an inclusive, out[i] = out[i-1] OP in[i-1] for an "
    "exclusive scan, and nothing else in the loop"
)
_CALLS = {"fmax": "max", "fmaxf": "max", "fmin": "min", "fminf": "min"}


@dataclass(frozen=True)
class ScanForm:
    """The recognised scan: `target` and `source` are lvalues of an iteration; it is `exclusive` if the
    clause has an `identity`."""

    clause: ScanClause
    target: c.Expr
    source: c.Expr
    exclusive: bool
    running: c.VarDecl | None = None
    """The variable of an exclusive scan in place: it holds the running result in the sequential loop."""


def scan_clause(directive: Directive) -> ScanClause | None:
    return directive.find("scan", ScanClause)


def recognize(
    directive: Directive, clause: ScanClause, body: c.Stmt, loop: CountedLoop
) -> ScanForm:
    """The prefix that the loop computes. Raises `CompileError` if it is not the one of the clause."""
    return _Recognizer(directive, clause, loop).run(body)


Linear = dict[object, int]
"""A sum: key of each term → its factor; the key `()` is the constant."""


def key(e: c.Expr) -> object:
    """A key that is equal only for expressions without effects that have the same value in C."""
    e = strip_casts(e)
    value = int_constant(e)
    if value is not None:
        return value
    match e:
        case c.FloatConst():
            return e.value
        case c.VarRef():
            return id(e.decl)
        case c.Load():
            return "load", key(e.lvalue)
        case c.Decay():
            return "decay", key(e.operand)
        case c.Deref():
            return "deref", key(e.pointer)
        case c.Member():
            return "member", key(e.record), e.field.name
        case c.PtrAdd():
            sign = -1 if e.subtract else 1
            return "at", key(e.pointer), _frozen(_scaled(linear(e.index), sign))
        case c.BinaryOp() | c.UnaryOp():
            parts = [e.lhs, e.rhs] if isinstance(e, c.BinaryOp) else [e.operand]
            return e.op, *map(key, parts)
        case _:
            return id(e)


def linear(e: c.Expr) -> Linear:
    """An integer expression as a sum of terms."""
    e = strip_casts(e)
    value = int_constant(e)
    if value is not None:
        return {(): value} if value else {}
    if isinstance(e, c.BinaryOp) and e.op in ("+", "-"):
        return _sum(linear(e.lhs), _scaled(linear(e.rhs), 1 if e.op == "+" else -1))
    if isinstance(e, c.BinaryOp) and e.op == "*":
        for factor, other in ((e.lhs, e.rhs), (e.rhs, e.lhs)):
            constant = int_constant(strip_casts(factor))
            if constant is not None:
                return _scaled(linear(other), constant)
    return {key(e): 1}


def _scaled(terms: Linear, factor: int) -> Linear:
    return {term: count * factor for term, count in terms.items()} if factor else {}


def _sum(a: Linear, b: Linear) -> Linear:
    out = dict(a)
    for term, count in b.items():
        out[term] = out.get(term, 0) + count
    return {term: count for term, count in out.items() if count}


def _frozen(terms: Linear) -> frozenset[tuple[object, int]]:
    return frozenset(terms.items())


def distance(a: Linear, b: Linear) -> int | None:
    """`a - b` if it is constant."""
    rest = _sum(a, _scaled(b, -1))
    return rest.get((), 0) if not rest.keys() - {()} else None


class _Recognizer:
    def __init__(self, directive: Directive, clause: ScanClause, loop: CountedLoop):
        self.directive = directive
        self.clause = clause
        self.loop = loop

    def run(self, body: c.Stmt) -> ScanForm:
        self._check_clauses()
        running = None
        found = self._replacing(body)
        if found is not None:
            body, running = found
        if self.loop.step != 1 or self.loop.down or not isinstance(self.loop.var.type, IntType):
            raise self._refuse(body.loc, "the loop of a scan must count up by one")
        target, a, b = self._statement(body)
        previous, source = self._operands(target, a, b)
        offset = self._offset(source, target)
        if offset not in (0, -1):
            raise self._refuse(
                source.loc,
                "the scan combines neither the element at the target's index nor the one before it",
            )
        for lvalue, item in ((target, self.clause.output), (source, self.clause.input)):
            self._check_name(lvalue, item)
        in_place = offset == -1 and _array(target) == _array(source)
        if in_place and running is None:
            raise self._refuse(
                source.loc,
                "an exclusive scan cannot run in place: it would overwrite elements before they are read",
                "scan a copy of the array into it",
            )
        self._check_types(target, previous, source)
        self._check_count(target)
        return ScanForm(self.clause, target, source, offset == -1, running)

    def _replacing(self, body: c.Stmt) -> tuple[c.Stmt, c.VarDecl] | None:
        """
        `x = a[i]; a[i] = before; before = before OP x;` as `a[i] = a[i-1] OP a[i-1]`, which an exclusive
        scan computes of the old values: the element before the loop's first is the identity.
        """
        while isinstance(body, c.Compound) and len(body.body) == 1:
            body = body.body[0]
        match body:
            case c.Compound(
                body=[
                    c.DeclStmt(decls=[taken]),
                    c.ExprStmt(expr=c.Assign(target=c.Deref() as element, value=c.Load() as held)),
                    c.ExprStmt(expr=update),
                ]
            ):
                pass
            case _:
                return None
        before = held.lvalue
        first = None if taken.init is None else strip_casts(taken.init.items[0][1])
        if not isinstance(before, c.VarRef) or not isinstance(first, c.Load):
            return None
        if not taken.type == before.type == element.type:
            return None
        old = c.Load(type=element.type, loc=element.loc, lvalue=_previous(element))
        if key(first.lvalue) != key(element) or not self._adds(update, before.decl, taken):
            return None
        value = c.BinaryOp(
            op=self.clause.operator, lhs=old, rhs=old, type=element.type, loc=update.loc
        )
        if self.clause.operator in ("max", "min"):
            order = ">" if self.clause.operator == "max" else "<"
            compare = c.BinaryOp(op=order, lhs=old, rhs=old, type=INT, loc=update.loc)
            value = c.Conditional(
                condition=compare, then=old, otherwise=old, type=element.type, loc=update.loc
            )
        assign = c.Assign(target=element, value=value, type=element.type, loc=element.loc)
        return c.ExprStmt(loc=body.loc, expr=assign), before.decl

    def _adds(self, update: c.Expr, before: c.VarDecl, taken: c.VarDecl) -> bool:
        """Whether `update` is `before = before OP taken`, in any spelling."""
        update = strip_casts(update)
        wanted = {before, taken}
        if isinstance(update, c.CompoundAssign):
            same = update.op.rstrip("=") == self.clause.operator
            return same and {_variable(update.target), loaded_variable(update.value)} == wanted
        if not isinstance(update, c.Assign) or _variable(update.target) is not before:
            return False
        pair = self._combined(strip_casts(update.value))
        return pair is not None and {loaded_variable(part) for part in pair} == wanted

    def _check_clauses(self) -> None:
        """Raises `CompileError` for clauses that distribute iterations in another order than a scan
        needs."""
        gang = self.directive.find("gang", GangClause)
        static = gang is not None and (gang.static is not None or gang.static_any)
        name = "tile" if self.directive.has("tile") else "gang(static:)" if static else None
        if name is not None:
            raise self._refuse(
                self.directive.loc,
                f"'{name}' distributes the iterations of a scan, which depend on one another",
                "leave it out",
            )

    def _refuse(self, loc: SourceLoc, cause: str, remedy: str = _FORMS) -> CompileError:
        return error(loc, cause, remedy, [(self.clause.loc, "the scan clause is here")])

    # The statement: target = a OP b.

    def _statement(self, body: c.Stmt) -> tuple[c.Expr, c.Expr, c.Expr]:
        while isinstance(body, c.Compound):
            parts = [s for s in body.body if not isinstance(s, c.Null)]
            if len(parts) != 1:
                raise self._refuse(body.loc, "the loop of a scan has one statement")
            body = parts[0]
        if not isinstance(body, c.ExprStmt):
            raise self._refuse(body.loc, "the loop of a scan has one statement, an assignment")
        found = strip_casts(body.expr)
        if isinstance(found, c.CompoundAssign):
            if found.op.rstrip("=") != self.clause.operator:
                raise self._wrong_operator(found.loc)
            current = c.Load(type=found.target.type, loc=found.target.loc, lvalue=found.target)
            return found.target, current, found.value
        if not isinstance(found, c.Assign):
            raise self._refuse(body.loc, "the loop of a scan has one statement, an assignment")
        pair = self._combined(strip_casts(found.value))
        if pair is None:
            raise self._wrong_operator(found.value.loc)
        return found.target, *pair

    def _wrong_operator(self, loc: SourceLoc) -> CompileError:
        return self._refuse(loc, f"this is not a scan with '{self.clause.operator}'")

    def _combined(self, value: c.Expr) -> tuple[c.Expr, c.Expr] | None:
        """The operands of the clause's operator in `value`."""
        operator = self.clause.operator
        match value:
            case c.BinaryOp() if value.op == operator:
                return value.lhs, value.rhs
            case c.Conditional():
                return self._larger_or_smaller(value)
            case c.Call(callee=c.FunctionRef() as callee, args=[a, b]):
                return (a, b) if _CALLS.get(callee.decl.name) == operator else None
            case _:
                return None

    def _larger_or_smaller(self, e: c.Conditional) -> tuple[c.Expr, c.Expr] | None:
        """`a < b ? b : a` and the like."""
        condition = strip_casts(e.condition)
        if not isinstance(condition, c.BinaryOp) or condition.op not in ("<", "<=", ">", ">="):
            return None
        a, b = condition.lhs, condition.rhs
        if (key(e.then), key(e.otherwise)) == (key(a), key(b)):
            larger = condition.op.startswith(">")
        elif (key(e.then), key(e.otherwise)) == (key(b), key(a)):
            larger = condition.op.startswith("<")
        else:
            return None
        return (a, b) if self.clause.operator == ("max" if larger else "min") else None

    # The operands.

    def _operands(self, target: c.Expr, a: c.Expr, b: c.Expr) -> tuple[c.Expr, c.Expr]:
        """The two operands in order: the element before the target, and the element that is combined with
        it."""
        lvalues: list[c.Expr] = []
        for operand in (a, b):
            value = strip_casts(operand)
            if not isinstance(value, c.Load) or not isinstance(value.lvalue, c.Deref):
                raise self._refuse(operand.loc, "a scan combines two elements of arrays")
            lvalues.append(value.lvalue)
        for previous, source in (lvalues, lvalues[::-1]):
            if _array(previous) == _array(target) and self._offset(previous, target) == -1:
                return previous, source
        raise self._refuse(target.loc, "the scan does not continue from the element before")

    def _offset(self, lvalue: c.Expr, target: c.Expr) -> int | None:
        return distance(self._subscript(lvalue), self._subscript(target))

    def _subscript(self, lvalue: c.Expr) -> Linear:
        """The last subscript, as a sum. Raises `CompileError` if it is not the loop variable plus an
        invariant."""
        _, terms = _walked(lvalue)
        mentions = sum(self._is_variable(n) for n in walk(lvalue))
        if terms.get(("load", id(self.loop.var))) != 1 or mentions != 1:
            raise self._refuse(
                lvalue.loc, f"the last subscript must be '{self.loop.var.name}' plus a constant"
            )
        return terms

    def _is_variable(self, e: c.Expr | c.Stmt) -> bool:
        return isinstance(e, c.VarRef) and e.decl is self.loop.var

    def _check_name(self, lvalue: c.Expr, item: VarRefItem) -> None:
        assert item.base.expr is not None
        if key(item.base.expr) not in _bases(lvalue):
            raise self._refuse(
                lvalue.loc,
                f"this is not an element of '{item.name}'",
                "name the arrays of the loop",
            )

    def _check_types(self, target: c.Expr, previous: c.Expr, source: c.Expr) -> None:
        out, taken = target.type, source.type
        for lvalue in (previous, source):
            if not isinstance(lvalue.type, IntType | FloatType):
                raise self._refuse(
                    lvalue.loc,
                    f"elements of type '{lvalue.type}' cannot be scanned",
                    "scan integers or floating point numbers",
                )
        operator = self.clause.operator
        if out == BOOL and taken != BOOL and operator not in ("&&", "||"):
            raise self._refuse(
                source.loc, f"'{taken}' elements cannot be scanned into '_Bool' ones", "use '||'"
            )
        if out == BOOL and operator in ("+", "*"):
            raise self._refuse(
                target.loc,
                f"C converts each result of '{operator}' on '_Bool' elements to 0 or 1",
                f"write '{'||' if operator == '+' else '&&'}', which is the same",
            )
        if operator in ("&&", "||") or _fits(taken, out, ordered=operator in ("max", "min")):
            return
        raise self._refuse(
            source.loc,
            f"'{taken}' elements cannot be scanned into '{out}' ones",
            "give both arrays the same type",
        )

    def _check_count(self, target: c.Expr) -> None:
        """Raises `CompileError` if the loop does not compute `count` elements, counting the one before its
        first iteration."""
        count = self.clause.count
        assert count.expr is not None
        first, bound = linear(self.loop.start), linear(self.loop.bound)
        steps = _sum(bound, _scaled(first, -1))
        if self.loop.op == "<=":
            steps = _sum(steps, {(): 1})
        wrong = distance(_sum(steps, {(): 1}), linear(count.expr))
        if self.loop.op not in ("<", "<=", "!=") or wrong not in (0, None):
            raise error(
                count.loc,
                f"the loop does not scan '{count.text.strip()}' elements",
                "count the element before the loop's first one, too",
                [(target.loc, "the loop is here")],
            )


def _fits(source: CType, target: CType, *, ordered: bool) -> bool:
    """Whether combining in the target's type gives the same results as C's computation in the common
    type."""
    if isinstance(source, IntType) and isinstance(target, IntType):
        wider = target.bits - (target.signed and not source.signed) >= source.bits
        return not ordered or (wider and (target.signed or not source.signed))
    if isinstance(target, FloatType):
        if isinstance(source, IntType):  # `_Float16` is evaluated in float, which keeps more digits
            return target.bits > 16 or source.bits == 8
        return isinstance(source, FloatType) and source.size <= target.size
    return False


def _variable(e: c.Expr) -> c.VarDecl | None:
    return e.decl if isinstance(e, c.VarRef) else None


def _previous(element: c.Deref) -> c.Deref:
    """The lvalue of the element before `element`."""
    one = c.IntConst(value=1, type=LONG, loc=element.loc)
    place = c.PtrAdd(
        pointer=element.pointer,
        index=one,
        subtract=True,
        type=element.pointer.type,
        loc=element.loc,
    )
    return c.Deref(pointer=place, type=element.type, loc=element.loc)


def _walked(lvalue: c.Expr) -> tuple[c.Expr, Linear]:
    """The pointer from which an element is reached, and its distance from there in elements."""
    terms: Linear = {}
    pointer = strip_casts(lvalue.pointer) if isinstance(lvalue, c.Deref) else lvalue
    while isinstance(pointer, c.PtrAdd):
        terms = _sum(terms, _scaled(linear(pointer.index), -1 if pointer.subtract else 1))
        pointer = strip_casts(pointer.pointer)
    return pointer, terms


def _array(lvalue: c.Expr) -> object:
    """A key of the array to which the last subscript of an element is applied."""
    return key(_walked(lvalue)[0])


def _bases(lvalue: c.Expr) -> set[object]:
    """The variables and members that the element is reached through."""
    return {key(n) for n in walk(lvalue) if isinstance(n, c.VarRef | c.Member)}
