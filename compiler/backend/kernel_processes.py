"""
PTX of a module whose kernels share nothing: each kernel is taken from the cache or compiled, in several
processes if there is much to compile. The result is identical to the PTX of the module as a whole
(`kernel_pieces.py`).
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from contextlib import suppress

from ..base.processors import usable_processors
from .cache import DiskCache, content_key
from .kernel_pieces import Module, SeparateKernel, split, take_apart
from .kernel_pieces import join as join_kernels
from .processes import in_shares

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
    keys = [_key(piece, kind) for piece in module.pieces]
    store = cache.get if cache is not None else _nothing
    known = {key: found for key in keys if (found := store(key)) is not None}
    head = store(_head_key(kind))
    first = _first_places(keys)
    missing = [i for key, i in first.items() if key not in known]
    if head is None and not missing:
        missing = [0]
    for batch, ptx in _compile_all(module, _batches(module, missing), compile_here, elsewhere):
        taken = _take(module, batch, ptx, kind, cache)
        if taken is None:
            return None
        head = taken[0]
        known |= taken[1]
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
    keys = [_key(piece, kind) for piece in pieces]
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
    ptx = compile_here(module.text(module.pieces[i] for i in indices))
    _take(module, indices, ptx, kind, cache)


def _take(
    module: Module,
    indices: Sequence[int],
    ptx: str,
    kind: Sequence[str],
    cache: DiskCache | None,
) -> tuple[bytes, dict[str, bytes]] | None:
    """The head and the kernels, by key, in the PTX of some pieces; they become entries of the cache. None if
    the PTX has an unexpected form."""
    pieces = [module.pieces[i] for i in indices]
    parts = take_apart(ptx, pieces)
    if parts is None:
        return None
    head = parts[0].encode()
    texts = zip(pieces, parts[1], strict=True)
    kernels = {_key(piece, kind): kernel.encode() for piece, kernel in texts}
    if cache is not None:
        for key, kernel in kernels.items():
            cache.put(key, kernel)
        cache.put(_head_key(kind), head)
    return head, kernels


def _key(piece: SeparateKernel, kind: Sequence[str]) -> str:
    return content_key("kernel", *kind, piece.content)


def _head_key(kind: Sequence[str]) -> str:
    return content_key("head", *kind)


def _first_places(keys: Sequence[str]) -> dict[str, int]:
    """Key → index of the first piece with it, as pieces that differ only in their names are compiled
    once."""
    found: dict[str, int] = {}
    for i, key in enumerate(keys):
        found.setdefault(key, i)
    return found


def _nothing(key: str) -> None:
    return None


def _batches(module: Module, missing: Sequence[int]) -> list[list[int]]:
    """The missing pieces in consecutive batches of about the same length, one for each process."""
    sizes = {i: len(module.pieces[i].definition) for i in missing}
    whole = sum(sizes.values())
    count = max(1, min(len(missing), usable_processors(), whole // _WORTH_A_PROCESS))
    return [sorted(share) for share in in_shares(missing, sizes.__getitem__, count)]


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
