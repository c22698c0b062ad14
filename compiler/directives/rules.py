"""
Tables of the clauses that each directive may have (OpenACC 3.4, 2.5 to 2.16, and research extensions).

`DIRECTIVES` has one `DirectiveRule` per directive: its clauses and their forms, which of them may
follow `device_type`, and which are required. `ALIASES`, `modifiers_of` and `exclusive_on` serve all
directives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import combinations

from .records import DirectiveKind

K = DirectiveKind


class Form(Enum):
    """The form of a clause's argument in parentheses."""

    FLAG = auto()  # nothing, and no parentheses
    EXPR = auto()  # one expression
    OPTIONAL_EXPR = auto()  # one expression, or no parentheses
    SIZES = auto()  # one to three expressions
    VARS = auto()  # [modifiers:] variables and sections
    NAMES = auto()  # [modifiers:] variables without sections
    SECTIONS = auto()  # variables with sections [start:length] or [start:length:min:max]
    REDUCTION = auto()  # operator: variables
    GANG = auto()  # [num:]n, dim:d, static:s
    WORKER = auto()  # [num:]n, or no parentheses
    VECTOR = auto()  # [length:]n, or no parentheses
    ROUTINE_GANG = auto()  # dim:d, or no parentheses
    COLLAPSE = auto()  # [force:]n
    TILE = auto()  # sizes, each an expression or *
    WAIT = auto()  # [devnum:n:][queues:]queues, or no parentheses
    DEFAULT = auto()  # none or present
    DEVICE_TYPE = auto()  # one device type
    DEVICE_TYPES = auto()  # device types, or *
    BIND = auto()  # a name or a string
    SCAN = auto()  # operator: in, out, identity, count
    PEER_SECTION = auto()  # one section
    PEER_DEVICE = auto()  # one expression


REPEATABLE_FORMS = frozenset((Form.VARS, Form.NAMES, Form.SECTIONS, Form.REDUCTION, Form.WAIT))
"""Forms of clauses that may be repeated. Clauses of other forms may occur once on a directive and once
after each device_type."""


@dataclass(frozen=True)
class DirectiveRule:
    """
    `clauses` maps each clause to its form. Those in `after_device_type` may follow a `device_type` clause
    (when empty, the directive takes none). At least one of `needs` is required. `tolerated` clauses are not
    in the specification: they get a warning (`c/sema/leniency.py`).
    """

    clauses: Mapping[str, Form]
    after_device_type: frozenset[str] = frozenset()
    needs: tuple[str, ...] = ()
    tolerated: Mapping[str, Form] = field(default_factory=dict[str, Form])


_COPIES = ("copy", "copyin", "copyout", "create")
_COMPRESSED = tuple(f"compression_{name}" for name in _COPIES)
_DATA_CLAUSES = (
    "copy", "copyin", "copyout", "create", "no_create", "present", "deviceptr", "attach",
)  # fmt: skip
_DECLARED = (
    "copy", "copyin", "copyout", "create", "present", "deviceptr", "device_resident", "link",
)  # fmt: skip
_SYNC: Mapping[str, Form] = {"async": Form.OPTIONAL_EXPR, "wait": Form.WAIT}
_DATA: Mapping[str, Form] = {
    **dict.fromkeys(_DATA_CLAUSES, Form.VARS),
    **dict.fromkeys(_COMPRESSED, Form.SECTIONS),
}
_DEVICE: Mapping[str, Form] = {"deviceid": Form.EXPR}

_KERNELS: Mapping[str, Form] = {
    **_DATA,
    **_SYNC,
    **_DEVICE,
    "num_gangs": Form.EXPR,
    "num_workers": Form.EXPR,
    "vector_length": Form.EXPR,
    "if": Form.EXPR,
    "self": Form.OPTIONAL_EXPR,
    "default": Form.DEFAULT,
    "compression": Form.VARS,
}
_PARALLEL: Mapping[str, Form] = {
    **_KERNELS,
    "num_gangs": Form.SIZES,
    "private": Form.VARS,
    "firstprivate": Form.VARS,
    "reduction": Form.REDUCTION,
}
_SIZES = frozenset(("num_gangs", "num_workers", "vector_length"))
_SERIAL = {name: form for name, form in _PARALLEL.items() if name not in _SIZES}
_LOOP: Mapping[str, Form] = {
    "collapse": Form.COLLAPSE,
    "gang": Form.GANG,
    "worker": Form.WORKER,
    "vector": Form.VECTOR,
    "seq": Form.FLAG,
    "auto": Form.FLAG,
    "independent": Form.FLAG,
    "tile": Form.TILE,
    "private": Form.VARS,
    "reduction": Form.REDUCTION,
    "scan": Form.SCAN,
}
_AFTER_SYNC = frozenset(_SYNC)
_AFTER_COMPUTE = _AFTER_SYNC | _SIZES
_AFTER_LOOP = frozenset(_LOOP) - {"private", "reduction", "scan"}

