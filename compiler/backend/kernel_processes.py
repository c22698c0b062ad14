"""
PTX of a module whose kernels share nothing: each kernel is taken from the cache or compiled, in several
processes if there is much to compile. The result is identical to the PTX of the module as a whole
(`kernel_pieces.py`).
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress

from .cache import DiskCache, content_key
from .kernel_pieces import Module, split, take_apart
from .kernel_pieces import join as join_kernels

Compile = Callable[[str], str]
"""A function from LLVM IR of a module to its PTX."""

_WORTH_A_PROCESS = 400_000
"""The characters of LLVM IR from which LLVM takes longer than starting another process."""


def emit_pieces(
    llvm_ir: str,
    kind: Sequence[str],
    compile_here: Compile,
    elsewhere: Sequence[str],
    cache: DiskCache | None,
) -> str | None:
    """
    PTX of a module that can be split into pieces; None for other modules, or if LLVM's PTX has an
    unexpected form. `kind` are the inputs of the PTX besides the text; `elsewhere` is a command that
    compiles its standard input as `compile_here` does.
    """
    module = split(llvm_ir)
    if module is None:
        return None
    keys = [content_key("kernel", *kind, piece.content) for piece in module.pieces]
    head_key = content_key("head", *kind)
    store = cache.get if cache is not None else _nothing
    known = {key: found for key in keys if (found := store(key)) is not None}
    head = store(head_key)
    first = _first_places(keys)
    missing = [i for key, i in first.items() if key not in known]
    if head is None and not missing:
        missing = [0]
    for batch, ptx in _compile_all(module, _batches(module, missing), compile_here, elsewhere):
        parts = take_apart(ptx, [module.pieces[i] for i in batch])
        if parts is None:
            return None
        head = parts[0].encode()
        for i, kernel in zip(batch, parts[1], strict=True):
            known[keys[i]] = kernel.encode()
            if cache is not None:
                cache.put(keys[i], kernel.encode())
        if cache is not None:
            cache.put(head_key, head)
    assert head is not None
    kernels = [known[key].decode() for key in keys]
    return join_kernels(head.decode(), module.pieces, kernels)


def missing_pieces(
    llvm_ir: str, kind: Sequence[str], cache: DiskCache
) -> tuple[Module, list[list[int]]] | None:
    """
    The module, and batches of its pieces that are not in the cache: the longest first, short ones together.
    None if the module cannot be split.
    """
    module = split(llvm_ir)
    if module is None:
        return None
    pieces = module.pieces
    keys = [content_key("kernel", *kind, piece.content) for piece in pieces]
    missing = [i for key, i in _first_places(keys).items() if not cache.has(key)]
    lengths = {i: len(pieces[i].definition) for i in missing}
    batches: list[list[int]] = []
    so_far = _WORTH_A_MODULE
    for i in sorted(lengths, key=lambda i: -lengths[i]):
        if so_far + lengths[i] > _WORTH_A_MODULE:
            batches.append([])
            so_far = 0
        batches[-1].append(i)
        so_far += lengths[i]
    return module, [sorted(batch) for batch in batches]


_WORTH_A_MODULE = 30_000
"""The characters of LLVM IR from which compiling takes longer than setting up a module."""


def compile_pieces(
    module: Module,
    indices: Sequence[int],
    kind: Sequence[str],
    compile_here: Compile,
    cache: DiskCache,
) -> None:
    """Compiles some pieces of a module into the cache, where `emit_pieces` finds them."""
    pieces = [module.pieces[i] for i in indices]
    parts = take_apart(compile_here(module.text(pieces)), pieces)
    if parts is None:
        return
    for piece, kernel in zip(pieces, parts[1], strict=True):
        cache.put(content_key("kernel", *kind, piece.content), kernel.encode())
    cache.put(content_key("head", *kind), parts[0].encode())


def _first_places(keys: Sequence[str]) -> dict[str, int]:
    """Key → index of the first piece with it, as pieces that differ only in their names are compiled
    once."""
    found: dict[str, int] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, i)
    return found


def _nothing(key: str) -> None:
    return None


def processors() -> int:
    """How many processors this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # not on this system
        return os.cpu_count() or 1


def _batches(module: Module, missing: Sequence[int]) -> list[list[int]]:
    """The missing pieces in consecutive batches of about the same length, one for each process."""
    sizes = {i: len(module.pieces[i].definition) for i in missing}
    whole = sum(sizes.values())
    count = max(1, min(len(missing), processors(), whole // _WORTH_A_PROCESS))
    shares: list[list[int]] = [[] for _ in range(count)]
    loads = [0] * count
    for i in sorted(missing, key=lambda i: -sizes[i]):
        least = loads.index(min(loads))
        shares[least].append(i)
        loads[least] += sizes[i]
    return [sorted(share) for share in shares if share]


def _compile_all(
    module: Module, batches: Sequence[list[int]], compile_here: Compile, elsewhere: Sequence[str]
) -> list[tuple[list[int], str]]:
    """The PTX of each batch: the first is compiled by this process, the others in other processes at the
    same time."""
    if not batches:
        return []
    texts = [module.text(module.pieces[i] for i in batch) for batch in batches]
    others = [_Process(elsewhere, text) for text in texts[1:]]
    results = [compile_here(texts[0])]
    for other, text in zip(others, texts[1:], strict=True):
        found = other.result()
        results.append(compile_here(text) if found is None else found)
    return list(zip(batches, results, strict=True))


class _Process:
    """Another process that compiles a text."""

    def __init__(self, command: Sequence[str], text: str):
        self._process: subprocess.Popen[bytes] | None = None
        try:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
        except OSError:
            return  # no process could be started: the work is done here
        pipe, self._process.stdin = self._process.stdin, None
        assert pipe is not None
        for step in (lambda: pipe.write(text.encode()), pipe.close):
            with suppress(OSError):  # the process has ended: the work is done here
                step()

    def result(self) -> str | None:
        """Its output; None if it failed."""
        if self._process is None:
            return None
        output, _ = self._process.communicate()
        return output.decode() if self._process.returncode == 0 and output else None


def command_for(module: str, function: str, *arguments: str) -> list[str]:
    """A command that calls a function of this package with arguments in a process of its own."""
    # Only this process's module folders, whatever its current folder and environment.
    places = [place for place in sys.path if place]
    run = f"import sys; sys.path[:] = {places!r}; from {module} import {function}; {function}()"
    return [sys.executable, "-I", "-c", run, *arguments]
