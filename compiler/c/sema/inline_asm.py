"""
Inline assembly of GNU C in LLVM's form, for host code on x86-64 and AArch64.

LLVM numbers the results first and then the inputs. A result is a value, which is then stored to the
output's lvalue; `+` makes a result and an input in the same register. An operand in memory is passed as an
address in a register, and the template gets brackets around it. Names of registers are the same in LLVM and
gcc.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...base.diagnostics import SourceLoc, error
from ...base.machine import is_foreign, target_machine
from ..ast import AddressOf, Asm, Expr, IntConst, VarRef
from ..types import CType, FloatType, IntType, PointerType, pointer_to
from .constants import integer_value
from .conversions import mark_address_taken, rvalue
from .literals import plain_text
from .temporaries import Temporary

if TYPE_CHECKING:
    from ..asm_syntax import AsmOperand, AsmStatement
    from .unit import Unit

_X86_REGISTERS = {
    "a": "ax",
    "b": "bx",
    "c": "cx",
    "d": "dx",
    "S": "si",
    "D": "di",
    "t": "st",
    "u": "st(1)",
}
_CONSTANTS = frozenset("inIJKLMNOe")
_IGNORED = re.compile(r"[%*?!#^$]")
_REFERENCE = re.compile(r"%(?:(%|=|[{|}])|([a-zA-Z]?)(?:(\d+)|\[(\w+)\]))")
_ALTERNATIVES = re.compile(r"(?<!%)\{([^|{}]*)(?:\|[^{}]*)?\}")


@dataclass
class _Operands:
    """LLVM's operands so far; `places` tells for each of gcc's operands whether it is a result, its number,
    and whether it is in memory."""

    outputs: list[str] = field(default_factory=list[str])
    inputs: list[str] = field(default_factory=list[str])
    targets: list[Expr] = field(default_factory=list[Expr])
    types: list[CType] = field(default_factory=list[CType])
    values: list[Expr] = field(default_factory=list[Expr])
    places: list[tuple[bool, int, bool]] = field(default_factory=list[tuple[bool, int, bool]])

    def number(self, operand: int) -> int:
        """LLVM's number of one of gcc's operands."""
        is_result, number, _ = self.places[operand]
        return number if is_result else len(self.outputs) + number

    def put(self, constraint: str, value: Expr) -> None:
        self.inputs.append(constraint)
        self.values.append(value)


class AsmChecker:
    """Checks `asm` statements of a unit."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._is_x86 = target_machine() == "x86_64"

    def check(self, node: AsmStatement) -> Expr:
        """The statement as an expression without value. Raises `CompileError` for assembly that LLVM cannot
        express."""
        loc = self.unit.loc(node)
        if is_foreign():
            raise error(
                loc,
                "assembly is not supported when compiling for another processor",
                "compile this file on a computer with that processor",
            )
        self.unit.tree.has_assembly = True
        operands = _Operands()
        self._held = Temporary(self.unit, loc)
        shared: list[tuple[int, Expr]] = []
        names: dict[str, int] = {}
        for index, operand in enumerate((*node.outputs, *node.inputs)):
            if operand.name is not None:
                names[operand.name] = index
        for operand in node.outputs:
            self._output(operand, operands, shared)
        for operand in node.inputs:
            self._input(operand, operands, names)
        for number, value in shared:
            operands.put(str(number), value)
        clobbers = [plain_text(c.value, self.unit.loc(c)) for c in node.clobbers]
        if any(in_memory for _, _, in_memory in operands.places):
            clobbers.append("memory")
        made = Asm(
            loc=loc,
            template=self._template(plain_text(node.template.value, loc), operands, names, loc),
            constraints=",".join([*operands.outputs, *operands.inputs, *self._clobbers(clobbers)]),
            is_volatile=node.is_volatile or not node.outputs or "memory" in clobbers,
            outputs=operands.targets,
            output_types=operands.types,
            inputs=operands.values,
        )
        return self._held.result(made) if self._held.body else made

    def _output(
        self, operand: AsmOperand, operands: _Operands, shared: list[tuple[int, Expr]]
    ) -> None:
        text, loc = self._constraint(operand)
        place = self._place(operand, loc)
        if text[:1] not in ("=", "+"):
            raise error(loc, f"the constraint '{text}' of an output", "begin it with '=' or '+'")
        early = "&" if "&" in text else ""
        kind = self._kind(text[1:].replace("&", ""), place, loc)
        address: Expr = AddressOf(type=pointer_to(place.type), loc=loc, operand=place)
        if text[0] == "+" and not isinstance(place, VarRef):
            read = self._held.hold(address)  # the address is used twice
            address, place = read(), self._held.deref(read())
        if kind == "m":
            operands.places.append((False, len(operands.inputs), True))
            operands.put("r", address)
            return
        operands.places.append((True, len(operands.outputs), False))
        if text[0] == "+":
            shared.append((len(operands.outputs), rvalue(place)))
        operands.outputs.append(f"={early}{kind}")
        operands.targets.append(address)
        operands.types.append(place.type)

    def _input(self, operand: AsmOperand, operands: _Operands, names: dict[str, int]) -> None:
        text, loc = self._constraint(operand)
        same = re.fullmatch(r"%?(\d+)|\[(\w+)\]", text)
        if same is not None:
            index = int(same.group(1)) if same.group(1) else names.get(same.group(2), -1)
            if not 0 <= index < len(operands.places) or not operands.places[index][0]:
                raise error(
                    loc, f"'{text}' is not an output in a register", "name one of the outputs"
                )
            value = self._value(operand, loc)
            operands.places.append((False, len(operands.inputs), False))
            operands.put(str(operands.number(index)), value)
            return
        checked = self.unit.expressions.check(operand.expr)
        kind = self._kind(text, checked, loc)
        operands.places.append((False, len(operands.inputs), kind == "m"))
        if kind == "m":
            place = self._place(operand, loc)
            operands.put("r", AddressOf(type=pointer_to(place.type), loc=loc, operand=place))
            return
        value = self._value(operand, loc)
        number = integer_value(value)
        if kind in _CONSTANTS and number is not None:
            value = IntConst(type=value.type, loc=value.loc, value=number)
        operands.put(kind, value)

    def _value(self, operand: AsmOperand, loc: SourceLoc) -> Expr:
        value = self.unit.expressions.value(operand.expr)
        if not isinstance(value.type, IntType | FloatType | PointerType):
            raise error(loc, f"an operand of type '{value.type}'", "use a number or a pointer")
        return value

    def _place(self, operand: AsmOperand, loc: SourceLoc) -> Expr:
        place = self.unit.expressions.check(operand.expr)
        if not place.is_lvalue:
            raise error(loc, "this operand is not a variable", "give a variable, element or member")
        mark_address_taken(place)
        return place

    def _constraint(self, operand: AsmOperand) -> tuple[str, SourceLoc]:
        loc = self.unit.loc(operand.constraint)
        first, *_ = plain_text(operand.constraint.value, loc).split(",")  # several alternatives
        return _IGNORED.sub("", first) if not first.startswith("[") else first, loc

    def _kind(self, letters: str, value: Expr, loc: SourceLoc) -> str:
        """LLVM's constraint for an operand: `m` for memory, else a register or a constant."""
        number = integer_value(value) if isinstance(value.type, IntType) else None
        if self._is_x86:
            if "N" in letters and number is not None and 0 <= number < 256:
                return "N"
            for letter in letters:
                if letter in _X86_REGISTERS:
                    return f"{{{_X86_REGISTERS[letter]}}}"
        scalar = isinstance(value.type, IntType | FloatType | PointerType)
        for letter in letters:
            if scalar and letter in ("rqQlRg" if self._is_x86 else "rgz"):
                return "r"
            if scalar and letter in ("xvy" if self._is_x86 else "wx"):
                return letter
        if number is not None and set(letters) & _CONSTANTS:
            return next(letter for letter in letters if letter in _CONSTANTS)
        if set(letters) & set("moVQ") or (not scalar and "g" in letters):
            return "m"
        if "X" in letters and scalar:
            return "r"
        raise error(
            loc,
            f"the constraint '{letters}' is not supported for an operand of type '{value.type}'",
            "use 'r' (a register), 'm' (memory), 'i' (a constant) or a register's letter",
        )

    def _clobbers(self, names: list[str]) -> list[str]:
        flags = ["dirflag", "fpsr", "flags"] if self._is_x86 else ["cc"] if "cc" in names else []
        plain = (name.strip("%") for name in names if name not in ("cc", "redzone"))
        return [f"~{{{name}}}" for name in (*plain, *flags)]

    def _template(
        self, text: str, operands: _Operands, names: dict[str, int], loc: SourceLoc
    ) -> str:
        """LLVM's form of the template: `$` before operands."""

        def replaced(m: re.Match[str]) -> str:
            literal, modifier, digits, name = m.groups()
            if literal is not None:
                return "${:uid}" if literal == "=" else literal
            index = int(digits) if digits is not None else names.get(name, -1)
            if not 0 <= index < len(operands.places):
                raise error(loc, f"the template names operand '{m.group()}', which does not exist")
            number = operands.number(index)
            if operands.places[index][2]:
                return f"(${number})" if self._is_x86 else f"[${number}]"
            return f"${{{number}:{modifier}}}" if modifier else f"${number}"

        if self._is_x86:
            text = _ALTERNATIVES.sub(r"\1", text)
        return _REFERENCE.sub(replaced, text.replace("$", "$$"))
