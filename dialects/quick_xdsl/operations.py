"""Faster creation of operations, and access to their fields, if the arguments match the definition."""

# pyright: reportPrivateUsage=false, reportUnknownMemberType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.dialects.builtin import UNKNOWN_LOC, DenseArrayBase, i32
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue, Use, core
from xdsl.irdl import operations as irdl
from xdsl.irdl.operations import VarIRConstruct


def _init_operation(
    self: Operation,
    *,
    operands: Sequence[SSAValue] = (),
    result_types: Sequence[Attribute] = (),
    properties: Mapping[str, Attribute] = {},
    attributes: Mapping[str, Attribute] = {},
    location: Any = None,
    successors: Sequence[Block] = (),
    regions: Sequence[Region] = (),
) -> None:
    if operands:
        _set_operands(self, operands)
    else:
        self._operands = _NO_VALUES
    if not result_types:
        self.results = _NO_VALUES
    elif len(result_types) == 1:
        self.results = core.SSAValues((OpResult(result_types[0], self, 0),))
    else:
        self.results = core.SSAValues(
            [OpResult(result, self, i) for i, result in enumerate(result_types)]
        )
    self.properties = dict(properties)
    self.attributes = dict(attributes)
    self.location = UNKNOWN_LOC if location is None else location
    if successors:
        self.successors = successors
    self.regions = ()
    for region in regions:
        self.add_region(region)
    self.__post_init__()


def _set_operands(op: Operation, operands: Sequence[SSAValue]) -> None:
    op._operands = values = core.SSAValues(operands)
    uses: list[Use] = []
    for index, value in enumerate(values):
        following = value.first_use
        value.first_use = use = Use(op, index, None, following)
        if following is not None:
            following._prev_use = use
        uses.append(use)
    op._operand_uses = tuple(uses)


_NO_VALUES: Any = core.SSAValues()


_defaults: dict[type, tuple[tuple[tuple[str, Attribute], ...], ...]] = {}
"""Operation class → its default properties and attributes with their values."""


_NO_DEFAULTS: tuple[tuple[tuple[str, Attribute], ...], ...] = ((), ())


def _default_values(cls: type[irdl.IRDLOperation]) -> tuple[tuple[tuple[str, Attribute], ...], ...]:
    definition = cls.get_irdl_definition()
    found = tuple(
        tuple(
            (name, d.default_value)
            for name, d in definitions.items()
            if not isinstance(d, irdl.OptionalDef) and d.default_value is not None
        )
        for definitions in (definition.properties, definition.attributes)
    )
    return found if any(found) else _NO_DEFAULTS


def _set_defaults(self: Operation, cls: type[irdl.IRDLOperation]) -> None:
    found = _defaults.get(cls)
    if found is None:
        found = _defaults[cls] = _default_values(cls)
    if found is _NO_DEFAULTS:
        return
    own, loose = found
    for name, value in own:
        self.properties.setdefault(name, value)
    for name, value in loose:
        self.attributes.setdefault(name, value)


def _add_defaults(self: irdl.IRDLOperation) -> None:
    if _defaults.get(self.__class__) is not _NO_DEFAULTS:
        _set_defaults(self, self.__class__)
    Operation.__post_init__(self)  # for `ImplicitBuilder`, which listens here


def become(
    op: Operation, cls: type[irdl.IRDLOperation], properties: Mapping[str, Attribute]
) -> None:
    """
    Makes `op` an operation of class `cls` with these properties. It keeps its operands, results,
    attributes, successors and position: equivalent to a replacement, but without a new object.
    """
    op.__class__ = cls
    op.properties = dict(properties)
    _set_defaults(op, cls)


_Kinds = tuple[bool, ...]
"""For each operand, result or successor of a definition, whether it is variadic."""


