"""
Recognises reductions: scalars that iterations only combine with other values, always by one operator.

An update is a store of an expression in which the variable's old value goes through uses of one operator:
`s += e`, `s = e * s`, `s = s - e`, `s = s + e + f`, `m = fmax(m, e)`, `if (e > m) m = e`,
`m = e > m ? e : m` (also nested, as macros write it), `s = c ? s + e : s`, `f = f && e`, `f = e || f`.
There may be several, in branches and in loops inside. Conversions between floating types, and widening of
integers, are looked through; a sum kept in an integer to which floating values are added is not a reduction,
as it is rounded in every step. A `reduction` clause of an inner loop is an update by its operator.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, i1
from xdsl.ir import Block, Operation, SSAValue

from ..ops.acc_ops import branch_values, callee_of
from ..ops.building import constant_value
from ..ops.predicates import EQ, NE, SGE, SGT, SLE, SLT, UGE, UGT, ULE, ULT, UNE
from ..ops.same_values import is_quiet, same_value
from .recipes import can_reduce

Kind = acc.ReductionOpKind


@dataclass(frozen=True)
class Operator:
    """A reduction operator; `signed` says how `max` and `min` compare integers."""

    kind: Kind
    signed: bool = True

    def __str__(self) -> str:
        return SPELLINGS[self.kind]


SPELLINGS = {
    Kind.ADD: "+",
    Kind.MUL: "*",
    Kind.MAX: "max",
    Kind.MIN: "min",
    Kind.IAND: "&",
    Kind.IOR: "|",
    Kind.XOR: "^",
    Kind.LAND: "&&",
    Kind.LOR: "||",
}
"""Operators by their name in clauses."""

_OPERATORS: dict[type[Operation], Operator] = {
    arith.AddiOp: Operator(Kind.ADD),
    arith.AddfOp: Operator(Kind.ADD),
    arith.SubiOp: Operator(Kind.ADD),
    arith.SubfOp: Operator(Kind.ADD),
    arith.MuliOp: Operator(Kind.MUL),
    arith.MulfOp: Operator(Kind.MUL),
    arith.MaxSIOp: Operator(Kind.MAX),
    arith.MaxUIOp: Operator(Kind.MAX, signed=False),
    arith.MaxnumfOp: Operator(Kind.MAX),
    arith.MinSIOp: Operator(Kind.MIN),
    arith.MinUIOp: Operator(Kind.MIN, signed=False),
    arith.MinnumfOp: Operator(Kind.MIN),
    arith.AndIOp: Operator(Kind.IAND),
    arith.OrIOp: Operator(Kind.IOR),
    arith.XOrIOp: Operator(Kind.XOR),
}

_LIBRARY = {
    **dict.fromkeys(("fmax", "fmaxf", "fmaxl", "llvm.maxnum"), Operator(Kind.MAX)),
    **dict.fromkeys(("fmin", "fminf", "fminl", "llvm.minnum"), Operator(Kind.MIN)),
}

_EXTREMES = (Kind.MAX, Kind.MIN)
_RING = (Kind.ADD, Kind.MUL, Kind.IAND, Kind.IOR, Kind.XOR)
"""
Operators whose low result bits do not depend on high operand bits, so that integers may be widened in
between.
"""

_FLOAT_CONVERSIONS = (arith.ExtFOp, arith.TruncFOp)
_WIDENING = (arith.ExtSIOp, arith.ExtUIOp)
_ROUNDING = (arith.SIToFPOp, arith.UIToFPOp, arith.FPToSIOp, arith.FPToUIOp)


def operator_of(op: Operation) -> Operator | None:
    """
    The reduction operator of an arithmetic operation or a call of a library function; None if it has none.
    """
    return _LIBRARY.get(callee_of(op) or "") or _OPERATORS.get(type(op))


@dataclass(frozen=True)
class Comparison:
    """
    A comparison that keeps the greater or the less of two values, `kind` says which: `old`, in which the
    variable's value is, and `other`. Both are available before `chosen`, the operation that chooses: the one
    with `result`, or the branch around the `store` of `other`.
    """

    kind: Kind
    old: SSAValue
    other: SSAValue
    chosen: Operation
    result: SSAValue | None = None
    store: llvm.StoreOp | None = None


@dataclass
class _Update:
    """
    Reads one update. `loads` are the variable's loads by their results; `parts` collects the operations on
    its old value, `found` the operator.
    """

    loads: Mapping[SSAValue, llvm.LoadOp]
    found: Operator | None = None
    rounded: bool = False
    """The variable is an integer that is compared as a floating-point number."""
    parts: set[Operation] = field(default_factory=set[Operation])
    choices: list[Comparison] = field(default_factory=list[Comparison])
    """The comparisons of a maximum or minimum, those that use another's result first."""

    def depends(self, value: SSAValue) -> bool:
        """Whether an expression contains the variable's old value."""
        work, seen = [value], set[SSAValue]()
        while work:
            current = work.pop()
            if current in seen:
                continue
            seen.add(current)
            if current in self.loads:
                return True
            owner = current.owner
            if not isinstance(owner, Operation):
                continue
            work += owner.operands
            for region in owner.regions:
                for block in region.blocks:
                    if isinstance(block.last_op, scf.YieldOp):
                        work += block.last_op.operands
        return False

    def settle(self, operator: Operator) -> bool:
        """Records an operator; False if it differs from the one before."""
        if self.found not in (None, operator):
            return False
        self.found = operator
        return True

    # Expressions that combine the old value with others.

    def expression(self, value: SSAValue) -> bool:
        """Whether `value` is the old value combined with others by one operator."""
        if value in self.loads:
            self.parts.add(self.loads[value])
            return True
        op = value.owner
        if not isinstance(op, Operation):
            return False
        self.parts.add(op)
        match op:
            case arith.ExtFOp() | arith.TruncFOp():
                return self.expression(op.operands[0])
            case arith.ExtUIOp() if op.input.type == i1:
                return self.truth(op.input)
            case arith.UIToFPOp() if op.input.type == i1:
                return self.truth(op.input)
            case arith.ExtSIOp() | arith.ExtUIOp() | arith.TruncIOp():
                return self.expression(op.operands[0]) and self._keeps_low_bits(op)
            case _ if isinstance(op, _ROUNDING):
                self.rounded = True
                return self.expression(op.operands[0])
            case arith.SelectOp():
                return self._chosen(value, op.cond, op.lhs, op.rhs)
            case scf.IfOp():
                choice = branch_values(op, value)
                return len(choice) == 2 and self._chosen(value, op.cond, *choice)
            case _:
                return self._combined(op)

    def _keeps_low_bits(self, op: Operation) -> bool:
        """Whether a conversion of integers does not change the final low bits."""
        kind = None if self.found is None else self.found.kind
        if isinstance(op, arith.TruncIOp):
            return kind in (*_RING, *_EXTREMES)
        return True

    def _combined(self, op: Operation) -> bool:
        operator = operator_of(op)
        if operator is None or not self.settle(operator):
            return False
        inside = [index for index, v in enumerate(op.operands) if self.depends(v)]
        if len(inside) != 1:
            return False
        if isinstance(op, arith.SubiOp | arith.SubfOp) and inside[0] != 0:
            return False
        return self.expression(op.operands[inside[0]])

    # `m = e > m ? e : m`.

    def _chosen(self, result: SSAValue, condition: SSAValue, yes: SSAValue, no: SSAValue) -> bool:
        sides = self.depends(yes), self.depends(no)
        if sides == (True, False):
            known = self._extreme(condition, no, yes, result, taken=False)
            return known and self.expression(yes)
        if sides == (False, True):
            known = self._extreme(condition, yes, no, result, taken=True)
            return known and self.expression(no)
        if sides == (True, True) and not self.depends(condition):  # `s = c ? s + e : s`
            return self.expression(yes) and self.expression(no)
        return False

    def _extreme(
        self,
        condition: SSAValue,
        other: SSAValue,
        old: SSAValue | None,
        target: SSAValue | llvm.StoreOp,
        *,
        taken: bool,
    ) -> bool:
        """
        Whether `other` replaces the old value if the comparison finds it greater (or less): the form of a
        maximum or minimum. `old` is the expression of the old value (None: the variable's own), `taken` the
        result of the comparison for which `other` is used, `target` the value or the store that gets it.
        """
        compared = _compared(condition)
        if compared is None:
            return False
        left, right, sign, signed, operations = compared
        if self.depends(left) == self.depends(right):
            return False
        if self.depends(left):
            left, right, sign = right, left, -sign
        # Now: left > right (sign 1) or left < right, and right is the old value.
        if not same_value(_stripped(left), _stripped(other)):
            return False
        if old is None:
            if _stripped(right) not in self.loads:
                return False
        elif not same_value(_stripped(right), _stripped(old)):
            return False
        self.parts.update(operations)
        if not taken:
            sign = -sign
        widened = right.owner
        if isinstance(widened, arith.ExtUIOp | arith.UIToFPOp):
            signed = False
        elif isinstance(widened, arith.ExtSIOp | arith.SIToFPOp) or not isinstance(
            left.type, IntegerType
        ):
            signed = True
        kind = Kind.MAX if sign > 0 else Kind.MIN
        if not self.settle(Operator(kind, signed)):
            return False
        if isinstance(target, SSAValue):
            assert isinstance(target.owner, Operation)
            self.choices.append(Comparison(kind, right, left, target.owner, result=target))
        else:
            branch = target.parent_op()
            assert branch is not None
            self.choices.append(Comparison(kind, right, left, branch, store=target))
        return self.expression(right)  # which macros write twice

    # `f = f && e`.

    def truth(self, value: SSAValue) -> bool:
        """Whether an i1 is the truth value of the old value, combined with others by && or ||."""
        op = value.owner
        if not isinstance(op, Operation):
            return False
        self.parts.add(op)
        match op:
            case arith.CmpiOp() if op.predicate.value.data == NE and constant_value(op.rhs) == 0:
                return self._nonzero(op.lhs)
            case arith.CmpfOp() if op.predicate.value.data == UNE and _is_zero(op.rhs):
                return self._nonzero(op.lhs)
            case arith.AndIOp() | arith.OrIOp():
                kind = Kind.LAND if isinstance(op, arith.AndIOp) else Kind.LOR
                sides = [v for v in op.operands if self.depends(v)]
                return len(sides) == 1 and self.settle(Operator(kind)) and self.truth(sides[0])
            case arith.SelectOp():
                return self._short_circuit(op.cond, op.lhs, op.rhs)
            case scf.IfOp():
                choice = branch_values(op, value)
                return len(choice) == 2 and self._short_circuit(op.cond, *choice)
            case _:
                return False

    def _nonzero(self, value: SSAValue) -> bool:
        """
        Whether an integer is tested for its truth value: that of the variable, of another truth value, or
        of `f | e`.
        """
        owner = value.owner
        if isinstance(owner, arith.ExtUIOp) and owner.input.type == i1:
            self.parts.add(owner)
            return self.truth(owner.input)
        outer, self.found = self.found, None
        if not self.expression(value):
            return False
        inner, self.found = self.found, outer
        if inner is None:
            return True
        return inner.kind in (Kind.IOR, Kind.LOR) and self.settle(Operator(Kind.LOR))

    def _short_circuit(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> bool:
        """`a && b` is `a ? b : false`, `a || b` is `a ? true : b`."""
        if constant_value(no) == 0:
            operator, other = Operator(Kind.LAND), yes
        elif constant_value(yes) in (1, -1):
            operator, other = Operator(Kind.LOR), no
        else:
            return False
        sides = [v for v in (condition, other) if self.depends(v)]
        return len(sides) == 1 and self.settle(operator) and self.truth(sides[0])

    # `if (e > m) m = e`.

    def guarded(self, store: llvm.StoreOp) -> bool:
        branch = store.parent_op()
        if not isinstance(branch, scf.IfOp) or branch.results or self.depends(store.value):
            return False
        region = store.parent_region()
        for other in (branch.true_region, branch.false_region):
            for block in other.blocks:
                if any(op is not store and not is_quiet(op) for op in block.ops):
                    return False
        self.parts.add(branch)
        taken = region is branch.true_region
        return self._extreme(branch.cond, store.value, None, store, taken=taken)


def _is_zero(value: SSAValue) -> bool:
    owner = value.owner
    return (
        isinstance(owner, arith.ConstantOp)
        and getattr(owner.value, "value", None) is not None
        and (
            owner.value.value.data == 0  # pyright: ignore
        )
    )


def _stripped(value: SSAValue) -> SSAValue:
    """The operand of conversions that keep the order of numbers."""
    while isinstance(value.owner, (*_FLOAT_CONVERSIONS, *_WIDENING, *_ROUNDING)):
        if value.owner.operands[0].type == i1:
            return value
        value = value.owner.operands[0]
    return value


Compared = tuple[SSAValue, SSAValue, int, bool, list[Operation]]

_INTEGER_ORDER = {
    **dict.fromkeys((SGT, SGE), (1, True)),
    **dict.fromkeys((SLT, SLE), (-1, True)),
    **dict.fromkeys((UGT, UGE), (1, False)),
    **dict.fromkeys((ULT, ULE), (-1, False)),
}
"""`arith.cmpi` predicate → 1 for greater, -1 for less; whether signed."""
_FLOAT_ORDER = {2: 1, 3: 1, 4: -1, 5: -1, 9: 1, 10: 1, 11: -1, 12: -1}
"""`arith.cmpf` predicate → 1 for greater, -1 for less (ogt oge olt ole, and the unordered ones)."""


def _compared(condition: SSAValue) -> Compared | None:
    """`(a, b, sign, signed, operations)` for a comparison `a > b` (sign 1) or `a < b` (-1)."""
    operations: list[Operation] = []
    op = condition.owner
    flip = 1
    while isinstance(op, Operation):
        operations.append(op)
        if isinstance(op, arith.CmpiOp) and op.predicate.value.data in (EQ, NE):
            inner = op.lhs.owner  # C's `(comparison) != 0`, or `!(comparison)`
            if constant_value(op.rhs) != 0 or not isinstance(inner, arith.ExtUIOp):
                return None
            flip = flip if op.predicate.value.data == NE else -flip
            operations.append(inner)
            op = inner.input.owner
        elif isinstance(op, arith.XOrIOp) and constant_value(op.rhs) in (1, -1):
            flip = -flip
            op = op.lhs.owner
        else:
            break
    if isinstance(op, arith.CmpiOp) and op.predicate.value.data in _INTEGER_ORDER:
        sign, signed = _INTEGER_ORDER[op.predicate.value.data]
        return op.lhs, op.rhs, sign * flip, signed, operations
    if isinstance(op, arith.CmpfOp) and op.predicate.value.data in _FLOAT_ORDER:
        return op.lhs, op.rhs, _FLOAT_ORDER[op.predicate.value.data] * flip, True, operations
    return None


def reduction_operator(
    accesses: Sequence[Operation], clauses: Mapping[Operation, Operator] | None = None
) -> Operator | None:
    """
    The operator, if all accesses to a scalar in a loop combine it with other values by that one operator;
    else None. `clauses`: the operators of the `acc.reduction`s of inner loops among the accesses.
    """
    loads: dict[SSAValue, llvm.LoadOp] = {
        op.dereferenced_value: op for op in accesses if isinstance(op, llvm.LoadOp)
    }
    stores = [op for op in accesses if isinstance(op, llvm.StoreOp)]
    inner = [op for op in accesses if isinstance(op, acc.ReductionOp)]
    if len(loads) + len(stores) + len(inner) != len(accesses) or not (stores or inner):
        return None
    found = {(clauses or {}).get(op) for op in inner}
    parts: set[Operation] = set()
    for store in stores:
        update = _Update(loads)
        if not _is_update(update, store):
            return None
        others = _with_ancestors(op for op in (*stores, *inner) if op is not store)
        used = [op for op in update.parts if isinstance(op, llvm.LoadOp)]
        if not all(_leads_to(load, store, others) for load in used):
            return None
        found.add(update.found)
        parts |= update.parts
    operator = found.pop() if len(found) == 1 else None
    if operator is None or not _only_used_by(loads.values(), parts, stores):
        return None
    if stores and not can_reduce(operator.kind, stores[0].value.type):
        return None
    if stores and isinstance(stores[0].value.type, AnyFloat):
        operator = Operator(operator.kind)
    return operator


def choices_of(accesses: Sequence[Operation]) -> list[Comparison]:
    """
    The comparisons by which all accesses to a scalar in a loop, loads and stores, keep a maximum or minimum
    in it, those that use another's result first; none if they do not.
    """
    operator = reduction_operator(accesses)
    if operator is None or operator.kind not in _EXTREMES:
        return []
    loads: dict[SSAValue, llvm.LoadOp] = {
        op.dereferenced_value: op for op in accesses if isinstance(op, llvm.LoadOp)
    }
    found: list[Comparison] = []
    for store in (op for op in accesses if isinstance(op, llvm.StoreOp)):
        update = _Update(loads)
        _is_update(update, store)
        found += update.choices
    return found


def _is_update(update: _Update, store: llvm.StoreOp) -> bool:
    if update.depends(store.value):
        known = update.expression(store.value) and update.found is not None
    else:
        known = update.guarded(store)
    if not known or update.found is None:
        return False
    return not update.rounded or update.found.kind in _EXTREMES


def _with_ancestors(ops: Iterable[Operation]) -> set[Operation]:
    found: set[Operation] = set()
    for op in ops:
        current: Operation | None = op
        while current is not None and current not in found:
            found.add(current)
            current = current.parent_op()
    return found


def _leads_to(load: Operation, store: Operation, others: set[Operation]) -> bool:
    """
    Whether the loaded value is still the variable's at the store: both are in one block, apart from
    branches, and none of the `others`, which contain the writes of the variable, is in between.
    """
    before: dict[Block | None, Operation] = {}
    current: Operation = store
    while True:
        before[current.parent_block()] = current
        around = current.parent_op()
        if not isinstance(around, scf.IfOp):
            break
        current = around
    current = load
    while current.parent_block() not in before:
        following = current.next_op
        while following is not None:
            if following in others:
                return False
            following = following.next_op
        around = current.parent_op()
        if not isinstance(around, scf.IfOp):
            return False
        current = around
    inner = store
    while True:
        start = current if inner.parent_block() is current.parent_block() else None
        previous = inner if inner is start else inner.prev_op
        while previous is not None and previous is not start:
            if previous in others:
                return False
            previous = previous.prev_op
        if start is not None:
            return previous is start
        around = inner.parent_op()
        assert around is not None
        inner = around


def _only_used_by(
    loads: Iterable[llvm.LoadOp], parts: set[Operation], stores: Sequence[llvm.StoreOp]
) -> bool:
    """Whether the old value is used in the updates only."""
    allowed = {*parts, *stores}
    if any(load not in parts for load in loads):
        return False
    for op in parts:
        for result in op.results:
            for use in result.uses:
                user = use.operation
                if isinstance(user, scf.YieldOp):
                    around = user.parent_op()
                    if around in parts:
                        continue
                if user not in allowed:
                    return False
    return True
