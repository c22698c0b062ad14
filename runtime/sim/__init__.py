"""
A simulated GPU: kernels of the gpu level run thread by thread in NumPy, with checks.

It needs no GPU and no PTX, so it says what a kernel means where there is none; and it sees every
access, so it finds races, accesses out of bounds and uninitialised memory, and counts memory
transactions (docs/simulator.md).
"""
