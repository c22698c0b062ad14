"""
From LLVM IR text to code: optimisation, PTX and its assembler, host objects and the JIT, the
cache on disk.

Knows nothing of C, OpenACC or passes; the runtime uses it too.
"""
