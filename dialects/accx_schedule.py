"""
The schedule of a loop beyond the levels that `acc.loop` itself names: `accx.schedule`, written by
`schedule-loops` and updated by later passes (`passes/ir/ops/schedules.py`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import BoolAttr, IntAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

GANG_DIMENSIONS = 3
"""The dimensions of a grid."""
_NUMBERS = ("gang_dim", "elements")
_FLAGS = ("covers", "by_clause")


@irdl_attr_definition
class ScheduleAttr(ParametrizedAttribute):
    """
    `gang_dim`: the dimension of the grid, from 1, over which a gang loop is distributed. `elements`:
    iterations per thread of a loop over lanes, or rows per gang of a gang loop around a loop over lanes.
    `covers`: the launch covers the iterations, so that a guard suffices instead of a loop over tiles.
    `by_clause`: the levels are those of the user's clauses.

    Numbers that are 1 and flags that are not set are omitted:
    `#accx.schedule<gang_dim = 2, elements = 4, covers, by_clause>`
    """

    name = "accx.schedule"

    gang_dim: IntAttr
    elements: IntAttr
    covers: BoolAttr
    by_clause: BoolAttr

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        numbers = dict.fromkeys(_NUMBERS, 1)
        flags = dict.fromkeys(_FLAGS, False)

        def item() -> None:
            name = parser.parse_identifier()
            if name in flags:
                flags[name] = True
            elif name in numbers:
                parser.parse_punctuation("=")
                numbers[name] = parser.parse_integer(allow_boolean=False)
            else:
                parser.raise_error(
                    f"#accx.schedule: expected one of {', '.join((*_NUMBERS, *_FLAGS))}, found {name}"
                )

        parser.parse_comma_separated_list(parser.Delimiter.ANGLE, item)
        return [
            *(IntAttr(number) for number in numbers.values()),
            *(BoolAttr.from_bool(flag) for flag in flags.values()),
        ]

    def print_parameters(self, printer: Printer) -> None:
        numbers = zip(_NUMBERS, (self.gang_dim, self.elements), strict=True)
        flags = zip(_FLAGS, (self.covers, self.by_clause), strict=True)
        items = [f"{name} = {number.data}" for name, number in numbers if number.data != 1]
        items += [name for name, flag in flags if flag]
        printer.print_string(f"<{', '.join(items)}>")

    def verify(self) -> None:
        if not 1 <= self.gang_dim.data <= GANG_DIMENSIONS:
            raise VerifyException(
                f"#accx.schedule: expected gang_dim 1 to {GANG_DIMENSIONS}, found {self.gang_dim.data}"
            )
        if self.elements.data < 1:
            raise VerifyException(
                f"#accx.schedule: expected at least 1 of elements, found {self.elements.data}"
            )
