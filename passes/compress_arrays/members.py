"""
Accesses of an array of structures that is a structure of arrays on the device.

Member m of element i lies at `device + m · plane + i · size`: the numbers of one member are neighbours,
so that lanes with neighbouring elements read them together. `plane`, the bytes from one member's array
to the next, comes with the coefficients. Each member has a range, and so coefficients, of its own.
"""

from __future__ import annotations

from xdsl.dialects import acc, llvm
from xdsl.ir import SSAValue, Use

from ..ir.building import Cursor, erase
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
        """Rewrites every access through `device`; raises `CompileError` for what cannot be."""
        self._device = device
        self._arrays[0] = device
        for use in list(device.uses):
            if use.operation is not self.construct and self._inside(use.operation):
                self._element(use)

    def _array(self, member: int) -> SSAValue:
        """The address of a member's array, computed at the start of the construct."""
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
        """The code of a member."""
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
        gep = use.operation
        refusal = self._refusal(
            gep,
            f"is a structure of arrays on the device, and is used by '{gep.name}'",
            "access its members by their names",
        )
        if not isinstance(gep, llvm.GEPOp) or use.index != 0:
            raise refusal
        if not isinstance(gep.elem_type, llvm.LLVMStructType) or len(gep.ssa_indices) > 1:
            raise refusal
        indices = list(gep.rawConstantIndices.iter_values())
        if len(indices) == 2 and (gep.ssa_indices or indices[1] >= 0):
            self._member(gep, gep, indices[1])
            return
        if len(indices) != 1:
            raise refusal
        for inner in list(gep.result.uses):
            op = inner.operation
            if isinstance(op, llvm.GEPOp) and inner.index == 0 and not op.ssa_indices:
                selected = list(op.rawConstantIndices.iter_values())
                if len(selected) == 2 and selected[0] == 0 and op.elem_type == gep.elem_type:
                    self._member(op, gep, selected[1])
                    continue
            raise refusal
        erase(gep)

    def _member(self, place: llvm.GEPOp, element: llvm.GEPOp, member: int) -> None:
        """Replaces `place`, the address of a member of what `element` selects."""
        at = Cursor.before(place)
        if element.ssa_indices:
            index = element.ssa_indices[0]
        else:
            index = at.i64(next(iter(element.rawConstantIndices.iter_values())))
        gep = llvm.GEPOp.from_mixed_indices(
            self._array(member), [index], self.code.memory_type, inbounds=True
        )
        address = at.value(gep, place.result.name_hint)
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
