"""
Where iterations of a loop use the value of a variable that the loop reduces, for more than to update it: they
see a part of the result, which depends on how iterations are shared out (OpenACC 3.4, 2.9.11).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import llvm, scf
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from .callees import is_harmless


def use_of_partial_sum(accesses: Sequence[Operation]) -> Operation | None:
    """
    A load of a reduced variable, of all that a loop does with it (`accesses`), whose value does not only go
    into the variable: but to other memory, into a call, or into what decides about those.
    """
    own = set(accesses)
    return next(
        (op for op in accesses if isinstance(op, llvm.LoadOp) and _leaves(op, own)),
        None,
    )


def _leaves(load: llvm.LoadOp, own: set[Operation]) -> bool:
    work: list[SSAValue] = list(load.results)
    seen = set(work)
    while work:
        for use in work.pop().uses:
            op = use.operation
            if op in own:
                continue
            results = list(op.results)
            if isinstance(op, scf.YieldOp):
                parent = op.parent_op()
                results = list(parent.results) if isinstance(parent, scf.IfOp) else []
            elif isinstance(op, scf.IfOp):
                if any(_has_effect(inner, own) for inner in op.walk()):
                    return True
            elif _has_effect(op, own):
                return True
            new = [value for value in results if value not in seen]
            seen.update(new)
            work += new
    return False


def _has_effect(op: Operation, own: set[Operation]) -> bool:
    """Whether an operation does something that shows, other than to the variable."""
    if op in own or isinstance(op, scf.IfOp) or op.has_trait(IsTerminator):
        return False
    if isinstance(op, llvm.CallOp):
        return not is_harmless(op)
    return isinstance(op, llvm.StoreOp) or op.name.startswith("acc.atomic")
