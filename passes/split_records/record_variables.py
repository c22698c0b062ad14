"""
Local structures as a variable per member: per scalar, and per array with subscripts that are not constant.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, llvm
from xdsl.dialects.builtin import AnyFloat, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue, Use

from ...dialects.accx_element import ElementOp, Index
from ...dialects.layout import is_long_double
from ...dialects.volatility import is_ordered
from ..ir.ops.acc_ops import accessed_type, alloca_count
from ..ir.ops.building import Cursor, erase
from ..ir.ops.layout import layout_of, size_of, struct_layout
from ..ir.values.addresses import ADDRESS_OPS, AddressOp, indices_of
from ..ir.variables.promotion import promote


class _WholeError(Exception):
    """The structure stays one variable."""


@dataclass(frozen=True)
class _Member:
    """A member of a structure, at any depth: its distance from the beginning in bytes, and its type."""

    offset: int
    type: Attribute

    def contains(self, other: _Member) -> bool:
        return self.offset <= other.offset < self.offset + size_of(self.type)


@dataclass(frozen=True)
class _Access:
    """
    A use of the structure's address: by a load or store of the scalar `member`, or by a computation of an
    address that chooses an element of the array `member` by the subscripts `chosen`.
    """

    use: Use
    member: _Member
    chosen: tuple[int | Index, ...] = ()


def _ways_in(type: Attribute, offset: int) -> Iterator[tuple[_Member, tuple[int, ...]]]:
    """The objects that contain byte `offset` of one of `type`, outermost first, and their subscripts."""
    begin, path = 0, ()
    yield _Member(begin, type), path
    while True:
        match type:
            case llvm.LLVMStructType():
                _, offsets = struct_layout(type)
                index = max(
                    (n for n, place in enumerate(offsets) if begin + place <= offset), default=None
                )
                if index is None:
                    return
                begin, type = begin + offsets[index], type.types.data[index]
            case llvm.LLVMArrayType():
                size = size_of(type.type)
                index = (offset - begin) // size if size else 0
                if index >= type.size.data:
                    return
                begin, type = begin + index * size, type.type
            case _:
                return
        path = (*path, index)
        yield _Member(begin, type), path


def _read(variable: llvm.AllocaOp) -> tuple[list[_Access], list[AddressOp]]:
    """
    All accesses, and the computations of addresses by constant subscripts. Raises `_WholeError` if the
    address has other uses.
    """
    accesses: list[_Access] = []
    computed: list[AddressOp] = []
    work: list[tuple[SSAValue, int]] = [(variable.res, 0)]
    while work:
        pointer, offset = work.pop()
        for use in pointer.uses:
            op = use.operation
            if isinstance(op, ADDRESS_OPS) and use.index == 0:
                found = _address(variable.elem_type, use, op, offset)
                if isinstance(found, _Access):
                    accesses.append(found)
                else:
                    computed.append(op)
                    work.append((op.result, found))
            else:
                accesses.append(_scalar(variable.elem_type, use, offset))
    return accesses, computed


def _scalar(type: Attribute, use: Use, offset: int) -> _Access:
    op = use.operation
    if not isinstance(op, llvm.LoadOp | llvm.StoreOp) or is_ordered(op):
        raise _WholeError
    if isinstance(op, llvm.StoreOp) and use.index == 0:
        raise _WholeError
    *_, (member, _) = _ways_in(type, offset)
    if member.offset != offset or not _same_bits(member.type, accessed_type(op)):
        raise _WholeError
    return _Access(use, member)


def _same_bits(left: Attribute, right: Attribute) -> bool:
    """Whether two types are equal, or an integer and a floating type of the same size, as in unions."""
    for whole, real in ((left, right), (right, left)):
        if isinstance(whole, IntegerType) and isinstance(real, AnyFloat):
            return whole.width.data == 8 * size_of(real) and not is_long_double(real)
    return left == right


def _address(type: Attribute, use: Use, op: AddressOp, offset: int) -> _Access | int:
    """The access by a computed address, or its distance in bytes if all its subscripts are constant."""
    if isinstance(op, ElementOp) and op.rows:
        raise _WholeError
    indices = list(indices_of(op))
    inside = op.elem_type
    for number, index in enumerate(indices):
        if isinstance(inside, llvm.LLVMStructType) and number:
            assert isinstance(index, int)
            offset += struct_layout(inside)[1][index]
            inside = inside.types.data[index]
            continue
        if number:
            assert isinstance(inside, llvm.LLVMArrayType)
            inside = inside.type
        if isinstance(index, int):
            offset += index * size_of(inside)
            continue
        for member, _ in _ways_in(type, offset):
            array = member.type
            chosen = isinstance(array, llvm.LLVMArrayType) and array.type == inside
            if chosen and member.offset == offset:
                return _Access(use, member, tuple(indices[number:]))
        raise _WholeError
    return offset


def split_variable(variable: llvm.AllocaOp) -> None:
    """Replaces a structure by variables for its members, and these by values where `promote` can."""
    if not isinstance(variable.elem_type, llvm.LLVMStructType) or alloca_count(variable) != 1:
        return
    try:
        accesses, computed = _read(variable)
    except _WholeError:
        return
    wholes = _outermost(variable.elem_type, [access.member for access in accesses])
    begins = [whole.offset for whole in wholes]
    members: dict[_Member, SSAValue] = {}
    for access in accesses:
        whole = wholes[bisect_right(begins, access.member.offset) - 1]
        if whole not in members:
            members[whole] = _declare(variable, whole, access)
        _redirect(access, whole, members[whole])
    for op in reversed(computed):
        erase(op)
    erase(variable)
    for member in members.values():
        assert isinstance(member.owner, llvm.AllocaOp)
        _promote(member.owner)


def _outermost(type: Attribute, members: Sequence[_Member]) -> list[_Member]:
    """
    The members that are in no other one, in the order of memory. (A structure and its only member have one
    place and one size: their order is that of nesting.)
    """

    def place(member: _Member) -> tuple[int, int]:
        return member.offset, [each for each, _ in _ways_in(type, member.offset)].index(member)

    found: list[_Member] = []
    for member in sorted(set(members), key=place):
        if not found or not found[-1].contains(member):
            found.append(member)
    return found


def _declare(variable: llvm.AllocaOp, member: _Member, access: _Access) -> SSAValue:
    hint = access.use.operation.operands[access.use.index].name_hint
    return Cursor.before(variable).value(
        llvm.AllocaOp(variable.size, member.type, alignment=layout_of(member.type).align), hint
    )


def _redirect(access: _Access, whole: _Member, variable: SSAValue) -> None:
    """Makes an access one to the variable for `whole`, which contains its member."""
    op = access.use.operation
    path = next(
        path
        for member, path in _ways_in(whole.type, access.member.offset - whole.offset)
        if member.type == access.member.type
    )
    at = Cursor.before(op)
    if isinstance(op, ADDRESS_OPS):
        steps = (0, *path, *access.chosen)
        new = at.value(ElementOp(variable, steps, whole.type), op.result.name_hint)
        op.result.replace_all_uses_with(new)
        erase(op)
    else:
        hint = op.operands[access.use.index].name_hint
        place = at.value(ElementOp(variable, (0, *path), whole.type), hint) if path else variable
        op.operands[access.use.index] = place
        _convert(op, access.member.type)


def _convert(op: Operation, type: Attribute) -> None:
    """Makes a load or store of a number one of `type`, which has the same bits."""
    if isinstance(op, llvm.StoreOp) and op.value.type != type:
        op.operands[0] = Cursor.before(op).value(arith.BitcastOp(op.value, type))
    elif isinstance(op, llvm.LoadOp) and op.dereferenced_value.type != type:
        at = Cursor.before(op)
        loaded = at.load(op.ptr, type, op.dereferenced_value.name_hint)
        number = at.value(arith.BitcastOp(loaded, op.dereferenced_value.type))
        op.dereferenced_value.replace_all_uses_with(number)
        erase(op)


def _promote(variable: llvm.AllocaOp) -> None:
    """
    Replaces a scalar by its values, within the innermost block that contains all its uses, or where it is
    declared.
    """
    home, declared = _common_block(variable), variable.parent_block()
    if home is not None and home is not declared:
        assert home.first_op is not None
        after = variable.next_op
        variable.detach()
        home.insert_op_before(variable, home.first_op)
        if promote(variable):
            return
        variable.detach()
        assert after is not None and declared is not None
        declared.insert_op_before(variable, after)
    promote(variable)


def _common_block(variable: llvm.AllocaOp) -> Block | None:
    """The innermost block that contains all uses of a variable; None if it has none."""
    common: list[Block] | None = None
    for use in variable.res.uses:
        chain: list[Block] = []
        block = use.operation.parent_block()
        while block is not None:
            chain.append(block)
            parent = block.parent_op()
            block = None if parent is None else parent.parent_block()
        chain.reverse()
        if common is None:
            common = chain
        else:
            same = 0
            for mine, other in zip(common, chain, strict=False):
                if mine is not other:
                    break
                same += 1
            common = common[:same]
    return common[-1] if common else None
