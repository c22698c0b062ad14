"""
The operation of `accx` that tells the simulator what to look at: scalars that a partitioned loop
assigns although their copy is the gang's or worker's (`passes/convert_acc_compute_to_gpu/watches.py`).
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
    Says what happens here. `begin`, `iteration` and `end` are of the watched loop `number`; `read` is
    of the watched scalar `number`, after a load of it; `write` of its `copy`, before `value` is stored
    there. `about` is the same for all operations of a loop or scalar:

    - of a loop: `line`; `inside`, whose iteration the body is (`gang`, `worker` or `thread`);
      `shared_by`, in what the iterations are distributed (`launch`, `gang` or `worker`);
      `variables`, the numbers of the scalars it assigns;
    - of a scalar: `name`; `what`, its copy in words, with the line; `loops`, the numbers of the loops
      that assign it; `remedies`, for each of them.
    """

    name = "accx.watch"

    stored = var_operand_def()
    """Of a `write`: the copy's address and the value."""
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
            raise VerifyException(f"'{self.event.data}' is no event to watch")
        if len(self.stored) != (2 if self.event.data == "write" else 0):
            raise VerifyException("only a write has operands: the copy's address and the value")


OPERATIONS = (WatchOp,)
