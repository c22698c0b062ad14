"""
The ground floor: what every part of accopt may import, and which imports none of them.

`diagnostics` (places in C, errors, warnings), `options` (of one compilation), `abi` (structures
shared by compiled code and runtime), `packed` and `centred` (formats of compressed numbers).
"""
