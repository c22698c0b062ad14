"""
A simulated GPU: kernels of the gpu level run thread by thread in NumPy, with checks.

It needs no GPU and no PTX, so it defines the meaning of a kernel on any machine; and it sees every access,
so it finds races, accesses out of bounds and uninitialised memory, and counts memory transactions
(docs/simulator.md).
"""