class _Shape:
    """The shape of a definition, for the fast path; `usual` is false if the fast path does not support it."""

    def __init__(self, definition: irdl.OpDef):
        many = [_many(d) for d in (definition.operands, definition.results, definition.successors)]
        self.operands, self.results, self.successors = many
        self.regions = len(definition.regions)
        self.counts = *(len(many_) for many_ in many), self.regions
        segments = [o for o in definition.options if isinstance(o, irdl.AttrSizedSegments)]
        self.sizes: bool | None = segments[0].as_property if segments else None
        """Whether operand segment sizes are a property (true) or an attribute; None if there are none."""
        self.usual = (
            all(isinstance(o, irdl.AttrSizedOperandSegments) for o in segments)
            and not any(isinstance(o, irdl.SameVariadicSize) for o in definition.options)
            and not any(_many(definition.regions))
        )
        self.single = self.usual and self.sizes is None and not any(sum(many, ()))
        """Whether no operand, result or successor is variadic or optional."""


def _many(definitions: Sequence[tuple[str, Any]]) -> _Kinds:
    return tuple(
        isinstance(d, irdl.VariadicDef) and not isinstance(d, irdl.OptionalDef)
        for _, d in definitions
    )


_shapes: dict[int, tuple[irdl.OpDef, _Shape]] = {}
"""The shapes by the identity of definitions, which are kept alive here."""


def _shape_of(definition: irdl.OpDef) -> _Shape:
    found = _shapes.get(id(definition))
    if found is None:
        found = _shapes[id(definition)] = definition, _Shape(definition)
    return found[1]


def _flat(
    arguments: Sequence[Any], kinds: _Kinds, single: type
) -> tuple[list[Any], list[int]] | None:
    """
    The arguments as one flat list, with the number that belongs to each definition; None if the fast path
    does not support them.
    """
    if len(arguments) != len(kinds):
        return None
    flat: list[Any] = []
    sizes: list[int] = []
    for argument, many in zip(arguments, kinds, strict=True):
        if isinstance(argument, single):
            flat.append(argument)
            sizes.append(1)
        elif many and (type(argument) is list or type(argument) is tuple):
            for part in argument:
                if not isinstance(part, single):
                    return None
            flat += argument
            sizes.append(len(argument))
        else:
            return None
    return flat, sizes


def _single(
    shape: _Shape,
    operands: Sequence[Any],
    result_types: Sequence[Any],
    successors: Sequence[Any],
    regions: Sequence[Any],
) -> _Plain | None:
    """As `_flat`, for all arguments of an operation whose definitions are all single."""
    counts = len(operands), len(result_types), len(successors), len(regions)
    if counts != shape.counts:
        return None
    values: list[SSAValue] = []
    for value in operands:
        if isinstance(value, Operation) and len(value.results) == 1:
            value = value.results[0]
        if not isinstance(value, SSAValue):
            return None
        values.append(value)
    for type_ in result_types:
        if not isinstance(type_, Attribute):
            return None
    for block in successors:
        if not isinstance(block, Block):
            return None
    for region in regions:
        if not isinstance(region, Region):
            return None
    return (values, _ONES), (result_types, _ONES), (successors, _ONES)


_Plain = tuple[tuple[Sequence[Any], Sequence[int]], ...]
"""Operands, result types and successors, each with the number that belongs to each definition."""

_ONES = (1,)


def _init_irdl(
    self: irdl.IRDLOperation,
    op_def: irdl.OpDef,
    *,
    operands: Sequence[Any],
    result_types: Sequence[Any],
    properties: Mapping[str, Attribute | None],
    attributes: Mapping[str, Attribute | None],
    successors: Sequence[Any],
    regions: Sequence[Any],
) -> None:
    shape = _shape_of(op_def)
    plain = None
    if shape.single:
        plain = _single(shape, operands, result_types, successors, regions)
    elif shape.usual and len(regions) == shape.regions:
        values = _flat(
            [
                v.results[0] if isinstance(v, Operation) and len(v.results) == 1 else v
                for v in operands
            ],
            shape.operands,
            SSAValue,
        )
        types = _flat(result_types, shape.results, Attribute)
        blocks = _flat(successors, shape.successors, Block)
        if all(isinstance(region, Region) for region in regions):
            plain = values and types and blocks and (values, types, blocks)
    if not plain:
        _slow_init(
            self,
            op_def,
            operands=operands,
            result_types=result_types,
            properties=properties,
            attributes=attributes,
            successors=successors,
            regions=regions,
        )
        return
    (values, sizes), (types, _), (blocks, _) = plain
    own: dict[str, Attribute] = {}
    for name, value in properties.items():
        if value is not None:
            own[name] = value
    loose: dict[str, Attribute] = {}
    for name, value in attributes.items():
        if value is not None:
            loose[name] = value
    if shape.sizes is not None:
        (own if shape.sizes else loose)[irdl.AttrSizedOperandSegments.attribute_name] = (
            DenseArrayBase.from_list(i32, sizes)
        )
    Operation.__init__(
        self,
        operands=values,
        result_types=types,
        properties=own,
        attributes=loose,
        successors=blocks,
        regions=regions,
    )


