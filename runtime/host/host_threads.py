"""
Variables of host threads (OpenACC 3.4, 2.3).

Python does not know threads that C code made, and discards their state whenever a callback returns. So the
first variable that such a thread uses makes Python keep its state.
"""

from __future__ import annotations

import ctypes
import threading


class PerThread(threading.local):
    """Base class of variables that each host thread has its own copy of: `__init__` runs once in each
    thread."""

    def __init__(self) -> None:
        mine = threading.get_ident()
        if all(thread.ident != mine for thread in threading.enumerate()):
            # Never released: the state lives as long as the process.
            ctypes.pythonapi.PyGILState_Ensure()
