"""
Preprocessed files as bytes, with their inputs: kept bytes are valid as long as all files that were read
have the same text, and those that were not found are still missing. (The texts are compared, not the dates:
reading a file takes hardly longer than asking the system for its date, and a file can change twice within
the resolution of a date.)
"""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..base.diagnostics import (
    UNKNOWN_LOC,
    CompileError,
    Diagnostic,
    DiagnosticSink,
    from_plain,
    to_plain,
)
from .kept_files import KeptFiles
from .preprocess import STANDARD_INPUT, PreprocessedSource, PreprocessOptions, preprocess
from .preprocess_headers import Inputs
from .preprocess_sources import Headers, read_source


def preprocess_or_find(
    path: Path,
    options: PreprocessOptions | None,
    sink: DiagnosticSink,
    headers: Headers | None = None,
    kept: KeptFiles | None = None,
) -> PreprocessedSource:
    """As `preprocess`, but takes the kept result if its inputs are unchanged."""
    options = options or PreprocessOptions()
    if kept is None or path == STANDARD_INPUT or options.use_system_cpp:
        return preprocess(path, options, sink, headers)
    data = kept.get_text(str(path), repr(options))
    found = None if data is None else _from_bytes(data)
    if found is not None:
        source, messages = found
        sink.diagnostics += messages
        return source
    inputs, own = Inputs(), DiagnosticSink()
    try:
        source = preprocess(path, options, own, headers, inputs)
    finally:
        sink.diagnostics += own.diagnostics
    if not any(text in source.text for text in inputs.clock):
        kept.put_text(str(path), repr(options), _to_bytes(source, own.diagnostics, inputs))
    return source


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _to_bytes(source: PreprocessedSource, messages: Sequence[Diagnostic], inputs: Inputs) -> bytes:
    fields = {
        "made of": {path: _digest(text) for path, text in inputs.read.items()},
        "absent": sorted(inputs.absent - inputs.read.keys()),
        "source": [source.file, source.text, source.read],
        "messages": [to_plain(each) for each in messages],
    }
    return zlib.compress(json.dumps(fields).encode(), 1)


def _from_bytes(data: bytes) -> tuple[PreprocessedSource, list[Diagnostic]] | None:
    """The file and its messages; None if one of its inputs has changed."""
    fields: dict[str, Any] = json.loads(zlib.decompress(data))
    try:
        for path, digest in fields["made of"].items():
            if _digest(read_source(Path(path), UNKNOWN_LOC)) != digest:
                return None
    except CompileError:
        return None
    if any(Path(path).is_file() for path in fields["absent"]):
        return None
    file, text, read = fields["source"]
    return PreprocessedSource(file, text, tuple(read)), list(map(from_plain, fields["messages"]))
