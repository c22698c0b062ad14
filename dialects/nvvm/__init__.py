"""
`nvvm`: the operations of upstream MLIR's dialect that accopt's kernels use, under upstream's names
and syntax. Chapters are those of the PTX ISA 8.8 manual.

Kernels are `llvm.func`s with the discardable attribute `nvvm.kernel`; `nvvm.reqntid`,
`nvvm.maxntid` (arrays of up to three i32) and `nvvm.minctasm` (i32) are the performance-tuning
directives of chapter 11.4.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from .address_spaces import (
    ADDRESS_SPACE_CONSTANT,
    ADDRESS_SPACE_GLOBAL,
    ADDRESS_SPACE_LOCAL,
    ADDRESS_SPACE_SHARED,
    GLOBAL_POINTER,
    SHARED_POINTER,
)
from .async_copy import (
    CpAsyncCommitGroupOp,
    CpAsyncOp,
    CpAsyncWaitGroupOp,
    LoadCacheModifier,
    LoadCacheModifierAttr,
)
from .barriers import (
    Barrier0Op,
    BarrierOp,
    MemoryBarrierOp,
    MemScope,
    MemScopeAttr,
    NanosleepOp,
    SyncWarpOp,
)
from .bulk_copy import (
    ATTRIBUTES as BULK_ATTRIBUTES,
)
from .bulk_copy import (
    OPERATIONS as BULK_OPERATIONS,
)
from .bulk_copy import (
    CpAsyncBulkOp,
    FenceMbarrierInitOp,
    FenceProxyOp,
    MBarrierArriveExpectTxOp,
    MBarrierInitOp,
    MBarrierInvalOp,
    MBarrierTryWaitParityOp,
)
from .matrix import ATTRIBUTES as MATRIX_ATTRIBUTES
from .matrix import MMA_SHAPES, MMALayout, MMALayoutAttr, MmaOp, MMAShapeAttr
from .registers import (
    BLOCK_DIM,
    BLOCK_ID,
    GRID_DIM,
    SPECIAL_REGISTERS,
    THREAD_ID,
    BlockDimXOp,
    BlockDimYOp,
    BlockDimZOp,
    BlockIdXOp,
    BlockIdYOp,
    BlockIdZOp,
    GridDimXOp,
    GridDimYOp,
    GridDimZOp,
    LaneIdOp,
    SpecialRegisterFamily,
    SpecialRegisterOp,
    ThreadIdXOp,
    ThreadIdYOp,
    ThreadIdZOp,
    WarpIdOp,
    WarpSizeOp,
)
from .warp import (
    ReduxKind,
    ReduxKindAttr,
    ReduxOp,
    ShflKind,
    ShflKindAttr,
    ShflOp,
    VoteSyncKind,
    VoteSyncKindAttr,
    VoteSyncOp,
)

__all__ = [
    "ADDRESS_SPACE_CONSTANT",
    "ADDRESS_SPACE_GLOBAL",
    "ADDRESS_SPACE_LOCAL",
    "ADDRESS_SPACE_SHARED",
    "BLOCK_DIM",
    "BLOCK_ID",
    "COPY",
    "GLOBAL_POINTER",
    "GRID_DIM",
    "KERNEL",
    "MAXNTID",
    "MINCTASM",
    "MMA_SHAPES",
    "NVVM",
    "REQNTID",
    "SHARED_POINTER",
    "THREAD_ID",
    "Barrier0Op",
    "BarrierOp",
    "BlockDimXOp",
    "BlockDimYOp",
    "BlockDimZOp",
    "BlockIdXOp",
    "BlockIdYOp",
    "BlockIdZOp",
    "CpAsyncBulkOp",
    "CpAsyncCommitGroupOp",
    "CpAsyncOp",
    "CpAsyncWaitGroupOp",
    "FenceMbarrierInitOp",
    "FenceProxyOp",
    "GridDimXOp",
    "GridDimYOp",
    "GridDimZOp",
    "LaneIdOp",
    "LoadCacheModifier",
    "LoadCacheModifierAttr",
    "MBarrierArriveExpectTxOp",
    "MBarrierInitOp",
    "MBarrierInvalOp",
    "MBarrierTryWaitParityOp",
    "MMALayout",
    "MMALayoutAttr",
    "MMAShapeAttr",
    "MemScope",
    "MemScopeAttr",
    "MemoryBarrierOp",
    "MmaOp",
    "NanosleepOp",
    "ReduxKind",
    "ReduxKindAttr",
    "ReduxOp",
    "ShflKind",
    "ShflKindAttr",
    "ShflOp",
    "SpecialRegisterFamily",
    "SpecialRegisterOp",
    "SyncWarpOp",
    "ThreadIdXOp",
    "ThreadIdYOp",
    "ThreadIdZOp",
    "VoteSyncKind",
    "VoteSyncKindAttr",
    "VoteSyncOp",
    "WarpIdOp",
    "WarpSizeOp",
]

COPY = "mov.b32 $0, $1;"
"""Inline assembly that returns its operand, without an instruction."""
KERNEL = "nvvm.kernel"
REQNTID = "nvvm.reqntid"
MAXNTID = "nvvm.maxntid"
MINCTASM = "nvvm.minctasm"

NVVM = Dialect(
    "nvvm",
    [
        *SPECIAL_REGISTERS,
        *BULK_OPERATIONS,
        Barrier0Op,
        BarrierOp,
        CpAsyncCommitGroupOp,
        CpAsyncOp,
        CpAsyncWaitGroupOp,
        MemoryBarrierOp,
        MmaOp,
        NanosleepOp,
        ReduxOp,
        ShflOp,
        SyncWarpOp,
        VoteSyncOp,
    ],
    [
        *BULK_ATTRIBUTES,
        *MATRIX_ATTRIBUTES,
        LoadCacheModifierAttr,
        MemScopeAttr,
        ReduxKindAttr,
        ShflKindAttr,
        VoteSyncKindAttr,
    ],
)