_slow_init = irdl.irdl_op_init


def _clone_without_regions(
    self: Operation,
    value_mapper: dict[SSAValue, SSAValue] | None = None,
    block_mapper: dict[Block, Block] | None = None,
    *,
    clone_name_hints: bool = True,
    clone_operands: bool = True,
) -> Operation:
    if self._successors or not clone_operands:
        return _slow_clone(
            self,
            value_mapper,
            block_mapper,
            clone_name_hints=clone_name_hints,
            clone_operands=clone_operands,
        )
    mapped = {} if value_mapper is None else value_mapper
    cls = self.__class__
    copy = cls.__new__(cls)
    operands = self._operands
    if operands:
        _set_operands(copy, [mapped.get(operand, operand) for operand in operands])
    else:
        copy._operands = _NO_VALUES
    made: list[OpResult] = []
    for result in self.results:
        mapped[result] = copied = OpResult(result._type, copy, len(made))
        if clone_name_hints:
            copied._name = result._name
        made.append(copied)
    copy.results = core.SSAValues(made) if made else _NO_VALUES
    copy.properties = self.properties.copy()
    copy.attributes = self.attributes.copy()
    copy.location = self.location
    copy.regions = ()
    for _ in self.regions:
        copy.add_region(Region())
    post_init = cls.__post_init__
    # The defaults are among the properties.
    (Operation.__post_init__ if post_init is _add_defaults else post_init)(copy)
    return copy


_slow_clone = Operation.clone_without_regions


def _clone(
    self: Operation,
    value_mapper: dict[SSAValue, SSAValue] | None = None,
    block_mapper: dict[Block, Block] | None = None,
    *,
    clone_name_hints: bool = True,
    clone_operands: bool = True,
) -> Operation:
    """
    Replaces `Operation.clone`. Operands are set when operations are created, unless a region has several
    blocks, where a value may be used, in textual order, before it is defined.
    """
    if self.regions and not (clone_operands and _is_in_order(self)):
        return _slow_whole_clone(
            self,
            value_mapper,
            block_mapper,
            clone_name_hints=clone_name_hints,
            clone_operands=clone_operands,
        )
    values = {} if value_mapper is None else value_mapper
    blocks = {} if block_mapper is None else block_mapper
    if not self.regions:
        return self.clone_without_regions(
            values, blocks, clone_name_hints=clone_name_hints, clone_operands=clone_operands
        )
    return _clone_in_order(self, values, blocks, clone_name_hints)


def _is_in_order(op: Operation) -> bool:
    """Whether no region in `op` has several blocks."""
    for region in op.regions:
        block = region._first_block
        if block is None:
            continue
        if block._next_block is not None:
            return False
        inner = block._first_op
        while inner is not None:
            if inner.regions and not _is_in_order(inner):
                return False
            inner = inner._next_op
    return True


def _clone_in_order(
    op: Operation, values: dict[SSAValue, SSAValue], blocks: dict[Block, Block], hints: bool
) -> Operation:
    copy = op.clone_without_regions(values, blocks, clone_name_hints=hints)
    for region, copied in zip(op.regions, copy.regions, strict=True):
        block = region._first_block
        if block is None:
            continue
        blocks[block] = made = Block(arg_types=[arg._type for arg in block.args])
        for arg, own in zip(block.args, made.args, strict=True):
            values[arg] = own
            own.location = arg.location
            if hints:
                own._name = arg._name
        copied.add_block(made)
        inner = block._first_op
        while inner is not None:
            if inner.regions:
                made.add_op(_clone_in_order(inner, values, blocks, hints))
            else:
                made.add_op(inner.clone_without_regions(values, blocks, clone_name_hints=hints))
            inner = inner._next_op
    return copy