DIRECTIVES: Mapping[DirectiveKind, DirectiveRule] = {
    K.PARALLEL: DirectiveRule(_PARALLEL, _AFTER_COMPUTE),
    K.SERIAL: DirectiveRule(_SERIAL, _AFTER_SYNC),
    K.KERNELS: DirectiveRule(_KERNELS, _AFTER_COMPUTE, tolerated={"private": Form.VARS}),
    K.LOOP: DirectiveRule(_LOOP, _AFTER_LOOP),
    K.PARALLEL_LOOP: DirectiveRule({**_PARALLEL, **_LOOP}, _AFTER_COMPUTE | _AFTER_LOOP),
    K.SERIAL_LOOP: DirectiveRule({**_SERIAL, **_LOOP}, _AFTER_SYNC | _AFTER_LOOP),
    K.KERNELS_LOOP: DirectiveRule({**_KERNELS, **_LOOP}, _AFTER_COMPUTE | _AFTER_LOOP),
    K.DATA: DirectiveRule(
        {**_DATA, **_SYNC, **_DEVICE, "if": Form.EXPR, "default": Form.DEFAULT},
        _AFTER_SYNC,
    ),
    K.ENTER_DATA: DirectiveRule(
        {
            **_SYNC,
            **_DEVICE,
            "if": Form.EXPR,
            **dict.fromkeys(("copyin", "create", "attach"), Form.VARS),
            **dict.fromkeys(("compression_copyin", "compression_create"), Form.SECTIONS),
        },
        needs=("copyin", "create", "attach", "compression_copyin", "compression_create"),
    ),
    K.EXIT_DATA: DirectiveRule(
        {
            **_SYNC,
            **_DEVICE,
            "if": Form.EXPR,
            "finalize": Form.FLAG,
            **dict.fromkeys(("copyout", "delete", "detach"), Form.VARS),
            "compression_copyout": Form.SECTIONS,
        },
        needs=("copyout", "delete", "detach", "compression_copyout"),
    ),
    K.HOST_DATA: DirectiveRule(
        {"use_device": Form.VARS, **_DEVICE, "if": Form.EXPR, "if_present": Form.FLAG},
        needs=("use_device",),
    ),
    K.CACHE: DirectiveRule({}),
    K.ATOMIC: DirectiveRule({"if": Form.EXPR}),
    K.DECLARE: DirectiveRule(
        dict.fromkeys(_DECLARED, Form.NAMES),
        needs=_DECLARED,
    ),
    K.ROUTINE: DirectiveRule(
        {
            "gang": Form.ROUTINE_GANG,
            "worker": Form.FLAG,
            "vector": Form.FLAG,
            "seq": Form.FLAG,
            "bind": Form.BIND,
            "nohost": Form.FLAG,
        },
        frozenset(("gang", "worker", "vector", "seq", "bind")),
    ),
    K.INIT: DirectiveRule(
        {"device_type": Form.DEVICE_TYPES, "device_num": Form.EXPR, "if": Form.EXPR}
    ),
    K.SHUTDOWN: DirectiveRule(
        {"device_type": Form.DEVICE_TYPES, "device_num": Form.EXPR, "if": Form.EXPR}
    ),
    K.SET: DirectiveRule(
        {
            "default_async": Form.EXPR,
            "device_num": Form.EXPR,
            "device_type": Form.DEVICE_TYPE,
            "if": Form.EXPR,
        },
        needs=("default_async", "device_num", "device_type"),
    ),
    K.UPDATE: DirectiveRule(
        {
            **_SYNC,
            **_DEVICE,
            "if": Form.EXPR,
            "if_present": Form.FLAG,
            "self": Form.VARS,
            "device": Form.VARS,
        },
        _AFTER_SYNC,
        ("self", "device"),
    ),
    K.WAIT: DirectiveRule({"async": Form.OPTIONAL_EXPR, "if": Form.EXPR, **_DEVICE}),
}  # fmt: skip

