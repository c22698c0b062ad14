"""
Assembly formats of operations, parsed when an operation is first printed or read in its own syntax. A
compilation does neither, and parsing 280 formats would take an eighth of the time of a small one.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from xdsl.irdl import OpDef, PyRDLOpDefinitionError
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.utils.exceptions import ParseError

if TYPE_CHECKING:
    from xdsl.irdl import IRDLOperation
    from xdsl.parser import Parser
    from xdsl.printer import Printer


class LateFormat:
    """The format `text` of the operations defined by `op_def`, parsed on first use."""

    def __init__(self, text: str, op_def: OpDef):
        self._text = text
        self._op_def = op_def

    @cached_property
    def program(self) -> FormatProgram:
        """The parsed format. Raises `PyRDLOpDefinitionError` where xDSL rejects the text."""
        try:
            return _parsed(self._text, self._op_def)
        except ParseError as e:
            raise PyRDLOpDefinitionError(
                "Error during the parsing of the assembly format: ", e.args
            ) from e

    def parse(self, parser: Parser, op_type: type[IRDLOperation]) -> IRDLOperation:
        return self.program.parse(parser, op_type)

    def print(self, printer: Printer, op: IRDLOperation) -> None:
        self.program.print(printer, op)


_parsed = FormatProgram.from_str


def install() -> None:
    """Makes operation classes that are defined from now on use `LateFormat`."""
    setattr(FormatProgram, "from_str", staticmethod(LateFormat))  # noqa: B010