_slow_whole_clone = Operation.clone


def _get_fixed(self: irdl.BeforeVariadicSingleAccessor, obj: Operation, objtype: Any = None) -> Any:
    return tuple.__getitem__(_arguments(obj, self.construct), self.idx)


def _get_any(self: irdl.BaseAccessor, obj: Operation, objtype: Any = None) -> Any:
    return self.index(_arguments(obj, self.construct))


def _get_segment(self: irdl.BaseAttrAccessor, obj: Operation, objtype: Any = None) -> Any:
    sizes: Any = self.option.container(obj)[self.option.attribute_name]
    return self.index(sizes.get_values(), _arguments(obj, self.construct))


def _get_single_segment(self: irdl.SingleAttrAccessor, obj: Operation, objtype: Any = None) -> Any:
    # What comes first needs no sizes.
    if self.idx:
        return _get_segment(self, obj)
    return tuple.__getitem__(_arguments(obj, self.construct), 0)


def _arguments(op: Operation, construct: VarIRConstruct) -> tuple[Any, ...]:
    if construct is VarIRConstruct.OPERAND:
        return op._operands
    if construct is VarIRConstruct.RESULT:
        return op.results
    return op.regions if construct is VarIRConstruct.REGION else op._successors


def _get_value(self: core.SSAValues, idx: Any) -> Any:
    found = tuple.__getitem__(self, idx)
    return core.SSAValues(found) if idx.__class__ is slice else found


def _attach(self: Block, operation: Operation) -> None:
    # Only an operation with regions can contain the block.
    if operation.parent is not None or operation.regions:
        _slow_attach(self, operation)
    else:
        operation.parent = self


_slow_attach = Block._attach_op


def _insert_after(self: Block, new_op: Operation, existing_op: Operation) -> None:
    if existing_op.parent is not self:
        raise ValueError("Can't insert operation after operation not in this block.")
    self._attach_op(new_op)
    following = existing_op._next_op
    new_op._prev_op = existing_op
    new_op._next_op = following
    existing_op._next_op = new_op
    if following is None:
        self._last_op = new_op
    else:
        following._prev_op = new_op


def _insert_before(self: Block, new_op: Operation, existing_op: Operation) -> None:
    if existing_op.parent is not self:
        raise ValueError("Can't insert operation before operation not in current block")
    self._attach_op(new_op)
    previous = existing_op._prev_op
    new_op._prev_op = previous
    new_op._next_op = existing_op
    existing_op._prev_op = new_op
    if previous is None:
        self._first_op = new_op
    else:
        previous._next_op = new_op


def _get_ssa_value(arg: SSAValue | Operation, *, type: Any = Attribute) -> SSAValue:
    if type is Attribute and isinstance(arg, SSAValue):
        return arg
    return _slow_get(arg, type=type)


_slow_get = SSAValue.get


def install() -> None:
    """Replaces methods of xDSL's operations by those of this module."""
    for cls, name, function in (
        (Operation, "__init__", _init_operation),
        (irdl.IRDLOperation, "__post_init__", _add_defaults),
        (irdl, "irdl_op_init", _init_irdl),
        (irdl.BaseAccessor, "__get__", _get_any),
        (irdl.BeforeVariadicSingleAccessor, "__get__", _get_fixed),
        (irdl.BaseAttrAccessor, "__get__", _get_segment),
        (irdl.SingleAttrAccessor, "__get__", _get_single_segment),
        (core.SSAValues, "__getitem__", _get_value),
        (Operation, "clone_without_regions", _clone_without_regions),
        (Operation, "clone", _clone),
        (Block, "_attach_op", _attach),
        (Block, "insert_op_after", _insert_after),
        (Block, "insert_op_before", _insert_before),
        (SSAValue, "get", staticmethod(_get_ssa_value)),
    ):
        setattr(cls, name, function)
