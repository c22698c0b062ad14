"""
Variables of host threads (OpenACC 3.4, 2.3).

A thread that C code made is unknown to Python, which forgets everything about it whenever a call of
ours returns. The first variable that a thread uses therefore makes Python keep its state.
"""

from __future__ import annotations

import ctypes
import threading


class PerThread(threading.local):
    """Base of variables that every host thread has for itself: `__init__` runs once in each."""

    def __init__(self) -> None:
        mine = threading.get_ident()
        if all(thread.ident != mine for thread in threading.enumerate()):
            # Never released: the state lives as long as the process.
            ctypes.pythonapi.PyGILState_Ensure()
