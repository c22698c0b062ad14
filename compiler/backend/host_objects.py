"""Object code of host modules, kept in the cache by a key of all inputs."""

from __future__ import annotations

import llvmlite

from ..base.deep_stack import with_deep_stack
from ..base.host_mathematics import uses_mathematics, vector_library, with_mathematics
from ..base.options import OptLevel
from .cache import DiskCache, content_key, source_digest
from .host_code import object_code, processor


@with_deep_stack
def compile_object(ir: str, *, opt_level: OptLevel = 3, cache: DiskCache | None = None) -> bytes:
    """
    The object code of a host module, optimised for this processor. With `cache`, equal texts are
    compiled once. Raises `CompileError` if LLVM rejects the text.
    """
    key = "" if cache is None else object_key(ir, opt_level)
    return kept_object(key, ir, opt_level, cache)


def kept_object(key: str, ir: str | None, opt_level: OptLevel, cache: DiskCache | None) -> bytes:
    """
    As `compile_object` of a module whose `object_key` is known. If its text is not at hand, the code is that
    in the cache; raises `LookupError` if it is not there.
    """

    def make() -> bytes:
        if ir is None:
            raise LookupError(key)
        return object_code(ir, opt_level)

    return make() if cache is None else cache.get_or_make(key, make)


def object_key(ir: str, opt_level: OptLevel) -> str:
    """The cache key of the object code, computed from all its inputs."""
    made_for = processor()
    library = vector_library(made_for.features) if uses_mathematics(ir) else None
    text = with_mathematics(ir, library)
    maker = source_digest("host_code.py", "optimize.py")
    return content_key(
        "host",
        maker,
        llvmlite.__version__,
        made_for.cpu,
        made_for.features,
        str(opt_level),
        text,
    )
