"""What replaces xDSL's busiest paths does what xDSL does: the same exercise with and without it."""

from __future__ import annotations

import subprocess
import sys

import pytest

# What a process prints: with our dialects imported or without.
EXERCISE = """
import sys
if sys.argv[1] == "quick":
    import accopt.dialects
from xdsl.context import Context
from xdsl.dialects import arith, builtin, cf, func, llvm, memref, scf, test
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, Signedness, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue
from xdsl.irdl import IRDLOperation
from xdsl.parser import Parser

def show(make):
    try:
        print(make())
    except Exception as e:
        print(type(e).__name__, e)

SOURCE = '''
func.func @f(%n: index, %c: i1, %p: !llvm.ptr) -> i32 {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    scf.if %c { "test.op"() {at = "then"} : () -> () } else { "test.op"() {at = "else"} : () -> () }
    "test.op"() ({
      ^a: "test.op"() {at = "a"} : () -> ()
      ^b: "test.op"() {at = "b"} : () -> ()
    }, {}) : () -> ()
  }
  cf.cond_br %c, ^x(%one : index), ^y
^x(%k: index):
  cf.br ^y
^y:
  %r = arith.constant 7 : i32
  func.return %r : i32
}
'''
ctx = Context()
for dialect in (builtin.Builtin, arith.Arith, cf.Cf, func.Func, llvm.LLVM, scf.Scf, test.Test):
    ctx.load_dialect(dialect)
module = Parser(ctx, SOURCE).parse_module()

def names(ops):
    return [op.name + str(op.attributes.get("at", "")) for op in ops]

f = module.body.block.first_op
for root in (module, f, f.body, f.body.blocks[0], Region(), Block()):
    for reverse in (False, True):
        for region_first in (False, True):
            print(names(root.walk(reverse=reverse, region_first=region_first)))
copy = module.clone()
print(module.is_structurally_equivalent(copy), copy)

# Copies of parts, with values from outside replaced and without names; who uses a value, in which order.
index = f.body.blocks[0].args[0]
for op in list(module.walk()):
    for hints in (False, True):
        values = {index: module.body.block.first_op.body.blocks[0].first_op.results[0]}
        twin = op.clone(values, clone_name_hints=hints)
        print(twin, [v.name_hint for v in values.values()], len(values))
for value in (index, *(r for op in f.body.blocks[0].ops for r in op.results)):
    print([(use.operation.name, use.index) for use in value.uses])

# Operations that go away, or come, while they are visited.
seen = []
for op in copy.walk():
    seen.append(op.name)
    if isinstance(op, test.TestOp) and op.parent is not None:
        op.detach(); op.erase()
    elif isinstance(op, arith.ConstantOp):
        op.parent.insert_op_after(test.TestOp(), op)
print(seen, names(copy.walk()), [names(b.ops) for b in copy.body.block.first_op.body.blocks])

one, p = arith.ConstantOp(IntegerAttr(1, i64)), f.body.blocks[0].args[2]
made = (
    lambda: llvm.GEPOp(p, [llvm.GEP_USE_SSA_VAL, 3], i32, [one], inbounds=True),
    lambda: llvm.GEPOp.from_mixed_indices(p, [one, 2, one.result], i32),
    lambda: llvm.CallOp("g", p, one.result, return_type=i32),
    lambda: cf.ConditionalBranchOp(f.body.blocks[0].args[1], Block(), [one.result, p], Block(), [one]),
    lambda: scf.IfOp(f.body.blocks[0].args[1], [i32], [scf.YieldOp(one)], [scf.YieldOp(one)]),
    lambda: arith.AddiOp(one, one),
    lambda: arith.AddiOp(one, test.TestOp()),
    lambda: arith.AddiOp.build(operands=[one], result_types=[i64]),
    lambda: arith.AddiOp.build(operands=[one, None], result_types=[i64]),
    lambda: arith.AddiOp.build(operands=[one, [one]], result_types=[[i64]]),
    lambda: arith.AddiOp.build(operands=[one, [one, one]], result_types=[i64]),
    lambda: arith.AddiOp.build(operands=[one, one], result_types=[i64, i64]),
    lambda: memref.AllocOp.get(i32, 8, [2, 2]),
    lambda: test.TestOp(operands=[one, p], result_types=[i32, i64], regions=[Region(Block())]),
)
for make in made:
    show(make)
gep, call = made[0](), made[2]()
print(gep.ptr is p, gep.ssa_indices, gep.ssa_indices.types, type(gep.ssa_indices).__name__)
print(call.args.types, call.returned, gep.results[:1].types, gep.result is gep.results[0], gep.operands[-1])
print([(use.operation.name, use.index) for use in one.result.uses])
gep.operands[1] = p
gep.operands = [p, one.result]
print([(use.operation.name, use.index) for use in one.result.uses], p.uses.get_length())
show(lambda: SSAValue.get(one))
show(lambda: SSAValue.get(test.TestOp()))
show(lambda: SSAValue.get(one, type=IntegerType).type)
show(lambda: Block([one]).add_op(one))
nest = test.TestOp(regions=[Region(inner := Block())])
show(lambda: inner.add_op(nest))

row = [test.TestOp(attributes={"at": IntegerAttr(i, i32)}) for i in range(6)]
block = Block([row[0]])
block.insert_op_after(row[1], row[0])
block.insert_op_before(row[2], row[0])
block.insert_op_before(row[3], row[1])
block.insert_op_after(row[4], row[2])
print(names(block.ops), names(block.walk(reverse=True)))
print([op and names([op]) for o in row for op in (o.prev_op, o.next_op)], block.last_op is row[1])
show(lambda: block.insert_op_after(test.TestOp(), row[5]))
show(lambda: block.insert_op_before(test.TestOp(), row[5]))
show(lambda: block.insert_op_after(row[0], row[1]))
show(lambda: block.insert_op_before(row[0], row[1]))
hinted = test.TestOp(operands=[one], result_types=[i32, i64], regions=[Region(Block())])
hinted.results[1].name_hint = "second"
mapper = {one.result: p}
for hints in (False, True):
    copied = hinted.clone_without_regions(mapper, clone_name_hints=hints)
    print(copied.operands[0] is p, [r.name_hint for r in copied.results], len(copied.regions))
    print(mapper[hinted.results[1]] is copied.results[1], copied.properties == hinted.properties)
print([(use.operation.name, use.index) for use in p.uses])

unsigned, signed = (IntegerType(8, s) for s in (Signedness.UNSIGNED, Signedness.SIGNED))
for value in (0, 1, -1, 127, 128, 255, 256, -128, -129, 2**31, -(2**31), True):
    for t in (IntegerType(8), unsigned, signed, i1, i32, 8, 0, builtin.IndexType()):
        show(lambda: IntegerAttr(value, t))
        show(lambda: IntegerAttr(value, t) == IntegerAttr(value, t))
show(lambda: IntegerAttr(300, 8, truncate_bits=True))
show(lambda: DenseArrayBase.from_list(i32, [1, -2, 3]))
show(lambda: DenseArrayBase.from_list(IntegerType(8), [255, True]))
show(lambda: DenseArrayBase.from_list(IntegerType(8), [256]))
show(lambda: DenseArrayBase.from_list(builtin.f32, [1.5]))
show(lambda: DenseArrayBase(i32, builtin.BytesAttr(b"123")))
show(lambda: llvm.LLVMArrayType.from_size_and_type("x", i32))
for name in ("a", "a_1", "a_1_2", "1a", "", None, "a b"):
    show(lambda: setattr(one.result, "name_hint", name) or one.result.name_hint)
things = (one, one.result, p, i32, IntegerAttr(1, i32), module, Block(), Region(), 3)
kinds = (Attribute, Operation, IRDLOperation, SSAValue, OpResult, IntegerType, arith.ConstantOp)
kinds += (Block, Region)
print([[isinstance(thing, kind) for kind in kinds] for thing in things])
print([[issubclass(a, b) for a in kinds] for b in kinds])
"""


