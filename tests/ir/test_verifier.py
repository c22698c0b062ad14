"""The verifier of `--verify-each` refuses what changes after it was verified."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.verifier import Verifier
from xdsl.dialects import arith, llvm, scf
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, StringAttr, i32
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

TEXT = """
llvm.func @f(%n: i32, %t: i1, %wide: i64) {
  %a = arith.addi %n, %n : i32
  %b = scf.if %t -> (i32) { scf.yield %a : i32 } else { scf.yield %n : i32 }
  llvm.return
}
"""


def _first(module: ModuleOp, kind: type) -> object:
    return next(op for op in module.walk() if isinstance(op, kind))


def _operand(module: ModuleOp) -> None:
    function = _first(module, llvm.FuncOp)
    assert isinstance(function, llvm.FuncOp)
    add = _first(module, arith.AddiOp)
    assert isinstance(add, arith.AddiOp)
    add.operands[0] = function.body.block.args[2]


def _property(module: ModuleOp) -> None:
    add = _first(module, arith.AddiOp)
    assert isinstance(add, arith.AddiOp)
    add.properties["overflowFlags"] = StringAttr("none")


def _terminator(module: ModuleOp) -> None:
    yielding = _first(module, scf.YieldOp)
    assert isinstance(yielding, scf.YieldOp)
    yielding.detach()
    yielding.erase()


@pytest.mark.parametrize("change", [_operand, _property, _terminator])
def test_a_change_is_refused(change: Callable[[ModuleOp], None]) -> None:
    module = Parser(make_context(), TEXT).parse_module()
    verifier = Verifier()
    verifier.verify(module)
    verifier.verify(module)
    change(module)
    with pytest.raises((VerifyException, ValueError)):
        verifier.verify(module)


def test_a_right_change_is_accepted() -> None:
    module = Parser(make_context(), TEXT).parse_module()
    verifier = Verifier()
    verifier.verify(module)
    add = _first(module, arith.AddiOp)
    assert isinstance(add, arith.AddiOp)
    one = arith.ConstantOp(IntegerAttr(1, i32))
    block = add.parent_block()
    assert block is not None
    block.insert_op_before(one, add)
    add.operands[1] = one.result
    verifier.verify(module)
