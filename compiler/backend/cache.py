"""A cache on disk for results that are slow to make and depend only on their inputs: objects, PTX, cubins."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
import struct
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from ..base.machine import target_machine
from ..base.phases import asking
from ..base.seal import DIGEST_BYTES, digest

DEFAULT_LIMIT_BYTES = 512 * 1024 * 1024
_PATIENCE_S = 600
_LOOK_S = 0.02
_UNFINISHED = ".new-"
_FLOCK = struct.Struct("hhqqi4x")
"""`struct flock` of Linux on 64-bit machines (fcntl(2))."""
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


_provided: dict[str, bytes] = {}


def provide(entries: Mapping[str, bytes]) -> None:
    """Makes these entries, by key, available in all caches of this process."""
    _provided.update(entries)


def content_key(*parts: str | bytes) -> str:
    """A key (64 hexadecimal digits) that is equal exactly for equal sequences of parts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@cache
def source_digest(*files: str) -> str:
    """
    A digest of files of this package, for the keys of results that depend on their code. It is computed
    from their contents, not their dates, as programs that contain the files (`drivers/standalone.py`) also
    contain entries.
    """
    # This folder as the loader names it; `Path` would remove the dot of `./program`.
    folder = __file__.rpartition(os.sep)[0]
    return content_key(*(__loader__.get_data(f"{folder}{os.sep}{file}") for file in files))


@dataclass(frozen=True)
class DiskCache:
    """
    Files named by key in `folder`. Entries carry a digest of key and content, so a damaged file, and one with
    another entry's name, counts as absent. A folder
    that cannot be written makes the cache ineffective, but is not an error. When the entries exceed
    `limit_bytes`, the least recently used ones are removed.

    Entries are code that is run: a folder that other users could write to is not used, with a warning, and
    what they left in a folder that is private by now counts as absent.
    `root`: the folder above all caches, whose permissions are not changed but checked too.
    """

    folder: Path
    limit_bytes: int = DEFAULT_LIMIT_BYTES
    root: Path | None = None

    @staticmethod
    def default(kind: str) -> DiskCache:
        """
        The user's cache for `kind`: `$XDG_CACHE_HOME/accopt/<kind>` (XDG Base Directory), a folder for each
        machine that is compiled for.
        """
        root = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        folder = kind if target_machine() == "x86_64" else f"{kind}-{target_machine()}"
        return DiskCache(root / "accopt" / folder, root=root)

    def get(self, key: str) -> bytes | None:
        """The entry of `key`, or `None`."""
        with asking(self.folder.name) as tell:
            found = self._find(key)
            tell(found)
        return found

    def _find(self, key: str) -> bytes | None:
        if key in _provided:
            return _provided[key]
        path = self.folder / key
        data = _own_bytes(path)
        if data is None or not self._private():
            return None
        found, content = data[:DIGEST_BYTES], data[DIGEST_BYTES:]
        if digest(key.encode(), content) != found:
            return None
        with suppress(OSError):
            os.utime(path)
        return content

    def has(self, key: str) -> bool:
        """Whether there is an entry of `key`, which may be damaged."""
        return (self.folder / key).exists()

    def is_usable(self) -> bool:
        """Whether entries can be kept."""
        with suppress(OSError):
            if not self.folder.is_dir():
                self._make()
            return self._private() and os.access(self.folder, os.W_OK | os.X_OK)
        return False

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """
        The entry of `key`, or else the result of `make`, which becomes the entry. If several processes want
        it at the same time (the ranks of a program), one makes it while the others wait.
        """
        found = self.get(key)
        if found is not None:
            return found
        with self._alone(key):
            found = self._find(key)
            if found is None:
                found = make()
                self.put(key, found)
        return found

    @contextmanager
    def _alone(self, key: str) -> Generator[None]:
        """
        Holds a lock so that no other process makes the entry of `key`, if the file system supports locks;
        stops waiting for a process that is stuck.
        """
        path = self.folder / ".locks"
        try:
            if not self.folder.is_dir():
                self._make()
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            yield
            return
        try:
            # A byte of a file that is never written: the lock ends with this process, however that ends.
            _lock(handle, int.from_bytes(digest(key.encode())[:7], "little"))
            yield
        finally:
            with suppress(OSError):  # where another process has a lock
                fcntl.fcntl(handle, fcntl.F_OFD_SETLK, _locked(0, 0))
                path.unlink()  # a process that waits for this one then looks for the entry
            os.close(handle)

    def put(self, key: str, content: bytes) -> None:
        """Stores an entry, atomically: other processes, and a full disk, never leave a part of it."""
        try:
            if not self.folder.is_dir():
                self._make()
            if not self._private():
                return
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=_UNFINISHED)
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(digest(key.encode(), content) + content)
                Path(name).replace(self.folder / key)
            except BaseException:  # including the exception for a signal that ends the process
                Path(name).unlink(missing_ok=True)
                raise
            self._make_room(len(content))
        except OSError as e:
            if e.errno in _FULL:
                _warn(f"cannot keep what was compiled in {self.folder}: {e.strerror}")

    def _make(self) -> None:
        """Makes the folder, and the folder of all caches above it, accessible to this user only."""
        if self.root is not None:
            self.root.mkdir(parents=True, exist_ok=True)
            self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _private(self) -> bool:
        """Whether no other user can add entries; otherwise warns, once."""
        above = () if self.root is None else (self.root, self.folder.parent)
        for folder in (*above, self.folder):
            status = folder.stat()
            foreign = _is_foreign(status)
            # In a folder like /tmp, users cannot replace folders of other users.
            open_to_all = status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX
            if foreign or open_to_all:
                _warn(
                    f"the cache is not used, as others can write {folder}: "
                    + (
                        "set XDG_CACHE_HOME to a folder of yours"
                        if foreign
                        else f"chmod go-w {folder}"
                    )
                )
                return False
        return True

    def _make_room(self, added: int) -> None:
        """
        Removes entries above the limit, and what interrupted processes left. As listing all entries takes
        longer than adding a small one, this is done for the first entry of a process, and then whenever a
        64th of the limit has been added.
        """
        since = _added.get(self.folder, self.limit_bytes) + added
        if since * 64 >= self.limit_bytes:
            self._evict()
            since = 0
        _added[self.folder] = since

    def _evict(self) -> None:
        entries: list[tuple[float, int, Path]] = []
        old = time.time() - _PATIENCE_S
        for path in self.folder.iterdir():
            with suppress(OSError):
                status = path.stat()
                if path.name.startswith((_UNFINISHED, ".making-")) and status.st_mtime < old:
                    path.unlink()
                    continue
                entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        for _, size, path in sorted(entries):
            if total <= self.limit_bytes:
                break
            with suppress(OSError):
                path.unlink()
            total -= size


