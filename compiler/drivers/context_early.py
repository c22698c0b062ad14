"""
Starts to make a GPU's context before this process loads the modules of a command: they take a third of the
time that the driver needs. The usual case only; in all others `run_program.context_ahead` starts later.
"""

from __future__ import annotations

import atexit
import os
from typing import TYPE_CHECKING, Literal

from ...runtime.cuda.context_ahead import ContextAhead
from ..base.ranks import own_rank

if TYPE_CHECKING:
    from ..base.options import TargetName

_CHOICES = ("ACC_DEVICE_TYPE", "ACC_DEVICE_NUM", "ACCOPT_DEVICES")
"""The variables by which users choose devices."""

_early: ContextAhead | None = None


def start_context(target: Literal["auto"] | TargetName) -> None:
    """
    Starts the context of the first GPU for a program of `target` if the environment chooses no device; if
    the runtime's native code is not known, so that this process is copied first, only the driver.
    """
    global _early
    if target not in ("auto", "nvptx") or own_rank() or any(map(os.environ.get, _CHOICES)):
        return
    from .native_ahead import native_code_is_known

    _early = ContextAhead(0)
    if native_code_is_known(target, None):
        _early.start()
    else:
        _early.initialise()
    atexit.register(_early.finish)  # for commands that end before they would wait for it


def early_context(device: int | None, devices: int | None) -> ContextAhead | None:
    """What has been started for the context, if it is that of `device` of `devices` (`ContextAhead`)."""
    return _early if (device, devices) == (0, None) else None
