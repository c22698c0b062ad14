"""
Whether an `auto` loop is independent: its memory accesses, scalars and calls (OpenACC 3.4, 2.9.6).

`judge_loop` returns a `Verdict`: independent or not, one sentence why, and the scalars that must
become private or reductions for it to hold. Pointers that C lets alias make a loop dependent.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from xdsl.dialects import acc, arith, llvm, scf
from xdsl.dialects.builtin import i8
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from .acc_ops import (
    MAPPING_OPS,
    PRIVATIZING_OPS,
    alloca_count,
    bit_width,
    constant_value,
    is_defined_inside,
    is_inside,
    is_scalar,
    variable_name,
)
from .affine import Affine
from .dependence import LoopContext, Subscripts, independent_subscripts
from .device_functions import DEVICE_FUNCTIONS, OUTPUT, PURE_FUNCTIONS
from .layout import size_of
from .ranges import LoopRange
from .recipes import can_reduce
from .region_values import RegionSymbols, variable_key

LoopLike = acc.LoopOp | scf.ForOp

_DERIVED = (llvm.GEPOp, acc.CacheOp, *MAPPING_OPS)
"""Operations whose result points where their operand does."""

ALLOCATORS = frozenset(("malloc", "calloc", "aligned_alloc", "acc_malloc"))


@dataclass(frozen=True)
class Verdict:
    """The answer on one loop; `why` is a sentence for remarks."""

    independent: bool
    why: str
    privates: tuple[SSAValue, ...] = ()
    reductions: tuple[tuple[SSAValue, acc.ReductionOpKind], ...] = ()


@dataclass(frozen=True)
class _Access:
    op: Operation
    root: SSAValue
    subscripts: Subscripts
    type: Attribute
    writes: bool


@dataclass
class _Body:
    accesses: list[_Access] = field(default_factory=list[_Access])
    problem: str | None = None


def root_of(pointer: SSAValue) -> SSAValue:
    """The variable or pointer value an address is computed from."""
    owner = pointer.owner
    while isinstance(owner, _DERIVED):
        pointer = owner.ptr if isinstance(owner, llvm.GEPOp) else owner.var
        owner = pointer.owner
    return pointer


def _subscripts(pointer: SSAValue, symbols: RegionSymbols) -> Subscripts:
    """Subscripts of a chain of GEPs, outermost first; steps of one element type add up."""
    chain: list[llvm.GEPOp] = []
    owner = pointer.owner
    while isinstance(owner, _DERIVED):
        if isinstance(owner, llvm.GEPOp):
            chain.append(owner)
            owner = owner.ptr.owner
        else:
            owner = owner.var.owner
    found: list[Affine | None] = []
    previous: Attribute | None = None
    for gep in reversed(chain):
        dynamic = iter(gep.ssa_indices)
        for position, index in enumerate(gep.rawConstantIndices.iter_values()):
            poly = (
                symbols.affine(next(dynamic))
                if index == llvm.GEP_USE_SSA_VAL
                else Affine.constant(index)
            )
            if position == 0 and found and previous in (gep.elem_type, i8):
                last = found[-1]
                scale = size_of(gep.elem_type) if previous == i8 else 1
                found[-1] = None if poly is None or last is None else last + poly * scale
            else:
                found.append(poly)
        previous = i8 if previous == i8 else gep.elem_type
    return tuple(found)


def _body_of(loop: LoopLike):
    return loop.body if isinstance(loop, scf.ForOp) else loop.region


def _collect(loop: LoopLike, symbols: RegionSymbols, own: set[SSAValue]) -> _Body:
    body = _Body()
    for op in _body_of(loop).walk():
        match op:
            case llvm.LoadOp():
                _add(body, op, op.ptr, op.dereferenced_value.type, False, loop, symbols, own)
            case llvm.StoreOp():
                _add(body, op, op.ptr, op.value.type, True, loop, symbols, own)
            case llvm.CallOp():
                name = op.callee.string_value() if op.callee else None
                pure = name in PURE_FUNCTIONS
                known = name in DEVICE_FUNCTIONS and name not in OUTPUT
                if not pure and not (known and not _has_pointer(op)):
                    body.problem = (
                        f"it calls '{name or 'a function pointer'}', which may have effects"
                    )
            case acc.AtomicReadOp() | acc.AtomicWriteOp() | acc.AtomicUpdateOp():
                pass
            case _ if op.name.startswith("llvm.") and _may_write(op):
                body.problem = f"it contains '{op.name}'"
            case _:
                pass
    return body


def _has_pointer(op: Operation) -> bool:
    return any(isinstance(v.type, llvm.LLVMPointerType) for v in op.operands)


def _may_write(op: Operation) -> bool:
    return op.name.split(".")[1].startswith(("intr.mem", "atomic", "cmpxchg", "inline_asm"))


def _add(
    body: _Body,
    op: Operation,
    pointer: SSAValue,
    type_: Attribute,
    writes: bool,
    loop: LoopLike,
    symbols: RegionSymbols,
    own: set[SSAValue],
) -> None:
    root = root_of(pointer)
    while root not in own and is_defined_inside(root, loop):
        if not isinstance(root.owner, acc.ReductionOp):
            break
        root = root_of(root.owner.var)  # what an inner loop's copies are combined into
    own_copy = isinstance(root.owner, llvm.AllocaOp | acc.PrivateOp | acc.FirstprivateOp)
    if root in own or (is_defined_inside(root, loop) and own_copy):
        return
    body.accesses.append(_Access(op, root, _subscripts(pointer, symbols), type_, writes))


# Which pointers may refer to the same memory.


def _is_object(root: SSAValue) -> bool:
    """Whether the root is an object of its own: a variable, fresh memory, a private copy."""
    owner = root.owner
    if isinstance(owner, (llvm.AllocaOp, llvm.AddressOfOp, *PRIVATIZING_OPS)):
        return True
    return (
        isinstance(owner, llvm.CallOp)
        and owner.callee is not None
        and owner.callee.string_value() in ALLOCATORS
    )


def _is_restrict(root: SSAValue) -> bool:
    """Whether the root is a parameter the user qualified `restrict` (`llvm.noalias`)."""
    if not isinstance(root, BlockArgument):
        return False
    function = root.block.parent_op()
    if not isinstance(function, llvm.FuncOp) or function.arg_attrs is None:
        return False
    return root.index < len(function.arg_attrs.data) and (
        "llvm.noalias" in function.arg_attrs.data[root.index].data
    )


def _same_scalar_type(left: Attribute, right: Attribute) -> bool:
    """Types C lets alias: equal ones, and characters with everything."""
    character = any(bit_width(t) == 8 for t in (left, right))
    return left == right or character


def may_alias(left: SSAValue, right: SSAValue, types: tuple[Attribute, Attribute]) -> bool:
    """Whether C allows two different roots to reach the same memory with these access types."""
    if _is_object(left) and _is_object(right):
        return False
    if _is_restrict(left) or _is_restrict(right):
        return False
    locals_ = (llvm.AllocaOp, *PRIVATIZING_OPS)
    for one, other in ((left, right), (right, left)):
        if isinstance(one.owner, locals_) and isinstance(other, BlockArgument):
            return False
    return _same_scalar_type(*types)


def _root_key(root: SSAValue, loop: LoopLike, symbols: RegionSymbols) -> Hashable | None:
    """What identifies a root during the loop; None if it changes from iteration to iteration."""
    owner = root.owner
    if isinstance(owner, llvm.LoadOp) and isinstance(
        owner.ptr.owner, llvm.AllocaOp | llvm.AddressOfOp
    ):
        key = variable_key(owner.ptr)
        if key not in symbols.written:
            return ("value of", key)
    if is_defined_inside(root, loop) and not isinstance(owner, llvm.AddressOfOp):
        return None
    return variable_key(root)


# Scalars assigned in the loop.


def _is_scalar_variable(root: SSAValue) -> bool:
    owner = root.owner
    if isinstance(owner, llvm.AllocaOp):
        return is_scalar(owner.elem_type) and alloca_count(owner) == 1
    return isinstance(owner, PRIVATIZING_OPS) and is_scalar(owner.var_type)


def _written_first(loop: LoopLike, root: SSAValue) -> bool:
    """Whether every iteration stores to the scalar before anything reads it."""
    block = _body_of(loop).blocks.first
    assert block is not None
    for op in block.ops:
        if isinstance(op, llvm.StoreOp) and root_of(op.ptr) is root:
            return True
        if any(root in inner.operands for inner in op.walk()):
            return False
    return False


def _read_elsewhere(loop: LoopLike, root: SSAValue) -> bool:
    """Whether the scalar's value may be wanted outside of the loop."""
    return any(
        not is_inside(use.operation, loop)
        and not (isinstance(use.operation, llvm.StoreOp) and use.index == 1)
        for use in root.uses
    )


