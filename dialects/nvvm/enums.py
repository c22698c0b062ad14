"""Attributes that are a word in angle brackets, as upstream prints them: `#nvvm.mem_scope<gpu>`."""

# pyright: reportAttributeAccessIssue=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false
from __future__ import annotations

from typing import Any

from xdsl.parser import AttrParser
from xdsl.printer import Printer


class InAngleBrackets:
    """Of an `EnumAttribute`, before it among the bases: its word is in angle brackets."""

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            super().print_parameter(printer)

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Any:
        with parser.in_angle_brackets():
            return super().parse_parameter(parser)
