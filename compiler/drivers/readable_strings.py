"""
The strings that build tools search in executables. CMake finds the size of types, the version of OpenACC
and the name of a compiler by linking a program with a constant such as `INFO:size[00008]` and searching the
file for it; it finds the byte order by `BIG_ENDIAN` and the like in the bytes of numbers. Our executables
are compressed, so these strings are put at their beginning, as comments.
"""

from __future__ import annotations

import re
import sys

_LITERAL = re.compile(r'c"(INFO:[^"]*)"')
_BYTES = re.compile(r"\[(i8 73, i8 78, i8 70, i8 79, i8 58, [^]]*)\]")
"""An array that begins with "INFO:"."""
_NUMBERS = re.compile(r"\[(i16 -?\d+(?:, i16 -?\d+)*)\]")
_ASKED = re.compile(rb"INFO:|ENDIAN")


def readable_strings(host_ir: str) -> bytes:
    """Lines of comments with all constants of LLVM IR that build tools look for."""
    texts = [found.group(1).partition("\\00")[0] for found in _LITERAL.finditer(host_ir)]
    for found in _BYTES.finditer(host_ir):
        codes = [int(word) & 0xFF for word in re.findall(r"i8 (-?\d+)", found.group(1))]
        texts.append(bytes(codes).partition(b"\0")[0].decode("latin-1"))
    for found in _NUMBERS.finditer(host_ir):
        numbers = (int(word) & 0xFFFF for word in re.findall(r"i16 (-?\d+)", found.group(1)))
        text = b"".join(number.to_bytes(2, sys.byteorder) for number in numbers).partition(b"\0")[0]
        if _ASKED.search(text):
            texts.append(text.decode("latin-1"))
    lines = (re.sub(r"[^ -~]", "?", text) for text in texts)
    return "".join(f"# {line}\n" for line in lines).encode()