PEER_UPDATE = DirectiveRule(
    {
        **_SYNC,
        "if": Form.EXPR,
        "to": Form.PEER_SECTION,
        "to_device": Form.PEER_DEVICE,
        "from": Form.PEER_SECTION,
        "from_device": Form.PEER_DEVICE,
    }
)
"""`update peer …` (research extension): all four of its own clauses are required."""

PEER_CLAUSES = ("to", "to_device", "from", "from_device")

DEPRECATED: Mapping[str, str] = {
    f"{prefix}{name}": name for prefix in ("p", "present_or_") for name in _COPIES
}
"""Deprecated spellings, which get a warning (OpenACC 3.4, 2.7) → canonical clause name."""

ALIASES: Mapping[str, str] = {
    **DEPRECATED,
    **{
        f"{prefix}{name}": f"compression_{name}"
        for prefix in ("c", "pc", "present_or_compression_")
        for name in _COPIES
    },
    "dtype": "device_type",
}
"""Other spelling → canonical clause name. `pc…` and `present_or_compression_…` mean the same
as the plain compression clause, which also looks for present data first."""


def aliases_on(kind: DirectiveKind) -> Mapping[str, str]:
    """
    All other spellings on this directive: those in `ALIASES`; `host` for `self` on update; `device` for
    `deviceid` where `device` has no other meaning; and `deviceid` for `device_num` on init and shutdown,
    which have that clause.
    """
    if kind in (K.INIT, K.SHUTDOWN):
        return {**ALIASES, "deviceid": "device_num", "device": "device_num"}
    if kind is K.UPDATE:
        return {**ALIASES, "host": "self"}
    if "deviceid" in DIRECTIVES[kind].clauses:
        return {**ALIASES, "device": "deviceid"}
    return ALIASES


_CAPTURE_DIRECTIVES = frozenset(kind for kind in K if kind is K.DATA or kind.is_compute)

PACKED_FORMATS = (
    "half",
    "bfloat16",
    "plain",
    "soa",
    "centred",
    *(f"bits{n}" for n in range(8, 51)),
)
"""Modifiers of compression clauses, which select the format of numbers on the device
(docs/compression.md)."""

_MODIFIERS: Mapping[str, tuple[str, ...]] = {
    "copy": ("always", "alwaysin", "alwaysout"),
    "copyin": ("always", "alwaysin", "readonly"),
    "copyout": ("always", "alwaysout", "zero"),
    "create": ("zero",),
    "cache": ("readonly",),
    **dict.fromkeys((*_COMPRESSED, "compression"), PACKED_FORMATS),
}

ALL_MODIFIERS = ("always", "alwaysin", "alwaysout", "capture", "readonly", "zero")


def modifiers_of(clause: str, kind: DirectiveKind) -> tuple[str, ...]:
    """The modifiers a clause takes; `capture` only on structured constructs (3.4, 2.7.4)."""
    plain = _MODIFIERS.get(clause, ())
    captures = plain and plain[0] != "half" and clause != "cache" and kind in _CAPTURE_DIRECTIVES
    return (*plain, "capture") if captures else plain


_EXCLUSIVE = frozenset(
    frozenset(("seq", other)) for other in ("auto", "independent", "gang", "worker", "vector")
) | {frozenset(("auto", "independent"))}
_EXCLUSIVE_ON_ROUTINES = frozenset(
    map(frozenset, combinations(("gang", "worker", "vector", "seq"), 2))
)


def exclusive_on(kind: DirectiveKind) -> frozenset[frozenset[str]]:
    """The pairs of clauses that exclude each other: on a loop (3.4, 2.9), or on a routine, which has one
    level (2.15.1)."""
    return _EXCLUSIVE_ON_ROUTINES if kind is K.ROUTINE else _EXCLUSIVE


REDUCTION_OPERATORS = ("+", "*", "max", "min", "&", "|", "^", "&&", "||")

DEVICE_TYPES = ("*", "default", "host", "multicore", "nvidia", "radeon")
"""Names of `device_type`, in lower case (3.4, 2.4)."""
