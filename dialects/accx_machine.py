"""
The target machine of a module: `accx.machine`, an attribute of the module that passes read
(`passes/ir/ops/machine.py`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import ArrayAttr, IntAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

TARGETS = ("nvptx", "host")
FLAGS = ("simulated", "fast_math", "check_cache", "as_written", "no_fma", "managed")


@irdl_attr_definition
class MachineAttr(ParametrizedAttribute):
    """
    The target (one of `TARGETS`), the compute capability of the GPU (90 for 9.0; 0: any), and those of
    `FLAGS` that hold, in their order: simulated GPU; reassociation and approximate functions allowed;
    accesses outside of cached sections are reported; clause sizes are kept as written; multiplications and
    additions are never fused; host and device share memory.

    `#accx.machine<nvptx, 90>`, `#accx.machine<host, 0, fast_math>`
    """

    name = "accx.machine"

    target: StringAttr
    sm: IntAttr
    flags: ArrayAttr[StringAttr]

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> list[Attribute]:
        with parser.in_angle_brackets():
            target = parser.parse_identifier()
            parser.parse_punctuation(",")
            sm = parser.parse_integer(allow_boolean=False, allow_negative=False)
            flags: list[StringAttr] = []
            while parser.parse_optional_punctuation(","):
                flags.append(StringAttr(parser.parse_identifier()))
        return [StringAttr(target), IntAttr(sm), ArrayAttr(flags)]

    def print_parameters(self, printer: Printer) -> None:
        flags = "".join(f", {flag.data}" for flag in self.flags)
        printer.print_string(f"<{self.target.data}, {self.sm.data}{flags}>")

    def verify(self) -> None:
        if self.target.data not in TARGETS:
            raise VerifyException(
                f"#accx.machine: expected one of {', '.join(TARGETS)}, found {self.target.data}"
            )
        flags = [flag.data for flag in self.flags]
        if flags != [flag for flag in FLAGS if flag in flags]:
            raise VerifyException(
                f"#accx.machine: expected some of {', '.join(FLAGS)} in this order, found"
                f" {', '.join(flags)}"
            )