_REDUCTIONS: dict[type[Operation], acc.ReductionOpKind] = {
    arith.AddiOp: acc.ReductionOpKind.ADD,
    arith.AddfOp: acc.ReductionOpKind.ADD,
    arith.MuliOp: acc.ReductionOpKind.MUL,
    arith.MulfOp: acc.ReductionOpKind.MUL,
    arith.MaxSIOp: acc.ReductionOpKind.MAX,
    arith.MaxnumfOp: acc.ReductionOpKind.MAX,
    arith.MinSIOp: acc.ReductionOpKind.MIN,
    arith.MinnumfOp: acc.ReductionOpKind.MIN,
    arith.AndIOp: acc.ReductionOpKind.IAND,
    arith.OrIOp: acc.ReductionOpKind.IOR,
    arith.XOrIOp: acc.ReductionOpKind.XOR,
}


def reduction_kind(accesses: list[Operation], variable: SSAValue) -> acc.ReductionOpKind | None:
    """The operator if the only accesses are one `x = x op e` (or `x = e op x`)."""
    loads = [op for op in accesses if isinstance(op, llvm.LoadOp)]
    stores = [op for op in accesses if isinstance(op, llvm.StoreOp)]
    if len(loads) != 1 or len(stores) != 1:
        return None
    load, store = loads[0], stores[0]
    combine = store.value.owner
    if not isinstance(combine, Operation) or type(combine) not in _REDUCTIONS:
        return None
    value = load.dereferenced_value
    if value not in combine.operands or len(tuple(value.uses)) != 1:
        return None
    if len(tuple(store.value.uses)) != 1 or load.parent_block() is not store.parent_block():
        return None
    kind = _REDUCTIONS[type(combine)]
    return kind if can_reduce(kind, value.type) else None


