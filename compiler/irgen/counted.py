"""
Recognises `for` loops whose trip count is known before they start (C11 6.8.5.3 restricted as
OpenACC 3.4, 2.9 requires of loops under a `loop` directive).

The variable is a local integer or pointer that the body does not assign and whose address is not taken; the
condition compares it with a bound that the loop does not change; the step adds or subtracts an invariant.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..c import ast as c
from ..c.tree import READING, Node, assigned_variable, children, int_constant, strip_casts, walk
from ..c.types import (
    BOOL,
    ULONG,
    ArrayType,
    CType,
    FloatType,
    FunctionType,
    IntType,
    PointerType,
    RecordType,
    VoidType,
    is_scalar,
)

_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@dataclass(frozen=True)
class CountedLoop:
    """
    `for (var = start; var OP bound; var += step)`. `compare_type` is the type C compares in, for an integer
    variable an arithmetic one (addresses compare as `unsigned long`); the variable is first converted to
    `casts`, in this order. `down` means the loop subtracts; `step` is the positive amount, a constant or an
    expression. `meets`: the comparison is `!=`, so that the variable reaches the bound, and `op` is the one
    that is meant. `lent`: the body gives the variable's address to what only reads. `subscript`: the body
    uses an unsigned variable of 64 bits in a subscript, so that its values are below 2⁶³.
    """

    var: c.VarDecl
    declared: bool
    start: c.Expr
    op: str
    bound: c.Expr
    compare_type: CType
    step: int | c.Expr
    down: bool
    meets: bool = False
    casts: tuple[CType, ...] = ()
    lent: bool = False
    subscript: bool = False


@dataclass(frozen=True)
class LoopEffects:
    """
    What executing a subtree may change: variables, memory by the types of the stores, and anything by
    unknown callees. `addressed` are the variables whose addresses it takes, other than those `lent` to
    pointers to const.
    """

    variables: frozenset[c.VarDecl] = frozenset()
    stored: frozenset[CType] = frozenset()
    calls: bool = False
    addressed: frozenset[c.VarDecl] = frozenset()
    lent: frozenset[c.VarDecl] = frozenset()


class EffectsOf:
    """
    The effects of subtrees of one function, each found once; `may_write` says whether a function can change
    memory.
    """

    def __init__(self, may_write: Callable[[c.FunctionDecl], bool]):
        self._may_write = may_write
        self._found: dict[int, LoopEffects] = {}

    def __call__(self, root: c.Stmt) -> LoopEffects:
        found = self._found.get(id(root))
        if found is None:
            found = self._found[id(root)] = self._effects(root)
        return found

    def _effects(self, root: c.Stmt) -> LoopEffects:
        """The effects of `root`, with those of loops inside, which are computed separately as they are
        needed too."""
        variables: set[c.VarDecl] = set()
        stored: set[CType] = set()
        addressed: set[c.VarDecl] = set()
        lent: set[c.VarDecl] = set()
        calls = False
        stack: list[c.Expr | c.Stmt] = [root]
        while stack:
            node = stack.pop()
            kind = type(node)
            if kind in READING or kind is c.BinaryOp:
                pointed = _pointed(node) if kind is c.Cast else None
                if pointed is None:
                    stack += children(node)
                else:
                    (lent if _is_to_const(node) else addressed).add(pointed)
                continue
            if isinstance(node, c.For):
                inner = self(node.body)
                variables |= inner.variables
                stored |= inner.stored
                addressed |= inner.addressed
                lent |= inner.lent
                calls = calls or inner.calls
                stack += [part for part in children(node) if part is not node.body]
                continue
            stack += children(node)
            if isinstance(node, c.Assign | c.CompoundAssign | c.IncDec):
                if isinstance(node.target, c.VarRef):
                    variables.add(node.target.decl)
                else:
                    stored.add(node.target.type)
            elif isinstance(node, c.AddressOf):
                if isinstance(node.operand, c.VarRef):
                    addressed.add(node.operand.decl)
            elif isinstance(node, c.VaOp | c.VaArg | c.AtomicOp):
                calls = True
            elif isinstance(node, c.Call):
                callee = node.callee
                if not isinstance(callee, c.FunctionRef) or self._may_write(callee.decl):
                    calls = True
        changed = frozenset(variables), frozenset(stored), calls
        return LoopEffects(*changed, frozenset(addressed), frozenset(lent))


def _pointed(e: Node) -> c.VarDecl | None:
    """The variable whose address `e` converts."""
    address = strip_casts(e) if isinstance(e, c.Expr) else None
    if isinstance(address, c.AddressOf) and isinstance(address.operand, c.VarRef):
        return address.operand.decl
    return None


def _is_to_const(e: Node) -> bool:
    """Whether the value of `e` is a pointer to const."""
    return isinstance(e, c.Expr) and isinstance(e.type, PointerType) and e.type.pointee.const


def recognize(loop: c.For, effects_of: EffectsOf, *, directive: bool) -> CountedLoop | str:
    """
    The counted form of `loop`, or the reason why it has none. Under a loop directive the user promises that
    memory read by the bounds does not change, and loops over small integer variables are counted too.
    """
    start = _start(loop.init)
    if isinstance(start, str):
        return start
    var, first, declared = start
    if not isinstance(var.type, IntType | PointerType):
        return f"its variable '{var.name}' is neither an integer nor a pointer"
    # Under a directive the variable is private: only code that takes its address could change it.
    exposed = var in effects_of(loop.body).addressed if directive else var.address_taken
    is_local = directive or var.storage is c.Storage.AUTO
    if exposed or not is_local or var.qual.volatile:
        return (
            f"its variable '{var.name}' may be changed from elsewhere "
            "(global, volatile or address taken)"
        )
    if not directive and isinstance(var.type, IntType) and var.type.bits < 32:
        return f"its variable '{var.name}' may wrap around"
    condition = _condition(loop.condition, var)
    if isinstance(condition, str):
        return condition
    op, bound, casts = condition
    compare_type = casts[-1] if casts else var.type
    if isinstance(compare_type, FloatType) and not directive:
        return "its bound has a floating type"
    if any(isinstance(t, IntType) and t.bits > 64 for t in (var.type, *casts)):
        return "it counts in more than 64 bits"
    if not directive and _always_holds(op, bound, compare_type):
        return "its condition always holds"
    step = _step(loop.step, var)
    if isinstance(step, str):
        return step
    amount, down = step
    if isinstance(amount, int):
        if amount == 0:
            return f"its step leaves '{var.name}' unchanged"
        amount, down = _positive(amount, down, op, var.type)
    meets = op == "!="
    if meets:
        # Under a directive the loop must end (2.9), so the variable reaches the bound.
        if amount != 1 and not (directive and isinstance(amount, int)):
            return "it compares with != but its step is not 1"
        op = ">" if down else "<"
    if (op in ("<", "<=")) == down:
        if isinstance(amount, int) or not directive or not _may_be_negative(amount, var):
            return f"its step moves '{var.name}' away from the bound"
        # Under a directive the loop must end (2.9), so the amount is negative.
        amount, down = c.UnaryOp(type=amount.type, loc=amount.loc, op="-", operand=amount), not down
    effects = effects_of(loop.body)
    if var in effects.variables:
        return f"its body assigns '{var.name}'"
    invariants = [bound] if isinstance(amount, int) else [bound, amount]
    for e in invariants:
        changed = _variant(e, var, effects, strict=not directive)
        if changed is not None:
            return changed
    wide = var.type == ULONG and int_constant(first) is None
    subscript = wide and _is_subscript(loop.body, var)
    return CountedLoop(
        *(var, declared, first, op, bound, compare_type, amount, down, meets, casts[:-1]),
        lent=var in effects.lent,
        subscript=subscript,
    )


def _always_holds(op: str, bound: c.Expr, t: CType) -> bool:
    """Whether the bound is the last value of the type in which `op` compares with it."""
    limit = int_constant(bound)
    if limit is None or not isinstance(t, IntType):
        return False
    value = limit % (1 << t.bits)
    lowest = 1 << (t.bits - 1) if t.signed else 0
    return (op == "<=" and value == (lowest - 1) % (1 << t.bits)) or (
        op == ">=" and value == lowest
    )


def _positive(amount: int, down: bool, op: str, t: CType) -> tuple[int, bool]:
    """A constant step as a positive amount and the direction: in unsigned arithmetic, adding the complement
    of a number is subtracting it."""
    if amount < 0:
        return -amount, not down
    if isinstance(t, IntType) and not t.signed:
        complement = (1 << t.bits) - amount
        towards = op == "!=" or (op in ("<", "<=")) == down
        if 0 < complement <= amount and towards:
            return complement, not down
    return amount, down


def _is_subscript(body: c.Stmt, var: c.VarDecl) -> bool:
    return any(isinstance(node, c.PtrAdd) and _is_term(node.index, var) for node in walk(body))


def _is_term(e: c.Expr, var: c.VarDecl) -> bool:
    """Whether `e` is the variable, or a sum with a term of it."""
    if _conversions(e, var) is not None:
        return True
    e = strip_casts(e)
    if isinstance(e, c.BinaryOp) and e.op in ("+", "-", "*"):
        return _is_term(e.lhs, var) or (e.op != "-" and _is_term(e.rhs, var))
    return False


def _start(init: c.Stmt | None) -> tuple[c.VarDecl, c.Expr, bool] | str:
    match init:
        case c.DeclStmt(decls=[decl]) if decl.init is not None and is_scalar(decl.type):
            if len(decl.init.items) == 1:
                return decl, decl.init.items[0][1], True
        case c.ExprStmt(expr=e):
            e = strip_casts(e)
            if isinstance(e, c.Assign) and isinstance(e.target, c.VarRef):
                return e.target.decl, e.value, False
        case _:
            pass
    return "its first part does not assign one variable"


def _condition(
    condition: c.Expr | None, var: c.VarDecl
) -> tuple[str, c.Expr, tuple[CType, ...]] | str:
    """The comparison, its bound and the types to which the variable is converted for it."""
    e = None if condition is None else strip_casts(condition)
    if isinstance(e, c.BinaryOp) and e.op in _FLIPPED:
        for value, bound, op in ((e.lhs, e.rhs, e.op), (e.rhs, e.lhs, _FLIPPED[e.op])):
            casts = _conversions(value, var)
            if casts is None:
                continue
            if isinstance(value.type, PointerType) and isinstance(var.type, IntType):
                bound = c.Cast(type=ULONG, loc=bound.loc, operand=bound)
            return op, bound, casts
    return f"its condition does not compare '{var.name}' with a bound by < <= > >= or !="


def _step(step: c.Expr | None, var: c.VarDecl) -> tuple[int | c.Expr, bool] | str:
    e = None if step is None else strip_casts(step)
    amount: int | c.Expr | None = None
    down = False
    match e:
        case c.IncDec() if assigned_variable(e) is var:
            return 1, not e.is_increment
        case c.CompoundAssign(op="+" | "-" | "+=" | "-=") if assigned_variable(e) is var:
            amount, down = _amount(e.value), e.op.startswith("-")
        case c.Assign() if assigned_variable(e) is var:
            amount, down = _added(_whole(e.value, var), var)
        case _:
            pass
    if amount is None or (not isinstance(amount, int) and not isinstance(amount.type, IntType)):
        return f"its last part does not add to or subtract from '{var.name}'"
    return amount, down


def _added(e: c.Expr, var: c.VarDecl) -> tuple[int | c.Expr | None, bool]:
    """What `e` adds to or, if the second result is true, subtracts from the variable's value."""
    match e:
        case c.BinaryOp(op="+" | "-") if isinstance(e.type, IntType):
            if _conversions(e.lhs, var) is not None:
                return _scaled(_amount(e.rhs), e.type, var.type), e.op == "-"
            if e.op == "+" and _conversions(e.rhs, var) is not None:
                return _scaled(_amount(e.lhs), e.type, var.type), False
        case c.PtrAdd() if _conversions(e.pointer, var) is not None:
            return _scaled(_amount(e.index), e.pointer.type, var.type), e.subtract
        case _:
            pass
    return None, False


