"""Recipes as text, made by the builder that the compiler uses."""

from __future__ import annotations

from accopt.compiler.base.diagnostics import UNKNOWN_LOC
from accopt.compiler.ir.context import make_context
from accopt.passes.ir.variables.recipes import firstprivate_recipe, private_recipe, reduction_recipe
from xdsl.dialects import acc
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.parser import Parser

LOC = UNKNOWN_LOC.to_attr()


def _text(module: ModuleOp, name: str) -> str:
    (recipe,) = module.body.block.ops
    recipe.properties["sym_name"] = StringAttr(name)
    return str(recipe) + "\n"


def _type(text: str):
    return Parser(make_context(), text).parse_type()


def reduction(name: str, operator: str, type: str, *, unsigned: bool = False) -> str:
    """The reduction recipe @`name` of a type in MLIR's syntax."""
    module = ModuleOp([])
    kind = acc.ReductionOpKind(operator)
    reduction_recipe(module, kind, _type(type), LOC, signed=not unsigned)
    return _text(module, name)


def private(name: str, type: str) -> str:
    module = ModuleOp([])
    private_recipe(module, _type(type), LOC)
    return _text(module, name)


def firstprivate(name: str, type: str) -> str:
    module = ModuleOp([])
    firstprivate_recipe(module, _type(type), LOC)
    return _text(module, name)
