"""
Each promise that docs/design.md makes of a level is checked: IR that keeps it is accepted at that level, and
IR that breaks it is refused with the name of the operation and the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from accopt.compiler.base.diagnostics import CompileError
from accopt.compiler.ir.context import make_context
from accopt.compiler.ir.stages import RULES, check_stage
from xdsl.parser import Parser

NONE = "[#acc.device_type<none>]"
HOST = "[#acc.device_type<host>]"


def function(*lines: str) -> str:
    """A function with pointers p and q, integers n and wide and a double x."""
    body = "\n  ".join(lines)
    return (
        "llvm.func @f(%p: !llvm.ptr, %q: !llvm.ptr, %n: i32, %wide: i64, %x: f64) {\n"
        f"  %zero = arith.constant 0 : i32\n  %one = arith.constant 1 : i32\n  {body}\n  llvm.return\n}}"
    )


def loop(attributes: str, *body: str, step: str = "%one", type: str = "i32", more: str = "") -> str:
    inside = "\n    ".join((*body, "acc.yield"))
    return (
        f"acc.loop {more} control(%i : {type}) = (%zero : {type}) to (%n : {type}) step ({step} : {type})"
        f" {{\n    {inside}\n  }} attributes {{{attributes}}}"
    )


def parallel(*body: str, sizes: str = "", operands: str = "") -> str:
    inside = "\n    ".join((*body, "acc.yield"))
    return f"acc.parallel {operands} {sizes} {{\n    {inside}\n  }}"


SIZES = "num_gangs({%n : i32}) num_workers(%n : i32) vector_length(%n : i32)"
SEQ = f"seq = {NONE}"
FREE = f"independent = {NONE}"
ENTRY = "%d = acc.copyin varPtr(%p : !llvm.ptr) varType(f64) -> !llvm.ptr"
BARRIER = '"gpu.barrier"() : () -> ()\n  llvm.return'
RETURN = '"gpu.return"'
DESTROY = """} destroy {
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  %z = llvm.mlir.zero : !llvm.ptr
  acc.terminator
}
"""
COARSE = (
    "accx.side_by_side {\n^bb0(%a: i32, %b: i32):\n} else each {\n%d = arith.constant 0 : i32\n}"
)
NESTED = """scf.for %i = %zero to %n step %one : i32 {
    %v = llvm.alloca %one x f64 : (i32) -> !llvm.ptr
  }"""
RECIPE = """acc.private.recipe @private_f64 : !llvm.ptr init {
^bb0(%v: !llvm.ptr):
  %one_1 = arith.constant 1 : i32
  %c = llvm.alloca %one_1 x f64 : (i32) -> !llvm.ptr
  acc.yield %c : !llvm.ptr
}
"""
REDUCTION = """acc.reduction.recipe @add : !llvm.ptr reduction_operator <add> init {
^bb0(%v: !llvm.ptr):
  %one_1 = arith.constant 1 : i32
  %c = llvm.alloca %one_1 x f64 : (i32) -> !llvm.ptr
  acc.yield %c : !llvm.ptr
} combiner {
^bb0(%a: !llvm.ptr, %b: !llvm.ptr):
  acc.yield %a : !llvm.ptr
}
"""
KERNEL = """"gpu.module"() <{sym_name = "accopt_kernels"}> ({
  "gpu.func"() <{function_type = (!llvm.ptr, i32) -> (), kernel}> ({
  ^bb0(%a: !llvm.ptr, %b: i32):
    "gpu.return"() : () -> ()
  }) {sym_name = "k"} : () -> ()
}) : () -> ()
"""


def launch(arguments: str, queue: str = " <%wide : i64>", site: str = "0 : i32") -> str:
    # xDSL's `gpu.launch_func` has no assembly format: its generic form.
    values = [part.split(" : ") for part in arguments.split(", ")]
    names = ", ".join([*["%one"] * 6, *(v for v, _ in values), *(["%wide"] if queue else [])])
    types = ", ".join([*["i32"] * 6, *(t for _, t in values), *(["i64"] if queue else [])])
    return (
        f'"gpu.launch_func"({names}) <{{kernel = @accopt_kernels::@k, operandSegmentSizes ='
        f" array<i32: 0, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, {len(values)}, {1 if queue else 0}>}}>"
        f" {{accx.site = {site}}} : ({types}) -> ()"
    )


def sites(text: str) -> str:
    return f"module attributes {{accx.sites = [{{}}]}} {{\n{text}\n}}"


CACHED = function(
    "%b = acc.bounds extent(%wide : i64) {strideInBytes = true}",
    "%c = acc.cache varPtr(%p : !llvm.ptr) varType(f64) bounds(%b) -> !llvm.ptr",
)
CACHED = f"builtin.module attributes {{accx.machine = #accx.machine<host, 0>}} {{\n{CACHED}\n}}"
HOST_KERNEL = """llvm.func @h(%a: i64, %b: i64, %c: i64, %d: !llvm.ptr) attributes {accx.kernel} {
  llvm.return
}
"""
HOST_LAUNCH = (
    "accx.launch_host @h gangs(%n) queue(%wide) args(%p) {accx.site = 0 : i32} : !llvm.ptr"
)


@dataclass(frozen=True)
class Promise:
    """IR that keeps a promise of `level`, a change that breaks it, and what is said of that."""

    level: str
    kept: str
    change: tuple[str, str]
    said: str


PROMISES = {
    # What is written of loops and variables from the acc level on.
    "dialects": Promise("acc", function(), ("llvm.return", BARRIER), "dialect is not legal"),
    "variables of loops": Promise(
        "acc",
        function(loop(SEQ)).replace("i32", "i64"),
        ("i64", "i16"),
        "its variable is i32 or i64, not i16",
    ),
    "steps": Promise("acc", function(loop(SEQ)), ("1 : i32", "-1 : i32"), "its step is positive"),
    "types of bounds": Promise(
        "acc",
        function(loop(SEQ)),
        ("(%n : i32)", "(%wide : i64)"),
        "its bounds and step have the type of its variable, i32",
    ),
    "steps of plain loops": Promise(
        "runtime",
        function("scf.for %i = %zero to %n step %one : i32 {\n  scf.yield\n}"),
        ("1 : i32", "0 : i32"),
        "its step is positive, not 0",
    ),
    "exclusive bounds": Promise(
        "acc",
        function(loop(f"{SEQ}, inclusiveUpperbound = array<i1: false>")),
        ("false", "true"),
        "its upper bound is exclusive",
    ),
    "sizes of tiles": Promise(
        "acc",
        function(loop(SEQ, more="tile({%n : i32})")),
        ("tile({%n : i32})", "tile({%n : i32, %n : i32})"),
        "it has 2 tile sizes for 1 variables",
    ),
    "private operands": Promise(
        "acc",
        RECIPE
        + function(
            "%v = acc.private varPtr(%p : !llvm.ptr) varType(f64) recipe(@private_f64) -> !llvm.ptr",
            loop(SEQ, more="private(%v : !llvm.ptr)"),
        ),
        ("private(%v", "private(%p"),
        "the operand 'p' is not the result of acc.private",
    ),
    "places of variables": Promise(
        "data",
        function("%v = llvm.alloca %one x f64 : (i32) -> !llvm.ptr"),
        ("%v = llvm.alloca %one x f64 : (i32) -> !llvm.ptr", NESTED),
        "in the entry block of a function",
    ),
    "places of variables of loops": Promise(
        "acc",
        function("%v = llvm.alloca %one x f64 : (i32) -> !llvm.ptr"),
        (
            "%v = llvm.alloca %one x f64 : (i32) -> !llvm.ptr",
            "%t = arith.constant true scf.if %t { %v = llvm.alloca %one x f64 : (i32) -> !llvm.ptr }",
        ),
        "in the entry block of a function",
    ),
    "places of arrays of variable length": Promise(
        "data",
        function(
            "scf.for %i = %zero to %n step %one : i32 { %v = llvm.alloca %n x f64 : (i32) -> !llvm.ptr }"
        ),
        ("alloca %n", "alloca %one"),
        "in the entry block of a function",
    ),
    "places of computed sizes": Promise(
        "acc",
        function(
            "%t = arith.constant true scf.if %t { %v = llvm.alloca %wide x f64 : (i64) -> !llvm.ptr }"
        ),
        ("alloca %wide x f64 : (i64)", "alloca %one x f64 : (i32)"),
        "in the entry block of a function",
    ),
    "subscripts": Promise(
        "acc",
        function("%a = llvm.getelementptr %p[0, %wide] : (!llvm.ptr, i64) -> !llvm.ptr, i8"),
        ("0, %wide] : (!llvm.ptr, i64)", "%wide, %wide] : (!llvm.ptr, i64, i64)"),
        "by subscripts must be an accx.element",
    ),
    "steps of pointers": Promise(
        "acc",
        function("%a = llvm.getelementptr %p[%wide] : (!llvm.ptr, i64) -> !llvm.ptr, i8"),
        ("%wide] : (!llvm.ptr, i64)", "%n] : (!llvm.ptr, i32)"),
        "offset must be an i64, not i32",
    ),
    "types": Promise(
        "acc",
        function("%c = arith.constant 1 : i64"),
        ("1 : i64", "1 : index"),
        "no values of type index",
    ),
    # Data clauses and recipes.
    "data operands": Promise(
        "data",
        function(ENTRY, parallel(operands="dataOperands(%d : !llvm.ptr)")),
        ("dataOperands(%d", "dataOperands(%q"),
        "the data operand 'q' is not the result of a data entry operation",
    ),
    "data operands of data": Promise(
        "data",
        function(ENTRY, "acc.data dataOperands(%d : !llvm.ptr) {\n    acc.terminator\n  }"),
        ("dataOperands(%d", "dataOperands(%q"),
        "the data operand 'q' is not the result of a data entry operation",
    ),
    "exits": Promise(
        "acc",
        function(
            ENTRY,
            parallel(operands="dataOperands(%d : !llvm.ptr)"),
            "acc.delete accPtr(%d : !llvm.ptr)",
        ),
        ("accPtr(%d", "accPtr(%p"),
        "its operand is not the result of a data entry operation",
    ),
    "places of entries": Promise(
        "acc",
        function(ENTRY, parallel(operands="dataOperands(%d : !llvm.ptr)")),
        ("  acc.parallel", "  llvm.store %x, %p : f64, !llvm.ptr\n  acc.parallel"),
        "'acc.copyin' is not legal.*not immediately before the construct",
    ),
    "entries of their construct": Promise(
        "acc",
        function(ENTRY, parallel(operands="dataOperands(%d : !llvm.ptr)")),
        ("  acc.parallel", f"  {parallel()}\n  acc.parallel"),
        "not immediately before the construct",
    ),
    "places of exits": Promise(
        "acc",
        function(
            ENTRY,
            parallel(operands="dataOperands(%d : !llvm.ptr)"),
            "acc.delete accPtr(%d : !llvm.ptr)",
        ),
        ("acc.delete", "llvm.store %x, %p : f64, !llvm.ptr\n  acc.delete"),
        "'acc.delete' is not legal.*not immediately after the construct",
    ),
    "strides": Promise(
        "acc",
        function("%b = acc.bounds extent(%wide : i64) {strideInBytes = true}"),
        ("true", "false"),
        "stride must be in bytes",
    ),
    "device types": Promise("acc", function(loop(SEQ)), (NONE, HOST), "names the device type host"),
    "recipes of their kind": Promise(
        "acc",
        RECIPE
        + REDUCTION
        + function(
            "%v = acc.private varPtr(%p : !llvm.ptr) varType(f64) recipe(@private_f64) -> !llvm.ptr"
        ),
        ("recipe(@private_f64)", "recipe(@add)"),
        "its recipe @add is not of kind acc.private.recipe",
    ),
    "recipes are named": Promise(
        "data",
        RECIPE
        + function(
            "%v = acc.private varPtr(%p : !llvm.ptr) varType(f64) recipe(@private_f64) -> !llvm.ptr"
        ),
        ("recipe(@private_f64)", ""),
        "it names no recipe",
    ),
    "copies": Promise(
        "acc", RECIPE, ("acc.yield %c", "acc.yield %v"), "does not yield memory that it allocates"
    ),
    "combiners": Promise(
        "acc", REDUCTION, ("acc.yield %a", "acc.yield %b"), "does not yield its first argument"
    ),
    "copies of their own": Promise(
        "acc",
        RECIPE,
        ("  acc.yield", "  %u = llvm.load %v : !llvm.ptr -> f64\n  acc.yield"),
        "uses the variable",
    ),
    "destroy regions": Promise(
        "acc",
        RECIPE,
        ("}\n", DESTROY),
        "would not be executed",
    ),
    # Data.
    "one construct": Promise(
        "data", function(parallel()), ("acc.parallel", "acc.serial"), "removed by legalize-serial"
    ),
    "teams": Promise(
        "data",
        function(),
        (
            "llvm.return",
            "accx.team threads(%n) several(%n) place(%p : !llvm.ptr) {\n  }\n  llvm.return",
        ),
        "removed by outline-teams",
    ),
    "what constructs access": Promise(
        "data",
        function(
            ENTRY,
            parallel("llvm.store %x, %d : f64, !llvm.ptr", operands="dataOperands(%d : !llvm.ptr)"),
        ),
        ("%x, %d", "%x, %q"),
        "'q' is accessed inside without a data operation",
    ),
    "decided loops": Promise(
        "data",
        function(loop(FREE)),
        (FREE, f"{FREE}, accx.conditional"),
        "is not decided",
    ),
    # Schedules.
    "numbers of gangs": Promise(
        "scheduled",
        function(parallel(sizes=SIZES)),
        ("num_gangs({%n : i32})", "num_gangs({%n : i32, %n : i32, %n : i32, %n : i32})"),
        "4 values of num_gangs, not 1 to 3",
    ),
    "numbers of lanes": Promise(
        "transformed",
        function(parallel(sizes=SIZES)),
        ("vector_length(%n : i32)", ""),
        "0 values of vector_length, not one",
    ),
    "types of sizes": Promise(
        "scheduled",
        function(parallel(sizes=SIZES)),
        ("num_workers(%n : i32)", "num_workers(%wide : i64)"),
        "num_workers is an i32, not i64",
    ),
    "levels": Promise(
        "scheduled", function(loop(SEQ)), (SEQ, f"auto_ = {NONE}"), "neither seq nor a level"
    ),
    "one kind of loop": Promise(
        "scheduled",
        function(loop(FREE, more="gang")),
        (FREE, SEQ),
        "but is seq or auto",
    ),
    "independent loops": Promise(
        "scheduled",
        function(loop(FREE, more="gang")),
        (FREE, ""),
        "are independent",
    ),
    "levels without operands": Promise(
        "scheduled",
        function(loop(FREE, more="gang")),
        ("acc.loop gang", "acc.loop gang vector(%n : i32)"),
        "its levels still have operands",
    ),
    "no tiles": Promise(
        "scheduled",
        function(loop(SEQ)),
        ("acc.loop", "acc.loop tile({%n : i32})"),
        "still has tile operands",
    ),
    "gang dimensions": Promise(
        "scheduled",
        function(loop(f"{FREE}, accx.schedule = #accx.schedule<gang_dim = 2>", more="gang")),
        ("acc.loop gang", "acc.loop vector"),
        "only a gang loop has a gang dimension",
    ),
    "elements": Promise(
        "scheduled",
        function(loop(f"{FREE}, accx.schedule = #accx.schedule<elements = 2>", more="vector")),
        ("acc.loop vector", "acc.loop worker"),
        "only loops over gangs or lanes",
    ),
    "covering launches": Promise(
        "scheduled",
        function(loop(f"{FREE}, accx.schedule = #accx.schedule<covers>", more="vector")),
        ("acc.loop vector", "acc.loop"),
        "a sequential loop has no share in the launch",
    ),
    # Transformed.
    "no jam left": Promise(
        "transformed",
        function(loop(f"{FREE}, accx.schedule = #accx.schedule<elements = 2>", more="vector")),
        ("acc.loop vector", "acc.loop gang"),
        "not yet jammed",
    ),
    "coarse threads": Promise(
        "transformed",
        function(
            loop(f"{FREE}, accx.schedule = #accx.schedule<elements = 2>", COARSE, more="vector")
        ),
        ("elements = 2", "elements = 4"),
        "it has 2 iterations side by side, but the schedule has 4",
    ),
    "no elements": Promise(
        "gpu",
        function(),
        ("llvm.return", "%e = accx.element %p[%n] of f64 : i32\n  llvm.return"),
        "removed by lower-elements",
    ),
    "no atomics": Promise(
        "transformed",
        function(),
        ("llvm.return", "acc.atomic.write %p = %n : !llvm.ptr, i32\n  llvm.return"),
        "removed by lower-acc-atomics",
    ),
    "formats": Promise(
        "transformed",
        function(f"{ENTRY} {{accx.packed = !accx.packed<f32, 16, range>}}"),
        ("f32, 16", "f32, 0"),
        "no number of bits",
    ),
    "no cached sections": Promise(
        "transformed",
        CACHED,
        ("<host, 0>", "<nvptx, 90>"),
        "should have been replaced for a GPU",
    ),
    "tiles": Promise(
        "transformed",
        function(
            "accx.gang_threads [16 : i32, 16 : i32] {\n^bb0(%a: i32, %b: i32):\n"
            '  %t = accx.shared_tile "a" 64 : i64 : !llvm.ptr<3>\n}'
        ),
        ("llvm.return", '%u = accx.shared_tile "a" 64 : i64 : !llvm.ptr<3>\n  llvm.return'),
        "inside accx.gang_threads",
    ),
    # Kernels.
    "constructs are kernels": Promise(
        "gpu",
        function(),
        ("llvm.return", f"{parallel()}\n  llvm.return"),
        "convert-acc-compute-to-gpu",
    ),
    "one module": Promise(
        "gpu", KERNEL, ("accopt_kernels", "others"), "@accopt_kernels, not @others"
    ),
    "device code": Promise(
        "gpu",
        KERNEL,
        (RETURN, '%s = accx.shared_tile "a" 64 : i64 : !llvm.ptr<3>\n' + RETURN),
        "operations of this dialect are not allowed in device code",
    ),
    "long double": Promise(
        "gpu",
        KERNEL,
        (RETURN, "%l = llvm.load %a : !llvm.ptr -> f80\n" + RETURN),
        "f80 and f128 are not allowed",
    ),
    "host code": Promise(
        "gpu", function(), ("llvm.return", BARRIER), "allowed only in device code"
    ),
    "shared memory": Promise(
        "gpu",
        function(),
        ("llvm.func", "llvm.mlir.global internal @s() {addr_space = 3 : i32} : f64\nllvm.func"),
        "shared memory is allowed only in device code",
    ),
    "launched kernels": Promise(
        "gpu",
        sites(KERNEL + function(launch("%p : !llvm.ptr, %n : i32"))),
        (", kernel}", "}"),
        "@accopt_kernels::@k is not a kernel",
    ),
    "arguments": Promise(
        "gpu",
        sites(KERNEL + function(launch("%p : !llvm.ptr, %n : i32"))),
        ("i32) -> (), kernel", "i64) -> (), kernel"),
        "takes 2 arguments of other types",
    ),
    "queues": Promise(
        "gpu",
        sites(KERNEL + function(launch("%p : !llvm.ptr, %n : i32"))),
        (launch("%p : !llvm.ptr, %n : i32"), launch("%p : !llvm.ptr, %n : i32", queue="")),
        "it has no queue",
    ),
    "sites": Promise(
        "gpu",
        sites(KERNEL + function(launch("%p : !llvm.ptr, %n : i32"))),
        ("accx.site = 0", "accx.site = 1"),
        "not an index into the 1 sites",
    ),
    "host kernels": Promise(
        "host", HOST_KERNEL, ("%c: i64", "%c: i32"), r"a kernel takes \(i64, i64, i64, !llvm.ptr\)"
    ),
    "host launches": Promise(
        "host",
        sites(HOST_KERNEL + "\n" + function(HOST_LAUNCH)),
        (" attributes {accx.kernel}", ""),
        "@h is not a kernel",
    ),
    "nothing of acc": Promise(
        "runtime", function(), ("llvm.return", f"{ENTRY}\n  llvm.return"), "dialect is not legal"
    ),
    "no launches": Promise(
        "runtime",
        function(),
        ("llvm.return", f"{launch('%p : !llvm.ptr')}\n  llvm.return"),
        "removed by convert-acc-data-to-runtime",
    ),
    "instructions": Promise(
        "nvvm",
        "llvm.func @f() { llvm.return }",
        ("llvm.return", "%one = arith.constant 1 : i32\n llvm.return"),
        "dialect is not legal",
    ),
    "threads": Promise(
        "nvvm",
        "llvm.func @f() { llvm.return }",
        ("llvm.return", "nvvm.barrier\n llvm.return"),
        "allowed only in device code",
    ),
    # Attributes.
    "places of attributes": Promise(
        "scheduled",
        function(loop(f"{FREE}, accx.schedule = #accx.schedule<covers>", more="gang")),
        ("constant 1", "constant {accx.schedule = #accx.schedule<covers>} 1"),
        "'accx.schedule' is an attribute of acc.loop",
    ),
    "types of attributes": Promise(
        "transformed",
        function("%v = llvm.load %p {accx.volatile} : !llvm.ptr -> i32"),
        ("accx.volatile", "accx.volatile = true"),
        "'accx.volatile' must be a UnitAttr",
    ),
    "elements of attributes": Promise(
        "scheduled",
        function(parallel(sizes=SIZES) + ' attributes {accx.given_sizes = ["num_gangs"]}'),
        ('"num_gangs"', "1 : i32"),
        "'accx.given_sizes' must contain StringAttrs",
    ),
    "words of attributes": Promise(
        "scheduled",
        function(parallel(sizes=SIZES) + ' attributes {accx.given_sizes = ["num_gangs"]}'),
        ('"num_gangs"', '"gangs"'),
        "'accx.given_sizes' must be one of num_gangs, num_workers, vector_length",
    ),
    "known attributes": Promise(
        "data",
        function("%v = llvm.load %p {accx.volatile} : !llvm.ptr -> i32"),
        ("accx.volatile", "accx.volatil"),
        "'accx.volatil' is not an attribute that passes know",
    ),
}


def check(text: str, level: str) -> None:
    check_stage(Parser(make_context(), text).parse_module(), level)


@pytest.mark.parametrize("name", PROMISES)
def test_a_promise_is_checked(name: str) -> None:
    promise = PROMISES[name]
    check(promise.kept, promise.level)
    broken = promise.kept.replace(*promise.change)
    assert broken != promise.kept
    with pytest.raises(CompileError, match=promise.said):
        check(broken, promise.level)


def test_every_rule_is_broken_by_one_of_them() -> None:
    found = set()
    for promise in PROMISES.values():
        module = Parser(make_context(), promise.kept.replace(*promise.change)).parse_module()
        for levels, kinds, rule in RULES:
            if promise.level in levels:
                found.update(
                    rule for op in module.walk() if isinstance(op, kinds) and any(rule(op))
                )
    assert found == {rule for _, _, rule in RULES}
