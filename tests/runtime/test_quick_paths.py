"""What native code and the remembered path do is what the present table's rules say (drawn programs)."""

import ctypes

import numpy as np
from accopt.compiler.base.abi import DataFlag, DataKind
from accopt.runtime.host.device import HostDevice, HostOptions
from accopt.runtime.program import Runtime
from hypothesis import example, given, settings
from hypothesis import strategies as st
from runtime_harness import DYNAMIC, Program, record

REGION_KINDS = [
    DataKind.COPY,
    DataKind.COPYIN,
    DataKind.COPYOUT,
    DataKind.CREATE,
    DataKind.NO_CREATE,
]
clauses = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(REGION_KINDS)), min_size=1, max_size=4
)
programs = st.lists(
    st.one_of(
        st.tuples(st.just("construct"), st.integers(0, 1), clauses),
        st.tuples(st.just("data"), st.integers(0, 1), clauses),
        st.tuples(st.just("end"), st.just(0), st.just([])),
        st.tuples(st.just("swap"), st.just(0), st.just([])),
        st.tuples(st.just("enter"), st.just(0), clauses),
        st.tuples(st.just("leave"), st.just(0), clauses),
    ),
    max_size=25,
)
UNSET = (DataKind.COPYOUT, DataKind.CREATE)


def interpret(steps, fast, native=False, look=1):
    """
    What the program sees. `look`: the counters are looked at on every such step only, as looking
    takes native code out of the game.
    """
    runtime = Runtime([{"kind": "data"}] * 2, HostDevice(HostOptions(threads=1, poison=True)))
    runtime.fast = fast
    program, trail, opened = Program(runtime), [], []
    if not native:
        runtime._forget_native()
    arrays = [np.full(4, i, np.int32) for i in range(3)]
    holders = np.array([0, arrays[1].ctypes.data, arrays[2].ctypes.data, 0], np.int64)
    arrays.append(holders)
    pointers = [0, holders.ctypes.data + 8, holders.ctypes.data + 16, 0, 0]
    rows = [np.full(2, i, np.int32) for i in range(5, 8)]
    block = np.array([row.ctypes.data for row in rows], np.int64)
    arrays.append(block)
    shape = np.array([0, 3, -8, 0, 2, 4], np.int64)  # what a clause on block[0:3][0:2] brings
    bump = 10
    for number, (what, site, listed) in enumerate(steps):
        flags = DYNAMIC if what in ("enter", "leave") else 0
        # an uninitialised copy of the pointers themselves would be the program's mistake
        listed = [(i, DataKind.COPYIN if i == 3 and k in UNSET else k) for i, k in listed]
        records = [
            record(arrays[i].ctypes.data, arrays[i].nbytes, kind, flags, pointer=pointers[i])
            for i, kind in listed
        ]
        for r in records:
            if r.base == block.ctypes.data:
                r.flags, r.dims, r.shape = r.flags | DataFlag.ROWS, 2, shape.ctypes.data
        if what == "swap":
            block[[0, 1]] = block[[1, 0]]
            continue
        if what == "end":
            if opened:
                site, records = opened.pop()
                program.data("data_exit", records, site=site)
            continue
        if what == "leave":
            for r in records:
                r.kind = DataKind.COPYOUT if r.kind < DataKind.COPYOUT else DataKind.DELETE
            program.data("data_exit", records)
            continue
        program.data("data_enter", records, site=site)
        for (i, _), r in zip(listed, records, strict=True):
            if r.device != arrays[i].ctypes.data and i < 4:
                bump += 1
                ctypes.memset(r.device, bump % 200, 16 if i < 3 else 8)
        if what == "construct":
            program.data("data_exit", records, site=site)
        elif what == "data":
            opened.append((site, records))
        trail.append([list(x) for x in arrays[:3]])
        assert list(holders[1:3]) == [x.ctypes.data for x in arrays[1:3]]
        if number % look:
            continue
        table = runtime.current.table
        everything = [*arrays, *rows]
        trail.append(
            [(e.structured, e.dynamic) for x in everything if (e := table.at(x.ctypes.data))]
        )
        for held in (holders, block):
            entry, first = table.at(held.ctypes.data), held.ctypes.data
            trail.append({a - first: n for a, n in entry.attachments.items()} if entry else None)
    runtime.finish()
    return trail


ABSENT_THEN_COPIED = [
    ("data", 0, [(4, DataKind.NO_CREATE), (4, DataKind.COPY)]),
    ("enter", 0, [(4, DataKind.COPY)]),
    ("end", 0, []),
    ("construct", 0, [(0, DataKind.COPY)]),
]
"""An absent section in `no_create`, of which another clause of the directive then makes a copy."""


@settings(max_examples=30)
@given(programs)
@example(ABSENT_THEN_COPIED)
def test_quick_path_agrees_with_the_mapper(steps):
    assert interpret(steps, True) == interpret(steps, False)


@settings(max_examples=60)
@given(programs, st.sampled_from([1, 3, 100]))
def test_native_path_agrees_with_the_mapper(steps, look):
    repeated = [step for step in steps for _ in range(3 if step[0] == "construct" else 1)]
    assert interpret(repeated, True, True, look) == interpret(repeated, False, False, look)


def test_no_create_of_absent_rows_attaches_nothing():
    """Only the copy attaches, so that its detach gives the counts of `enter data` back (2.7.9)."""
    for fast in (True, False):
        assert interpret(ABSENT_THEN_COPIED, fast)[-1] == {0: 1, 8: 1, 16: 1}
        assert interpret(ABSENT_THEN_COPIED[:1], fast)[-1] == {0: 1, 8: 1, 16: 1}
