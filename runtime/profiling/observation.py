"""Reports transfers, regions and launches of a program to the trace and to callbacks of the profiling
interface."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import partial

from ..data.actions import no_watch
from ..data.clauses import Request
from ..device import Queue
from ..sites import Site
from ..state import DeviceState
from .events import Profile
from .trace import Trace


class Observation:
    """The trace and the profile of one program."""

    def __init__(self, trace: Trace, profile: Profile):
        self.trace = trace
        self.profile = profile

    @property
    def active(self) -> bool:
        """Whether the trace or a callback is active."""
        return self.trace.active or self.profile.active

    def watch(self, state: DeviceState) -> None:
        """Reports the device's transfers to the trace and to callbacks."""
        mapper, profile = state.mapper, self.profile
        watched = self.trace.active or profile.active
        mapper.actions.watch = partial(self._watch, state) if watched else no_watch
        mapper.mapped = profile.mapped if profile.active else None
        mapper.unmapped = profile.unmapped if profile.active else None

    def _watch(
        self, state: DeviceState, what: str, request: Request, size: int, queue: Queue
    ) -> AbstractContextManager[None]:
        name = state.device.name
        traced = self.trace.action(what, request.name, state.place, size, queue, name)
        if not self.profile.active:
            return traced
        return self._profiled(what, request, size, queue, traced)

    @contextmanager
    def _profiled(
        self,
        what: str,
        request: Request,
        size: int,
        queue: Queue,
        traced: AbstractContextManager[None],
    ) -> Generator[None]:
        with self.profile.transfer(what, request, size, queue), traced:
            yield

    def region(
        self, what: str, known: Site, state: DeviceState, subject: str
    ) -> AbstractContextManager[None]:
        """Reports a wait, or the data clauses of a construct, performed in the block, to the trace."""
        return self.trace.action(what, subject, known.place, 0, None, state.device.name)

    @contextmanager
    def launch(
        self, known: Site, state: DeviceState, values: Sequence[int], number: int, queue: Queue
    ) -> Generator[None]:
        """Reports a launch of a site's kernel on queue `number`, which happens in the block."""
        launched = (
            self.profile.launch(known.place, state, number, known.kernel, values, queue)
            if self.profile.active
            else nullcontext()
        )
        name = state.device.name
        with launched, self.trace.action("launch", known.kernel, known.place, 0, queue, name):
            yield
