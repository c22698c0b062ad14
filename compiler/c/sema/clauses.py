"""
Resolves names and expressions in clauses, in the scope at the directive.

A clause argument becomes a typed value (constants folded); the `base` of a list item stays an
lvalue. Sections are checked against the item's type: a length may only be left out where the
declaration gives it (OpenACC 3.4, 2.7.1).
"""

from __future__ import annotations

from dataclasses import replace

from ...base.diagnostics import SourceLoc, error
from ...directives.records import (
    Clause,
    Directive,
    DirectiveKind,
    ExprSlot,
    ReductionClause,
    Section,
    VarListClause,
    VarRefItem,
)
from ..ast import Expr, IntConst, SizeofVla, Storage, VarDecl, VarRef
from ..parse import parse_expression
from ..types import (
    CHAR,
    LONG,
    ArrayType,
    CType,
    IntType,
    PointerType,
    QualType,
    RecordType,
    VoidType,
)
from .casts import bit_field_width
from .constants import (
    constant_value,
    slot_value,
)
from .conversions import rvalue
from .data_clauses import merge_data_clauses
from .section_rows import make_rows_whole
from .unit import Unit

# A pointer in these clauses is meant as data, so a missing section is probably a mistake.
_MAPS_DATA = frozenset({"copy", "copyin", "copyout", "create", "device", "self"})

# In these clauses, mapping more of an array than the program requests has no observable effect.
_KEEPS_ROWS = frozenset({"copy", "copyin", "create", "present", "no_create", "delete"})


