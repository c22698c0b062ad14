"""
Accesses to an array of structures that is a structure of arrays on the device.

Member m of element i lies at `device + m · plane + i · size`: the numbers of one member are neighbours,
so that lanes with neighbouring elements read them together. `plane`, the bytes from one member's array
to the next, comes with the coefficients. Each member has a range, and so coefficients, of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import acc, llvm
from xdsl.ir import SSAValue, Use

from ...compiler.base.diagnostics import CompileError
from ...dialects.accx_element import ElementOp
from ..ir.ops.acc_ops import is_inside
from ..ir.ops.building import Cursor, erase
from ..ir.values.addresses import ADDRESS_OPS, AddressOp, AddressStep, steps_of
from .element_code import ElementCode
from .rewriting import ArrayRewriter


class MemberRewriter(ArrayRewriter):
    """Rewrites the member accesses of one array in one compute construct."""

    def __init__(self, name: str, code: ElementCode, construct: acc.ParallelOp):
        super().__init__(name, code, construct)
        self._plane = code.coefficients.plane
        self._codes = {0: code}
        self._arrays: dict[int, SSAValue] = {}
        self._device: SSAValue | None = None

    def run(self, device: SSAValue) -> None:
        """
        Rewrites every access through `device`. Raises `CompileError` for a use that cannot be rewritten.
        """
        self._device = device
        self._arrays[0] = device
        for use in list(device.uses):
            if use.operation is not self.construct and is_inside(use.operation, self.construct):
                self._element(use)

    def _array(self, member: int) -> SSAValue:
        """The address of the array of `member`, computed at the start of the construct."""
        known = self._arrays.get(member)
        if known is None:
            first = self.construct.region.block.first_op
            assert first is not None and self._device is not None
            at = Cursor.before(first, self.construct.location)
            distance = at.mul(self._plane, at.i64(member))
            known = at.offset(self._device, distance, f"{self.name}_{member}")
            self._arrays[member] = known
        return known

    def _code(self, member: int) -> ElementCode:
        """The element code of `member`."""
        known = self._codes.get(member)
        if known is None:
            first = self._codes[0]
            device = first.coefficients.device
            known = ElementCode.before(
                self.construct, device, first.packed, self.name, first.number, member
            )
            self._codes[member] = known
        return known

    def _element(self, use: Use) -> None:
        op = use.operation
        refusal = self._refusal(
            op,
            f"is a structure of arrays on the device, and is used by '{op.name}'",
            "access its members by their names",
        )
        if not isinstance(op, ADDRESS_OPS) or use.index != 0:
            raise refusal
        first, *members = steps_of(op)
        if not isinstance(first.type, llvm.LLVMStructType):
            raise refusal
        if members:
            self._member(op, first, members, refusal)
            return
        for inner in list(op.result.uses):
            below = inner.operation
            if not isinstance(below, ADDRESS_OPS) or inner.index != 0:
                raise refusal
            whole, *members = steps_of(below)
            if whole.index != 0 or whole.type != first.type:
                raise refusal
            self._member(below, first, members, refusal)
        erase(op)

    def _member(
        self,
        place: AddressOp,
        element: AddressStep,
        members: Sequence[AddressStep],
        refusal: CompileError,
    ) -> None:
        """Replaces `place`, the address of a member of `element` of the array."""
        if len(members) != 1 or not isinstance(members[0].index, int):
            raise refusal
        member = members[0].index
        at = Cursor.before(place)
        array = ElementOp(self._array(member), [element.index], self.code.memory_type)
        address = at.value(array, place.result.name_hint)
        place.result.replace_all_uses_with(address)
        erase(place)
        self.code = self._code(member)
        for use in list(address.uses):
            if not isinstance(use.operation, llvm.LoadOp | llvm.StoreOp):
                raise self._refusal(
                    use.operation,
                    "has the address of a member taken",
                    "access the member by its name",
                )
            self._use(use)
