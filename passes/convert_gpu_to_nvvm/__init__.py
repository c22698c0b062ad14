"""
The pass `convert-gpu-to-nvvm`: special registers, mathematical functions, shared memory,
converged warps.
"""