class ClauseResolver:
    """Resolves the `ExprSlot`s of a directive in the unit's current scope."""

    def __init__(self, unit: Unit) -> None:
        self.unit = unit
        self._in_declare: set[VarDecl] = set()
        """The variables that `declare` directives have named so far."""

    def resolve(self, directive: Directive) -> None:
        """Give every expression of `directive` its typed form; clauses with mistakes are left out."""
        sound: list[Clause] = []
        for clause in directive.clauses:
            with self.unit.recovery.going_on():
                for part in clause.parts():
                    if isinstance(part, ExprSlot):
                        self.value(part)
                    else:
                        self._item(part, clause, directive)
                sound.append(clause)
        directive.clauses = sound
        merge_data_clauses(directive, self.unit.sink)

    def _check(self, slot: ExprSlot) -> Expr:
        node = parse_expression(slot.text, slot.loc, self.unit.scope.is_typedef, c23=self.unit.c23)
        return self.unit.expressions.check(node)

    def value(self, slot: ExprSlot) -> Expr:
        """A clause argument as a value; constants are folded."""
        expr = rvalue(self._check(slot))
        if isinstance(expr.type, VoidType | RecordType):
            raise error(slot.loc, f"'{slot.text.strip()}' has type '{expr.type}'", "write a number")
        value = constant_value(expr) if isinstance(expr.type, IntType) else None
        if isinstance(value, int):
            expr = IntConst(type=expr.type, loc=expr.loc, value=value)
        slot.expr = expr
        return expr

    # List items -------------------------------------------------------------------------------

    def _item(self, item: VarRefItem, clause: Clause, directive: Directive) -> None:
        base = self._check(item.base)
        if not base.is_lvalue:
            raise error(
                item.loc,
                f"'{item.name}' in '{clause.spelling}' is not a variable",
                "name a variable, array or member",
            )
        if bit_field_width(base) is not None:
            raise error(
                item.loc,
                f"bit-field '{item.name}' in '{clause.spelling}'",
                "name the whole structure",
            )
        if directive.kind is DirectiveKind.DECLARE and not isinstance(base, VarRef):
            raise error(
                item.loc,
                f"'{item.name}' in 'declare' is not a plain variable",
                "name the variable itself",
            )
        if directive.kind is DirectiveKind.DECLARE and isinstance(base, VarRef):
            self._in_declare.add(base.decl)
        item.base.expr = base
        self._sections(item, base.type, clause)
        if clause.name in _KEEPS_ROWS and make_rows_whole(item, base.type):
            self.unit.sink.warn(
                item.loc,
                f"the section of '{item.name}' has parts of rows, which are not contiguous (2.7.1):"
                f" '{clause.spelling}' takes whole rows",
                f"write {item.name}[…][0:n] with the length of a row",
            )
        if item.sections and isinstance(base, VarRef) and directive.kind is DirectiveKind.DECLARE:
            self._declared_section(item, base, clause)
        if item.sections and directive.kind is DirectiveKind.HOST_DATA:
            self.unit.sink.warn(
                item.loc,
                f"a section of '{item.name}' in 'use_device', which takes names of variables (2.8): the"
                f" address of '{item.name}' on the device is meant",
                f"write use_device({item.name})",
            )
        if not item.sections:
            self._whole(item, base.type, clause, directive)

    def _declared_section(self, item: VarRefItem, base: VarRef, clause: Clause) -> None:
        """
        Accepts sections in `declare`, which takes only names (2.13), as other compilers do, with a warning:
        a section of a local variable holds until its block ends; an array with static storage is declared
        as a whole.
        """
        if base.decl.storage is not Storage.AUTO and isinstance(base.type, PointerType):
            raise error(
                item.loc,
                f"a section of '{item.name}' in 'declare': what a global pointer points to is not known"
                " before the program runs",
                f"write #pragma acc enter data {clause.spelling}(…) where it has its value",
            )
        meaning = "it is mapped until the end of the block"
        if base.decl.storage is not Storage.AUTO or clause.name in ("deviceptr", "link"):
            item.sections.clear()
            meaning = f"all of '{item.name}' is meant"
        self.unit.sink.warn(
            item.loc,
            f"a section of '{item.name}' in 'declare', which takes names of variables: {meaning}",
            "use a data construct" if item.sections else f"write {clause.spelling}({item.name})",
        )

    def _whole(self, item: VarRefItem, t: CType, clause: Clause, directive: Directive) -> None:
        """An item without sections: the whole variable."""
        if isinstance(t, ArrayType) and not t.is_complete:
            raise error(
                item.loc,
                f"'{item.name}' is an array of unknown size",
                f"write {item.name}[0:n] with the number of elements",
            )
        maps = isinstance(clause, VarListClause) and clause.name in _MAPS_DATA
        if maps and isinstance(t, PointerType) and directive.kind is not DirectiveKind.DECLARE:
            base = item.base.expr
            if isinstance(base, VarRef) and base.decl in self._in_declare:
                return  # the pointer itself is the data
            if self._as_declared(item) or self._as_structure(item, t, clause, directive):
                return
            self.unit.sink.warn(
                item.loc,
                f"'{item.name}' is a pointer: '{clause.spelling}' moves the pointer, not its data",
                f"write {item.name}[0:n] with the number of elements",
            )

    @staticmethod
    def _as_declared(item: VarRefItem) -> bool:
        """
        Gives a parameter that is declared as an array the section of its declaration, as other compilers
        do: C passes `double a[n]` as a pointer, but a data clause means its elements.
        """
        base = item.base.expr
        declared = base.decl.declared if isinstance(base, VarRef) else None
        if declared is None:
            return False
        bytes_of_chars = replace(declared, element=QualType(CHAR))
        length = (
            IntConst(type=LONG, loc=item.loc, value=declared.length)
            if isinstance(declared.length, int)
            else SizeofVla(type=LONG, loc=item.loc, of=bytes_of_chars)
        )
        item.sections.append(Section(item.loc, length=ExprSlot("its length", item.loc, length)))
        return True

    def _as_structure(
        self, item: VarRefItem, t: PointerType, clause: Clause, directive: Directive
    ) -> bool:
        """
        Gives a pointer to a structure the section [0:1], with a warning, as other compilers do: the
        structure is meant, to whose copy the members' own data can be attached. The pointer itself is meant
        if a section or `attach` in the same directive names it, too (2.6.8).
        """
        pointee = t.pointee.type
        if not isinstance(pointee, RecordType) or not pointee.is_complete:
            return False
        for other in directive.clauses:
            same = [i for i in other.parts() if isinstance(i, VarRefItem) and i.name == item.name]
            if any(i is not item and (i.sections or other.name == "attach") for i in same):
                return False
        one = IntConst(type=LONG, loc=item.loc, value=1)
        item.sections.append(Section(item.loc, length=ExprSlot("1", item.loc, one)))
        self.unit.sink.warn(
            item.loc,
            f"'{item.name}' points to a structure: '{clause.spelling}' takes that structure,"
            f" {item.name}[0:1], not the pointer",
            f"write {item.name}[0:1], or {item.name}[0:n] for an array of n structures",
        )
        return True

    def _sections(self, item: VarRefItem, t: CType, clause: Clause) -> None:
        if len(item.sections) == 1 and not isinstance(t, ArrayType | PointerType):
            self._lone_variable(item, t)
        text = item.name
        for section in item.sections:
            if isinstance(t, ArrayType | PointerType):
                self._section(section, t, text)
                if section.is_index:
                    self.unit.lone_subscripts.note(item, section, t, clause)
                t = t.element.type if isinstance(t, ArrayType) else t.pointee.type
            else:
                raise error(
                    section.loc,
                    f"'{text}' has type '{t}', which has no elements",
                    "remove the '[…]'",
                )
            if not t.is_complete and not isinstance(t, VoidType):
                raise error(
                    section.loc,
                    f"the elements of '{text}' have incomplete type '{t}'",
                    "define the type first",
                )
            text += "[…]"
        if isinstance(t, VoidType) and not isinstance(clause, ReductionClause):
            raise error(
                item.loc,
                f"'{item.name}' points to void: the size of its elements is not known",
                "cast it to a typed pointer variable first",
            )

    def _lone_variable(self, item: VarRefItem, t: CType) -> None:
        """Accepts `x[0:1]` for a variable that is not an array as `x`, as other compilers do."""
        (section,) = item.sections
        if section.is_index or section.length is None:
            return
        for slot in (section.lower, section.length):
            if slot is not None:
                self.value(slot)
        if slot_value(section.lower, 0) == 0 and slot_value(section.length, None) == 1:
            item.sections.clear()
            self.unit.sink.warn(
                section.loc,
                f"'{item.name}' has type '{t}', which has no elements: all of it is meant",
                "remove the '[…]'",
            )

    def _section(self, section: Section, t: ArrayType | PointerType, text: str) -> None:
        """One bracket: integer expressions, a length where it is needed, inside a known extent."""
        for slot in (section.lower, section.length, section.minimum, section.maximum):
            if slot is None:
                continue
            expr = self.value(slot)
            is_bound = slot is section.minimum or slot is section.maximum
            if not is_bound and not isinstance(expr.type, IntType):
                raise error(
                    slot.loc,
                    f"a section bound of '{text}' has type '{expr.type}'",
                    "use an integer",
                )
        if section.is_index:
            return
        extent = t.length if isinstance(t, ArrayType) else None
        if section.length is None and extent is None:
            lower = section.lower.text.strip() if section.lower is not None else "0"
            raise error(
                section.loc,
                f"'{text}' has unknown size: the section needs a length",
                f"write {text}[{lower}:n]",
            )
        self._check_range(section, extent, text)

    def _check_range(self, section: Section, extent: object, text: str) -> None:
        lower, length = slot_value(section.lower, 0), slot_value(section.length, None)
        loc: SourceLoc = section.length.loc if section.length is not None else section.loc
        if length is not None and length < 0:
            raise error(
                loc,
                f"section of '{text}' has negative length {length}",
                "the second number is a length, not an end",
            )
        if not isinstance(extent, int) or lower is None:
            return
        end = lower + (length if length is not None else extent - lower)
        if lower < 0 or end > extent:
            raise error(
                section.loc,
                f"section [{lower}:{end - lower}] of '{text}' is outside its {extent} elements",
                "write [lower:length]; the second number is a length, not an end",
            )
