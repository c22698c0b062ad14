"""
Checksums over whole files of ours, so that one that was damaged is refused, and never read or run. The line
for the shell and the checksum begin an executable file, which is text up to its compressed part.
"""

from __future__ import annotations

import hashlib

_BEGIN = b"#!/bin/sh\n#checksum "
_AT = len(_BEGIN)
_DIGITS = 64
REMEDY = "copy it again, or link it again"
_TRAP = (
    b"""trap 'echo "$0: error: this file is damaged" >&2; """
    + f"""echo "    help: {REMEDY}" >&2; exit 126' EXIT\n""".encode()
)
"""What the shell does at an end that is not ours, where lines are missing or cannot be read."""
DIGEST_BYTES = 32


def digest(*parts: bytes) -> bytes:
    """The checksum (SHA-256) of these bytes."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.digest()


def sealed_script(rest: bytes) -> bytes:
    """
    The contents of an executable file for the shell that goes on with `rest`, lines of its language first,
    which end by `exec`, and by `trap - EXIT` before ends with another message.
    """
    rest = b"\n" + _TRAP + rest
    return _BEGIN + digest(_BEGIN, rest).hex().encode() + rest


def is_whole_script(data: bytes) -> bool:
    """Whether an executable file is as `sealed_script` made it."""
    found = digest(data[:_AT], data[_AT + _DIGITS :]).hex()
    return found.encode() == data[_AT : _AT + _DIGITS]


CHECK = f"""\
import sys
try:
    import hashlib, zipimport
    path = sys.argv[1]
    with open(path, "rb") as file:
        data = file.read()
    found = hashlib.sha256(data[:{_AT}] + data[{_AT + _DIGITS}:]).hexdigest()
    if found.encode() != data[{_AT}:{_AT + _DIGITS}]:
        raise ValueError
    code = zipimport.zipimporter(path).get_code("__main__")
except Exception:
    sys.exit(sys.argv[1] + ": error: this file is damaged" + chr(10) + "    help: {REMEDY}")
del sys.argv[0], data
sys.path.insert(0, path)
exec(code)
"""
"""Python code without single quotes that runs the archive in an executable file, if the file is whole; it is
in the file itself, before anything of the archive is loaded."""
