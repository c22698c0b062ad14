"""
The target machine of a module (`#accx.machine`), which passes read unless an option of theirs overrides it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntAttr, ModuleOp, StringAttr

from ....dialects.accx import MACHINE
from ....dialects.accx_machine import FLAGS, MachineAttr
from ...decisions.schedule import Target

REDUX_SM = 80
"""The first compute capability with `redux.sync` (PTX ISA, redux.sync)."""


@dataclass(frozen=True)
class Machine:
    """The fields of `MachineAttr`. The defaults, for modules without the attribute, stand for any GPU."""

    target: Target = "nvptx"
    sm: int = 0
    simulated: bool = False
    fast_math: bool = False
    check_cache: bool = False
    as_written: bool = False
    no_fma: bool = False
    managed: bool = False

    @property
    def has_redux(self) -> bool:
        """Whether a warp reduces integers in one instruction."""
        return self.sm >= REDUX_SM


def machine_of(module: ModuleOp) -> Machine:
    """The machine that `module` is compiled for."""
    attr = module.attributes.get(MACHINE)
    if not isinstance(attr, MachineAttr):
        return Machine()
    flags = {flag.data: True for flag in attr.flags}
    return Machine(cast(Target, attr.target.data), attr.sm.data, **flags)


def machine_attr(machine: Machine) -> MachineAttr:
    """`machine` as the attribute of modules."""
    flags = [StringAttr(flag) for flag in FLAGS if getattr(machine, flag)]
    return MachineAttr(StringAttr(machine.target), IntAttr(machine.sm), ArrayAttr(flags))


def set_machine(module: ModuleOp, machine: Machine) -> None:
    """Stores in `module` the machine that it is compiled for."""
    module.attributes[MACHINE] = machine_attr(machine)
