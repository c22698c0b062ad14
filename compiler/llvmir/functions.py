"""
Functions as LLVM IR text. Block arguments become phi nodes; constants are written where they are used.

Values are named `%hint.7` or `%v7`, blocks `bb7`: unnamed values would need LLVM's strictly consecutive
numbers, and so a second walk.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import AnyFloat, ArrayAttr, DictionaryAttr, Float16Type, NoneAttr
from xdsl.dialects.llvm import CallingConventionAttr, FuncOp, LLVMFunctionType
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue

from ...dialects import llvm_ext, nvvm
from ...dialects.accx import KERNEL, TYPED
from ..base.diagnostics import SourceLoc, error
from .attributes import function_attributes, parameter_attributes
from .constants import CONSTANTS
from .metadata import LineTables, Metadata
from .operations import EMITTERS
from .types import TypePrinter, identifier

VISIBILITIES = ("", "hidden ", "protected ")


def successor_operands(op: Operation) -> list[tuple[Block, Sequence[SSAValue]]]:
    """The successors of a terminator with the values passed to each."""
    match op:
        case llvm.BrOp():
            return [(op.successor, op.operands)]
        case llvm.CondBrOp():
            return [(op.then_block, op.then_arguments), (op.else_block, op.else_arguments)]
        case llvm_ext.SwitchOp():
            return [
                (op.default_destination, op.default_operands),
                *((block, operands) for _, block, operands in op.cases),
            ]
        case _:
            return []


class Declarations:
    """The functions a module defines or declares (`names`), and those it calls without declaring them."""

    def __init__(self, names: AbstractSet[str]):
        self._names = names
        self._called: set[str] = set()
        self.lines: list[str] = []

    def __contains__(self, name: str) -> bool:
        return name in self._names or name in self._called

    def add(self, name: str, line: str) -> None:
        """Adds the declaration of a function that is called."""
        self._called.add(name)
        self.lines.append(line)


RELAXED = frozenset(("afn", "arcp", "contract", "nsz", "reassoc"))
"""The flags of `--fast-math`: all except those that assume the absence of NaNs and infinities."""


class FunctionPrinter:
    """Appends the text of functions to `out`; one object prints all functions of a module."""

    def __init__(
        self,
        out: list[str],
        types: TypePrinter,
        metadata: Metadata,
        declarations: Declarations,
        *,
        gpu: bool,
        contract: bool,
        contract_sequential: bool,
        relaxed: bool,
        flush_denormals: bool,
        lines: LineTables | None,
    ):
        self.types = types
        self.metadata = metadata
        self.convergent = gpu
        self.declared = declarations
        self._out = out
        self._contract = contract
        self._contract_kernels = contract
        self._contract_sequential = contract and (gpu or contract_sequential)
        self._relaxed = relaxed
        self._flush_denormals = flush_denormals
        self._lines = lines
        self._scope: tuple[str, str] | None = None
        self._names: dict[SSAValue, str] = {}
        self._labels: dict[Block, str] = {}
        self._edges: dict[tuple[Operation, int], str] = {}
        self._counter = 0
        self.typed_accesses = False

    # Used by the emitters of operations.

    def value(self, value: SSAValue) -> str:
        """The name of a value, or the text of a constant."""
        return self._names.get(value) or self._name(value)

    def typed(self, value: SSAValue) -> str:
        """Type and name of a value."""
        return f"{self.types(value.type)} {self._names.get(value) or self._name(value)}"

    def operands(self, op: Operation) -> str:
        """Types and names of all operands, separated by commas."""
        return ", ".join(map(self.typed, op.operands))

    def arguments(self, op: Operation, values: Sequence[SSAValue]) -> str:
        """As `operands`, for the arguments `values` of a call with the attributes in its `arg_attrs`, of
        which those of the last arguments may be missing."""
        found = op.properties.get("arg_attrs") or op.attributes.get("arg_attrs")
        words = [""] * len(values)
        if isinstance(found, ArrayAttr):
            items = cast("ArrayAttr[DictionaryAttr]", found)
            words[: len(items)] = [parameter_attributes(item, self.types) for item in items]
        return ", ".join(
            f"{self.types(value.type)} {word}{self.value(value)}"
            for value, word in zip(values, words, strict=True)
        )

    def line(self, op: Operation, text: str) -> None:
        """Appends the instruction of `op`, which defines its result if it has one."""
        for result in op.results:
            text = f"{self._names.get(result) or self._name(result)} = {text}"
        self._out.append(f"  {text}{self._location(op)}")

    def edge(self, op: Operation, index: int) -> str:
        """The label that the terminator `op` jumps to for its successor `index`."""
        label = self._edges.get((op, index)) if self._edges else None
        return f"%{label or self._labels[op.successors[index]]}"

    def loop(self, op: Operation) -> str:
        """The metadata suffix of a back edge with loop properties."""
        if not op.attributes:
            return ""
        node = self.metadata.loop(op)
        return "" if node is None else f", !llvm.loop {node}"

    def fast_math(self, op: Operation, contracts: bool = False) -> str:
        """
        The fast-math flags of `op`, followed by a space. `contracts`: the operation may be fused
        into a multiply-add where the compilation allows it (C17 6.5 p8). Those of `_Float16` are roundings
        that the program asks for, since C evaluates its expressions in float.
        """
        flags = op.properties.get("fastmathFlags")
        words = (
            {flag.value for flag in flags.data}
            if isinstance(flags, llvm.FastMathAttr)
            else set[str]()
        )
        if len(words) == 7:
            return "fast "
        if self._relaxed and op.results and isinstance(op.results[0].type, AnyFloat):
            words |= RELAXED
        elif contracts and self._contract and not isinstance(op.results[0].type, Float16Type):
            words.add("contract")
        return "".join(f"{word} " for word in sorted(words))

    def convention(self, convention: CallingConventionAttr) -> str:
        """The calling convention, followed by a space; empty for C's."""
        name = convention.convention.data
        return "" if name == "ccc" else f"{name} "

    def declare(
        self,
        symbol: str,
        result: str,
        arguments: Sequence[Attribute],
        variadic: LLVMFunctionType | None,
    ) -> None:
        """Declares a function that is called but not in the module."""
        inputs = [self.types(t) for t in (arguments if variadic is None else variadic.inputs)]
        if variadic is not None:
            result = self.types(variadic.output)
            inputs.append("...")
        words = "convergent nounwind" if self.convergent else "nounwind"
        line = f"declare {result} @{identifier(symbol)}({', '.join(inputs)}) {words}"
        self.declared.add(symbol, line)

    # Functions.

    def function(self, func: FuncOp) -> None:
        """Appends a definition or declaration."""
        defined = bool(func.body.blocks)
        kernel = nvvm.KERNEL in func.attributes
        computes = KERNEL in func.attributes
        self.typed_accesses = TYPED in func.attributes
        self._contract = self._contract_kernels if computes else self._contract_sequential
        self._names.clear()
        self._labels.clear()
        self._edges.clear()
        self._counter = 0
        words = self._head(func, defined, kernel)
        type = func.function_type
        name = identifier(func.sym_name.data)
        parameters = self._parameters(func, type)
        attributes = " ".join(function_attributes(func, convergent=self.convergent))
        if self._lines is not None and defined and not self.convergent:
            attributes += " uwtable"  # for tracebacks
        if defined and not computes and not self.convergent:
            # Accesses by null pointers fault. LLVM knows functions of the C library by their names: a
            # function that has a body is none of them.
            attributes += " null_pointer_is_valid nobuiltin"
        if self._flush_denormals:
            attributes += ' "denormal-fp-math-f32"="preserve-sign,preserve-sign"'
        head = f"{words}@{name}({parameters}) {attributes}"
        if not defined:
            self._out.append(head)
            return
        self._scope = None if self._lines is None else self._lines.subprogram(func)
        if self._scope is not None:
            head += f" !dbg {self._scope[0]}"
        self._out.append(f"{head} {{")
        self._body(list(func.body.blocks))
        self._out.append("}\n")

    def _head(self, func: FuncOp, defined: bool, kernel: bool) -> str:
        linkage = func.linkage.linkage.data
        linkage = "" if linkage == "external" else f"{linkage} "
        if self.convergent and defined and not kernel:
            linkage = "internal "
        elif not defined and linkage != "extern_weak ":
            linkage = ""
        visibility = VISIBILITIES[func.visibility_.value.data] if linkage != "internal " else ""
        convention = "ptx_kernel " if kernel else self.convention(func.CConv)
        result = ""
        if func.res_attrs is not None and func.res_attrs.data:
            result = parameter_attributes(func.res_attrs.data[0], self.types)
        keyword = "define" if defined else "declare"
        output = self.types(func.function_type.output)
        return f"{keyword} {linkage}{visibility}{convention}{result}{output} "

    def _parameters(self, func: FuncOp, type: LLVMFunctionType) -> str:
        attributes: list[str] = [""] * len(type.inputs)
        if isinstance(func.arg_attrs, ArrayAttr):
            attributes = [parameter_attributes(item, self.types) for item in func.arg_attrs]
        texts = [f"{self.types(t)} {a}" for t, a in zip(type.inputs, attributes, strict=True)]
        if func.body.blocks:
            arguments = func.body.blocks[0].args
            texts = [
                f"{text}{self.value(argument)}"
                for text, argument in zip(texts, arguments, strict=True)
            ]
        else:
            texts = [text.rstrip() for text in texts]
        if not isinstance(type.variadic, NoneAttr):
            texts.append("...")
        return ", ".join(texts)

    def _body(self, blocks: list[Block]) -> None:
        for number, block in enumerate(blocks):
            self._labels[block] = f"bb{number}"
        incoming, trampolines = self._incoming(blocks)
        out = self._out
        for block in blocks:
            out.append(f"{self._labels[block]}:")
            if block in incoming:
                self._phis(block, incoming[block])
            for op in block.ops:
                emitter = EMITTERS.get(op.__class__)
                if emitter is not None:
                    emitter(self, op)
                elif op.__class__ not in CONSTANTS:
                    raise error(
                        SourceLoc.from_attr(op.location),
                        f"'{op.name}' has no LLVM IR form",
                        "run the passes lower-scf-to-cf, convert-gpu-to-nvvm and convert-to-llvm",
                    )
            for label, target in trampolines.get(block, ()):
                out += [f"{label}:", f"  br label %{self._labels[target]}"]

    def _incoming(
        self, blocks: list[Block]
    ) -> tuple[
        dict[Block, list[tuple[str, Sequence[SSAValue]]]], dict[Block, list[tuple[str, Block]]]
    ]:
        """
        The incoming values of the phi nodes of each block, and extra blocks. A terminator that reaches the
        same block twice branches through extra blocks (trampolines), because LLVM's phi nodes distinguish
        edges by their origin.
        """
        incoming: dict[Block, list[tuple[str, Sequence[SSAValue]]]] = {}
        trampolines: dict[Block, list[tuple[str, Block]]] = {}
        for block in blocks:
            terminator = block.last_op
            if terminator is None:
                continue
            seen: set[Block] = set()
            for index, (target, operands) in enumerate(successor_operands(terminator)):
                if not target.args:
                    continue
                label = self._labels[block]
                if target in seen:
                    label = f"{label}.edge{index}"
                    self._edges[terminator, index] = label
                    trampolines.setdefault(block, []).append((label, target))
                seen.add(target)
                incoming.setdefault(target, []).append((label, operands))
        return incoming, trampolines

    def _phis(self, block: Block, edges: list[tuple[str, Sequence[SSAValue]]]) -> None:
        for index, argument in enumerate(block.args):
            pairs = ", ".join(
                f"[ {self.value(operands[index])}, %{label} ]" for label, operands in edges
            )
            self._out.append(f"  {self.value(argument)} = phi {self.types(argument.type)} {pairs}")

    def _name(self, value: SSAValue) -> str:
        if isinstance(value, OpResult):
            constant = CONSTANTS.get(value.op.__class__)
            if constant is not None:
                text = self._names[value] = constant(self.types, value.op)
                return text
        self._counter += 1
        hint = value.name_hint
        text = f"%{hint}.{self._counter}" if hint else f"%v{self._counter}"
        self._names[value] = text
        return text

    def _location(self, op: Operation) -> str:
        if self._scope is None or self._lines is None:
            return ""
        return f", !dbg {self._lines.location(op, *self._scope)}"