# The verdict.


def _context(loop: LoopLike, variable: SSAValue, symbols: RegionSymbols, op: Operation):
    """The loops between `op` and `loop`, innermost first; None if their bounds are not known."""
    ranges: list[LoopRange] = []
    parent = op.parent_op()
    while parent is not None and parent is not loop:
        found: list[LoopRange | None] = []
        if isinstance(parent, scf.ForOp):
            found = [
                symbols.loop_range(parent.body.block.args[0], parent.lb, parent.ub, parent.step)
            ]
        elif isinstance(parent, acc.LoopOp) and parent.region.blocks.first is not None:
            args = parent.region.blocks.first.args
            bounds = zip(args, parent.lowerbound, parent.upperbound, parent.step, strict=True)
            found = [symbols.loop_range(*bound) for bound in reversed(list(bounds))]
        if any(loop_range is None for loop_range in found):
            return None
        ranges += [r for r in found if r is not None]
        parent = parent.parent_op()
    if isinstance(loop, acc.LoopOp):
        later = _later_variables(loop, variable, symbols)
        if later is None:
            return None
        ranges += later
    step = loop.step if isinstance(loop, scf.ForOp) else _bound(loop, variable, loop.step)
    lower = loop.lb if isinstance(loop, scf.ForOp) else _bound(loop, variable, loop.lowerbound)
    upper = loop.ub if isinstance(loop, scf.ForOp) else _bound(loop, variable, loop.upperbound)
    stride = constant_value(step)
    low, high = constant_value(lower), constant_value(upper)
    trip = (
        None
        if stride is None or low is None or high is None or stride <= 0
        else max(0, -(-(high - low) // stride))
    )
    return LoopContext(variable, stride, trip, tuple(ranges))


def _later_variables(
    loop: acc.LoopOp, variable: SSAValue, symbols: RegionSymbols
) -> list[LoopRange] | None:
    """Ranges of the collapsed variables inside of `variable`, innermost first."""
    assert isinstance(variable, BlockArgument)
    ranges: list[LoopRange] = []
    bounds = zip(variable.block.args, loop.lowerbound, loop.upperbound, loop.step, strict=True)
    for bound in reversed(list(bounds)[variable.index + 1 :]):
        found = symbols.loop_range(*bound)
        if found is None:
            return None
        ranges.append(found)
    return ranges


def _bound(loop: acc.LoopOp, variable: SSAValue, values: object) -> SSAValue:
    assert isinstance(variable, BlockArgument)
    return list(values)[variable.index]  # pyright: ignore


def _pair_problem(
    loop: LoopLike, variable: SSAValue, symbols: RegionSymbols, left: _Access, right: _Access
) -> str | None:
    """Why two accesses may meet in different iterations, or None if they cannot."""
    name = variable_name(left.root)
    keys = [_root_key(access.root, loop, symbols) for access in (left, right)]
    if None in keys:
        return f"'{name}' points somewhere else in every iteration"
    if keys[0] != keys[1]:
        if not may_alias(left.root, right.root, (left.type, right.type)):
            return None
        return (
            f"'{name}' and '{variable_name(right.root)}' may overlap: qualify them with restrict, or"
            " write 'loop independent'"
        )
    first = _context(loop, variable, symbols, left.op)
    second = _context(loop, variable, symbols, right.op)
    if first is None or second is None:
        return f"the bounds of a loop around an access of '{name}' are not known"
    inner = {r.variable: r for r in (*first.inner, *second.inner)}
    context = LoopContext(variable, first.step, first.trip, tuple(inner.values()))
    if independent_subscripts(left.subscripts, right.subscripts, context):
        return None
    return f"iterations may depend on each other through '{name}'"


def judge_loop(loop: LoopLike) -> Verdict:
    """Whether all iterations of `loop` may run at once. The IR is not changed."""
    symbols = RegionSymbols(loop)
    block = _body_of(loop).blocks.first
    assert block is not None
    if not block.args or len(_body_of(loop).blocks) != 1:
        return Verdict(False, "its body has jumps, so it is not analysed")
    if isinstance(loop, scf.ForOp) and loop.iter_args:
        return Verdict(False, "iterations pass on a value")
    own: set[SSAValue] = set()
    if isinstance(loop, acc.LoopOp):
        own = {*loop.private_operands, *loop.reduction_operands, *loop.firstprivate_operands}
    body = _collect(loop, symbols, own)
    if body.problem is not None:
        return Verdict(False, body.problem)
    privates: list[SSAValue] = []
    reductions: list[tuple[SSAValue, acc.ReductionOpKind]] = []
    arrays: list[_Access] = []
    scalars: dict[SSAValue, list[_Access]] = {}
    for access in body.accesses:
        if _is_scalar_variable(access.root) and not access.subscripts:
            scalars.setdefault(access.root, []).append(access)
        else:
            arrays.append(access)
    for root, accesses in scalars.items():
        if not any(access.writes for access in accesses):
            continue
        kind = reduction_kind([access.op for access in accesses], root)
        if _written_first(loop, root) and not _read_elsewhere(loop, root):
            privates.append(root)
        elif kind is not None:
            reductions.append((root, kind))
        else:
            name = variable_name(root)
            return Verdict(False, f"iterations pass on the value of '{name}'")
    for variable in block.args:
        for index, left in enumerate(arrays):
            for right in arrays[index:]:
                if not left.writes and not right.writes:
                    continue
                problem = _pair_problem(loop, variable, symbols, left, right)
                if problem is not None:
                    return Verdict(False, problem)
    return Verdict(True, "no iteration depends on another", tuple(privates), tuple(reductions))