@dataclass(frozen=True)
class RecordingCache(DiskCache):
    """A cache that records in `entries` all entries that were requested or stored."""

    entries: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        found = super().get_or_make(key, make)
        self.entries[key] = found
        return found


_added: dict[Path, int] = {}
"""Folder → bytes that this process has added since it last listed the folder."""


def _is_foreign(status: os.stat_result) -> bool:
    """Whether a file belongs to another user, who is not the system's."""
    return status.st_uid not in (os.geteuid(), 0)


def _own_bytes(path: Path) -> bytes | None:
    """The contents of a file of this user that no other can write; None if there is none."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            status = os.fstat(handle)
            if not stat.S_ISREG(status.st_mode) or _is_foreign(status) or status.st_mode & 0o022:
                return None
            return file.read()
    except OSError:
        return None


def _locked(start: int, length: int) -> bytes:
    """The description of a lock of bytes from `start` on, to the end for length 0."""
    return _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)


def _lock(handle: int, place: int) -> None:
    """
    Locks a byte of a file until `handle` is closed, at the latest when the processes that have it end; waits
    for other processes, with a time limit.
    """
    wanted = _locked(place, 1)
    end = time.monotonic() + _PATIENCE_S
    with suppress(OSError):
        while time.monotonic() < end:
            try:
                fcntl.fcntl(handle, fcntl.F_OFD_SETLK, wanted)
            except (BlockingIOError, PermissionError):
                time.sleep(_LOOK_S)
            else:
                return


@cache
def _warn(message: str) -> None:
    """Prints a warning, each once."""
    print(f"warning: {message}", file=sys.stderr)
