"""
The lowest room: every part of accopt may import it, and it imports none of them.

`diagnostics` (places in C, errors, warnings), `options` (of one compilation), `abi` (structures
shared by compiled code and runtime), `packed` and `centred` (formats of compressed numbers).
"""
