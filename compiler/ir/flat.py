"""
Serialises an operation with its regions as plain data, for another process of the same compiler: each
attribute once, values and blocks as numbers.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Sequence
from typing import Any, cast

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

_Values = list[tuple[int, str | None]]
"""Type and name of values."""
_Block = tuple[str | None, _Values, list[int], list[int], list[Any]]
"""A block: its name, its arguments, their numbers and places, its operations."""


class _Writer:
    def __init__(self) -> None:
        self.attributes: dict[Attribute, int] = {}
        self.values: dict[SSAValue, int] = {}
        self.blocks: dict[Block, int] = {}

    def attribute(self, attribute: Attribute) -> int:
        return self.attributes.setdefault(attribute, len(self.attributes))

    def _define(self, values: Sequence[SSAValue]) -> _Values:
        for value in values:
            self.values.setdefault(value, len(self.values))
        return [(self.attribute(value.type), value.name_hint) for value in values]

    def operation(self, op: Operation) -> tuple[Any, ...]:
        # Values defined further down (in blocks not in the order of dominance) are numbered here.
        operands = [self.values.setdefault(value, len(self.values)) for value in op.operands]
        results = self._define(op.results)
        return (
            type(op),
            operands,
            results,
            [self.values[result] for result in op.results],
            [(name, self.attribute(value)) for name, value in op.properties.items()],
            [(name, self.attribute(value)) for name, value in op.attributes.items()],
            self.attribute(op.location),
            [self.blocks[block] for block in op.successors],
            [self._region(region) for region in op.regions],
        )

    def _region(self, region: Region) -> list[_Block]:
        for block in region.blocks:
            self.blocks[block] = len(self.blocks)
        out: list[_Block] = []
        for block in region.blocks:
            arguments = self._define(block.args)
            numbers = [self.values[argument] for argument in block.args]
            places = [self.attribute(argument.location) for argument in block.args]
            operations = [self.operation(op) for op in block.ops]
            out.append((block.name_hint, arguments, numbers, places, operations))
        return out


def flatten(op: Operation) -> bytes:
    """The bytes of `op`, which may use only symbols from outside, for `unflatten`."""
    writer = _Writer()
    tree = writer.operation(op)
    return pickle.dumps((list(writer.attributes), tree), pickle.HIGHEST_PROTOCOL)


def content(op: Operation) -> bytes:
    """Bytes that are equal for equal operations, for keys of caches."""
    writer = _Writer()
    tree = writer.operation(op)
    text = io.BytesIO()
    pickler = _ContentPickler(text, pickle.HIGHEST_PROTOCOL)
    pickler.fast = True  # equal strings are equal bytes, whether or not they are one object
    pickler.dump((list(writer.attributes), tree))
    return text.getvalue()


class _ContentPickler(pickle.Pickler):
    """Writes attributes without what they keep beside their fields (`dialects/quick_xdsl/attributes.py`)."""

    def reducer_override(self, obj: object, /) -> Any:
        if not isinstance(obj, Attribute):
            return NotImplemented
        return list, ([type(obj), *((k, v) for k, v in vars(obj).items() if k[:1] != "_")],)


class _FlatReader:
    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.attributes = attributes
        self.values: dict[int, SSAValue] = {}
        self.blocks: list[Block] = []
        self.early: list[tuple[Operation, list[int]]] = []

    def operation(self, record: tuple[Any, ...]) -> Operation:
        kind, operands, results, numbers, properties, attributes, location, successors, regions = (
            record
        )
        known, values = self.attributes, self.values
        ready = all(number in values for number in operands)
        op = kind.create(
            operands=[values[number] for number in operands] if ready else (),
            result_types=[known[type_] for type_, _ in results],
            properties={name: known[value] for name, value in properties},
            attributes={name: known[value] for name, value in attributes},
            location=known[location],
            successors=[self.blocks[number] for number in successors],
            regions=[self._region(region) for region in regions],
        )
        if not ready:
            self.early.append((op, operands))
        self._define(op.results, results, numbers)
        return op

    def _define(
        self,
        made: Sequence[SSAValue],
        records: _Values,
        numbers: list[int],
    ) -> None:
        for value, (_, hint), number in zip(made, records, numbers, strict=True):
            value.name_hint = hint
            self.values[number] = value

    def _region(self, records: list[_Block]) -> Region:
        blocks = [
            Block(arg_types=[self.attributes[type_] for type_, _ in arguments])
            for _, arguments, _, _, _ in records
        ]
        self.blocks += blocks
        for block, record in zip(blocks, records, strict=True):
            block.name_hint, arguments, numbers, places, operations = record
            self._define(block.args, arguments, numbers)
            for argument, place in zip(block.args, places, strict=True):
                argument.location = cast(LocationAttr, self.attributes[place])
            for operation in operations:
                block.add_op(self.operation(operation))
        return Region(blocks)


def unflatten(data: bytes) -> Operation:
    """The operation from the bytes of `flatten`. `data` must come from this process or from one that it
    trusts."""
    attributes, tree = pickle.loads(data)
    reader = _FlatReader(attributes)
    op = reader.operation(tree)
    for early, operands in reader.early:
        early.operands = [reader.values[number] for number in operands]
    return op