def _scaled(amount: int | c.Expr, counted: CType, t: CType) -> int | c.Expr | None:
    """An amount that is added to a value of type `counted`, for a variable of type `t`: pointers count
    elements, integers bytes. None if it is not known to be a whole number of them."""
    unit, own = _unit(counted), _unit(t)
    if unit == own:
        return amount
    if not isinstance(amount, int) or not isinstance(unit, int) or not isinstance(own, int):
        return None
    return amount * unit // own if own and amount * unit % own == 0 else None


def _unit(t: CType) -> int | CType:
    """The bytes that 1 stands for in arithmetic on `t`; for a pointer to an array of variable length, its
    type."""
    if not isinstance(t, PointerType):
        return 1
    pointee = t.pointee.type
    if isinstance(pointee, ArrayType) and pointee.is_vla:
        return pointee
    return 1 if isinstance(pointee, VoidType | FunctionType) else pointee.size


def _whole(e: c.Expr, var: c.VarDecl) -> c.Expr:
    """`e` without the conversions around it that keep all bits of the loop variable."""
    while isinstance(e, c.Cast) and _holds_bits(e.type, var.type):
        if isinstance(e.operand.type, FloatType):
            break
        e = e.operand
    return e


def _holds_bits(t: CType, variable: CType) -> bool:
    return isinstance(t, IntType | PointerType) and t != BOOL and t.size >= variable.size


