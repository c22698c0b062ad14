"""
The operation of `accx` by which the simulator observes scalars that a partitioned loop assigns although
their copy belongs to the gang or worker (`passes/convert_acc_compute_to_gpu/watches.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr, i32
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, var_operand_def
from xdsl.utils.exceptions import VerifyException

EVENTS = ("begin", "iteration", "end", "read", "write")


@irdl_op_definition
class WatchOp(IRDLOperation):
    """
    Reports an event here. `begin`, `iteration` and `end` concern the watched loop `number`; `read` the
    watched scalar `number`, after a load of it; `write` its `copy`, before `value` is stored there. `about`
    is equal in all operations of a loop or scalar:

    - of a loop: `line`; `inside`, which of `gang`, `worker` or `thread` runs an iteration; `shared_by`, the
      threads over which iterations are distributed (those of the `launch`, a `gang` or a `worker`);
      `variables`, the numbers of the scalars it assigns;
    - of a scalar: `name`; `what`, a description of its copy with the line; `loops`, the numbers of the
      loops that assign it; `remedies`, for each of them.
    """

    name = "accx.watch"

    stored = var_operand_def()
    """The operands of a `write`: the copy's address and the value."""
    event = prop_def(StringAttr)
    number = prop_def(IntegerAttr)
    about = prop_def(DictionaryAttr)

    assembly_format = "$event $number (`of` $stored^ `:` type($stored))? $about attr-dict"

    def __init__(
        self, event: str, number: int, about: DictionaryAttr, stored: Sequence[SSAValue] = ()
    ):
        super().__init__(
            operands=[stored],
            properties={
                "event": StringAttr(event),
                "number": IntegerAttr(number, i32),
                "about": about,
            },
        )

    def verify_(self) -> None:
        if self.event.data not in EVENTS:
            raise VerifyException(f"expected one of {', '.join(EVENTS)}, found {self.event.data}")
        if len(self.stored) != (2 if self.event.data == "write" else 0):
            raise VerifyException(
                "expected operands for a write only: the copy's address and the value"
            )


OPERATIONS = (WatchOp,)
