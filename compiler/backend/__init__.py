"""
From LLVM IR text to code: optimisation, PTX and its assembler, host objects and the JIT, the
cache on disk.

It does not depend on C, OpenACC or passes; the runtime uses it too.
"""