def outcome(version: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", EXERCISE, version], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_the_same_as_xdsl():
    ours, theirs = outcome("quick"), outcome("plain")
    assert len(theirs) > 200
    assert ours == theirs


def test_attributes_are_checked_unless_a_compilation_says_otherwise():
    from accopt.dialects.quick_xdsl import attributes_unchecked
    from xdsl.dialects.builtin import BytesAttr, DenseArrayBase, i32
    from xdsl.utils.exceptions import VerifyException

    with attributes_unchecked(), attributes_unchecked():
        DenseArrayBase(i32, BytesAttr(b"123"))
    with attributes_unchecked(False), pytest.raises(VerifyException):
        DenseArrayBase(i32, BytesAttr(b"123"))
    with pytest.raises(VerifyException):
        DenseArrayBase(i32, BytesAttr(b"123"))


def test_all_formats_can_be_parsed():
    """They are parsed when they are first needed, so nothing else finds one that is wrong."""
    from accopt.compiler.ir.context import make_context
    from accopt.dialects.quick_xdsl.formats import LateFormat
    from xdsl.irdl import IRDLOperation

    formats = 0
    ctx = make_context()
    for name in ctx.registered_dialect_names:
        for op in ctx.get_optional_dialect(name).operations:
            if issubclass(op, IRDLOperation) and op.get_irdl_definition().assembly_format:
                definition = op.get_irdl_definition()
                assert LateFormat(definition.assembly_format, definition).program.stmts is not None
                formats += 1
    assert formats > 50
