"""Uses of values before or outside of their definitions."""

from __future__ import annotations

import pytest
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.definitions import misplaced_uses
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

TEXT = """
llvm.func @f(%n: i32, %c: i1) {
  %a = arith.addi %n, %n : i32
  scf.if %c {
    %b = arith.muli %a, %n : i32
    scf.yield
  } else {
    %d = arith.subi %n, %a : i32
    scf.yield
  }
  cf.br ^end(%a : i32)
^end(%v: i32):
  %e = arith.xori %v, %a : i32
  llvm.return
}
"""


@pytest.fixture
def module() -> ModuleOp:
    return Parser(make_context(), TEXT).parse_module()


def only(module: ModuleOp, kind: type) -> arith.AddiOp:
    (found,) = (op for op in module.walk() if isinstance(op, kind))
    return found


def test_values_of_outer_blocks_and_other_blocks_of_a_region(module: ModuleOp) -> None:
    assert list(misplaced_uses(module)) == []


def test_use_before_the_definition(module: ModuleOp) -> None:
    first, branch = only(module, arith.AddiOp), only(module, scf.IfOp)
    first.detach()
    branch.parent.insert_op_after(first, branch)
    uses = [(op.name, value) for op, value in misplaced_uses(module)]
    assert uses == [("arith.muli", first.result), ("arith.subi", first.result)]


def test_use_of_a_value_of_another_branch(module: ModuleOp) -> None:
    product, difference = only(module, arith.MuliOp), only(module, arith.SubiOp)
    difference.operands[0] = product.result
    assert list(misplaced_uses(module)) == [(difference, product.result)]


def test_use_of_a_value_whose_definition_is_gone(module: ModuleOp) -> None:
    first = only(module, arith.AddiOp)
    first.detach()
    assert len(list(misplaced_uses(module))) == 4