def _conversions(e: c.Expr, var: c.VarDecl) -> tuple[CType, ...] | None:
    """
    The types to which `e` converts the loop variable's value, innermost first, each of which holds all its
    bits; only the last may be a floating type. None if `e` is something else. An address that an integer
    is converted to counts as `unsigned long`.
    """
    types: list[CType] = []
    while isinstance(e, c.Cast):
        t = e.type
        if isinstance(t, FloatType):
            if any(not isinstance(other, FloatType) for other in types):
                return None
            types = types or [t]
        elif not _holds_bits(t, var.type):
            return None
        else:
            types.append(
                ULONG if isinstance(var.type, IntType) and isinstance(t, PointerType) else t
            )
        e = e.operand
    if not (isinstance(e, c.Load) and isinstance(e.lvalue, c.VarRef) and e.lvalue.decl is var):
        return None
    return tuple(reversed(types))


def _may_be_negative(e: c.Expr, var: c.VarDecl) -> bool:
    """Whether adding `e` to the variable can make it smaller: also if it is unsigned, and wraps around."""
    t = e.type
    return isinstance(t, IntType) and (t.signed or t.size >= var.type.size)


def _amount(e: c.Expr) -> int | c.Expr:
    value = int_constant(e)
    return e if value is None else value


def _variant(e: c.Expr, var: c.VarDecl, effects: LoopEffects, *, strict: bool) -> str | None:
    """Why the value of `e` may change while the loop runs; None if it cannot."""
    for node in walk(e):
        if isinstance(node, c.Call) and strict:
            return "its bound calls a function"
        if isinstance(node, c.Assign | c.CompoundAssign | c.IncDec):
            return "its bound has side effects"
        if not isinstance(node, c.Load):
            continue
        if isinstance(node.lvalue, c.VarRef):
            decl = node.lvalue.decl
            if decl is var:
                return f"its bound depends on its variable '{var.name}'"
            if decl in effects.variables:
                return f"its body assigns '{decl.name}', which its bound or step uses"
            exposed = decl.address_taken or decl.storage is not c.Storage.AUTO
            if strict and exposed and effects.calls:
                return f"its body calls functions that may change '{decl.name}'"
            if strict and decl.address_taken and _may_alias(node.type, effects.stored):
                return f"its body stores to memory that may be '{decl.name}'"
        elif strict and (effects.calls or _may_alias(node.type, effects.stored)):
            return "its body may change the memory its bound reads"
    return None


def _may_alias(t: CType, stored: frozenset[CType]) -> bool:
    """Whether a store of one of the types may change an object of type `t` (C11 6.5p7)."""
    return any(
        isinstance(s, RecordType)
        or s == t
        or (
            isinstance(s, IntType)
            and (s.bits == 8 or (isinstance(t, IntType) and s.bits == t.bits))
        )
        for s in stored
    )
