"""Directives that are statements by themselves (OpenACC 3.4, 2.6.6, 2.14 and 2.16)."""

from __future__ import annotations

from xdsl.dialects import acc
from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.ir import SSAValue

from ...base.diagnostics import error
from ...c import ast as c
from ...directives.records import DeviceTypeClause, Directive, VarListClause
from ..function import FunctionState
from . import compression, data, peer
from .common import condition_of, queues, single_i32

_EXIT = {
    "copyout": ("copyout", acc.DataClause.ACC_COPYOUT),
    "delete": ("delete", acc.DataClause.ACC_DELETE),
    "detach": ("detach", acc.DataClause.ACC_DETACH),
}


def emit_enter_data(fn: FunctionState, s: c.AccStmt) -> None:
    """`enter data`."""
    directive = s.directive
    if_cond = condition_of(fn, directive, "if")
    q = queues(fn, directive)
    mappings = compression.enter_clauses(fn, directive, structured=False)
    data.gather(fn, [m.device for m in mappings])
    fn.b.add(
        acc.EnterDataOp(
            if_cond=if_cond,
            **q.plain,
            data_clause_operands=[m.device for m in mappings],
        )
    )


def emit_exit_data(fn: FunctionState, s: c.AccStmt) -> None:
    """`exit data`."""
    directive = s.directive
    if_cond = condition_of(fn, directive, "if")
    q = queues(fn, directive)
    mappings: list[data.Mapping] = []
    for clause in directive.clauses:
        # The runtime knows which data is compressed, whatever the clause's name.
        plain = clause.name.removeprefix("compression_")
        if plain in _EXIT and isinstance(clause, VarListClause):
            exit_, name = _EXIT[plain]
            modifiers = None if plain != clause.name else data.modifiers_of(clause)
            for item in clause.items:
                x = data.locate(fn, clause, item)
                device = data.entry(fn, acc.GetDevicePtrOp, x, name, structured=False)
                mappings.append(data.Mapping(x, device, exit_, name, modifiers, structured=False))
    fn.b.at(directive.loc)
    fn.b.add(
        acc.ExitDataOp(
            if_cond=if_cond,
            **q.plain,
            data_clause_operands=[m.device for m in mappings],
            finalize=directive.has("finalize"),
        )
    )
    for m in mappings:
        data.exit_mapping(fn, m)


def emit_update(fn: FunctionState, s: c.AccStmt) -> None:
    """`update` (2.14.4)."""
    directive = s.directive
    if peer.is_peer(directive):
        peer.emit(fn, s)
        return
    if_cond = condition_of(fn, directive, "if")
    q = queues(fn, directive)
    operands: list[SSAValue] = []
    to_host: list[tuple[data.Located, SSAValue, acc.DataClause]] = []
    for clause in directive.clauses:
        if not isinstance(clause, VarListClause):
            continue
        for item in clause.items:
            x = data.locate(fn, clause, item)
            if clause.name == "device":
                device = data.entry(
                    fn, acc.UpdateDeviceOp, x, acc.DataClause.ACC_UPDATE_DEVICE, structured=False
                )
            else:
                spelled_host = clause.spelling == "host"
                name = (
                    acc.DataClause.ACC_UPDATE_HOST
                    if spelled_host
                    else acc.DataClause.ACC_UPDATE_SELF
                )
                device = data.entry(fn, acc.GetDevicePtrOp, x, name, structured=False)
                to_host.append((x, device, name))
            operands.append(device)
    fn.b.at(directive.loc)
    fn.b.add(
        acc.UpdateOp(
            if_cond=if_cond,
            **q.by_device,
            data_clause_operands=operands,
            if_present=directive.has("if_present"),
        )
    )
    for x, device, name in to_host:
        fn.b.add(
            acc.UpdateHostOp(
                acc_var=device,
                var=x.var,
                bounds=x.bounds,
                var_type=x.var_type,
                data_clause=name,
                structured=False,
                var_name=x.name,
            )
        )


def emit_wait(fn: FunctionState, s: c.AccStmt) -> None:
    """`wait` (2.16.3)."""
    directive = s.directive
    if_cond = condition_of(fn, directive, "if")
    q = queues(fn, directive)
    fn.b.add(
        acc.WaitOp(
            wait_operands=q.wait_operands,
            async_operand=q.async_operand,
            wait_devnum=q.wait_devnum,
            if_cond=if_cond,
            async_attr=UnitAttr() if q.async_bare else None,
        )
    )


def _device_types(directive: Directive) -> list[acc.DeviceTypeAttr]:
    clause = directive.find("device_type", DeviceTypeClause)
    out: list[acc.DeviceTypeAttr] = []
    for word in () if clause is None else clause.types:
        try:
            out.append(acc.DeviceTypeAttr(acc.DeviceType("star" if word == "*" else word)))
        except ValueError:
            assert clause is not None
            raise error(
                clause.loc,
                f"unknown device type '{word}'",
                "use one of default, host, multicore, nvidia, radeon or *",
            ) from None
    return out


def emit_init(fn: FunctionState, s: c.AccStmt) -> None:
    """`init` (2.14.1)."""
    _init_or_shutdown(fn, s.directive, acc.InitOp)


def emit_shutdown(fn: FunctionState, s: c.AccStmt) -> None:
    """`shutdown` (2.14.2)."""
    _init_or_shutdown(fn, s.directive, acc.ShutdownOp)


def _init_or_shutdown(
    fn: FunctionState, directive: Directive, op: type[acc.InitOp] | type[acc.ShutdownOp]
) -> None:
    types = _device_types(directive)
    number = single_i32(fn, directive, "device_num")
    if_cond = condition_of(fn, directive, "if")
    fn.b.add(
        op(
            device_num=number,
            if_cond=if_cond,
            device_types=ArrayAttr(types) if types else None,
        )
    )


def emit_set(fn: FunctionState, s: c.AccStmt) -> None:
    """`set` (2.14.3)."""
    directive = s.directive
    types = _device_types(directive)
    default_async = single_i32(fn, directive, "default_async")
    number = single_i32(fn, directive, "device_num")
    if_cond = condition_of(fn, directive, "if")
    fn.b.add(
        acc.SetOp(
            default_async=default_async,
            device_num=number,
            if_cond=if_cond,
            device_type=types[0] if types else None,
        )
    )
