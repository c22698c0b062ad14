"""A cache on disk for what is slow to make and follows from its inputs: objects, PTX, cubins."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
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

_DIGEST_BYTES = 32
DEFAULT_LIMIT_BYTES = 512 * 1024 * 1024
_PATIENCE_S = 600
_LOOK_S = 0.02
_FULL = frozenset((errno.ENOSPC, errno.EDQUOT, errno.EFBIG))


_provided: dict[str, bytes] = {}


def provide(entries: Mapping[str, bytes]) -> None:
    """Has all caches of this process find these entries, by key."""
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
    A digest of files of this package, for the keys of what their code makes. It is that of their contents, as
    programs that carry them (`drivers/standalone.py`) carry entries, too.
    """
    # The loader's words for this folder, out of which `Path` would take the dot of `./program`.
    folder = __file__.rpartition(os.sep)[0]
    return content_key(*(__loader__.get_data(f"{folder}{os.sep}{file}") for file in files))


@dataclass(frozen=True)
class DiskCache:
    """
    Files named by key in `folder`. Entries carry a digest, so a damaged file counts as absent.
    A folder that cannot be written makes the cache useless, never an error. When the entries
    exceed `limit_bytes`, the least recently used ones go.

    Entries are code that is run: a folder that somebody else could write is not used, with a warning.
    `root`: the folder above `folder` that is not ours to make private, and is looked at as well.
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
        try:
            data = path.read_bytes()
        except OSError:
            return None
        if not self._private():
            return None
        digest, content = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        if hashlib.sha256(content).digest() != digest:
            return None
        with suppress(OSError):
            os.utime(path)
        return content

    def has(self, key: str) -> bool:
        """Whether there is an entry of `key`, which may be damaged."""
        return (self.folder / key).exists()

    def is_usable(self) -> bool:
        """Whether entries can be kept at all."""
        with suppress(OSError):
            if not self.folder.is_dir():
                self._make()
            return self._private() and os.access(self.folder, os.W_OK | os.X_OK)
        return False

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """
        The entry of `key`, else what `make` gives, which becomes the entry. Of many processes that want it at
        the same time (the ranks of a program), one makes it while the others wait.
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
        While no other process makes the entry of `key`, as far as the file system has locks and the other
        one is not stuck.
        """
        path = self.folder / f".making-{key}"
        try:
            if not self.folder.is_dir():
                self._make()
            handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError:
            yield
            return
        try:
            _lock(handle)
            yield
        finally:
            with suppress(OSError):
                path.unlink()  # who waits for the lock then looks for the entry
            os.close(handle)

    def put(self, key: str, content: bytes) -> None:
        """Stores an entry. Other processes see all of it or nothing, and a full disk keeps nothing of it."""
        try:
            if not self.folder.is_dir():
                self._make()
            if not self._private():
                return
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".new-")
            try:
                with os.fdopen(handle, "wb") as file:
                    file.write(hashlib.sha256(content).digest() + content)
                Path(name).replace(self.folder / key)
            except BaseException:  # also a signal that ends the process
                Path(name).unlink(missing_ok=True)
                raise
            self._make_room(len(content))
        except OSError as e:
            if e.errno in _FULL:
                _warn(f"cannot keep what was compiled in {self.folder}: {e.strerror}")

    def _make(self) -> None:
        """Makes the folder, and that of all caches above it, for this user alone."""
        if self.root is not None:
            self.root.mkdir(parents=True, exist_ok=True)
            self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _private(self) -> bool:
        """Whether nobody else can put entries there: says so once if somebody can."""
        above = () if self.root is None else (self.root, self.folder.parent)
        for folder in (*above, self.folder):
            status = folder.stat()
            foreign = status.st_uid not in (os.geteuid(), 0)
            # In a folder like /tmp nobody can replace the folders of others.
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
        Evicts what is too much. Looking through all entries takes longer than adding a small one, so this
        is done for the first one of a process, and then whenever a 64th of the limit has been added.
        """
        since = _added.get(self.folder, self.limit_bytes) + added
        if since * 64 >= self.limit_bytes:
            self._evict()
            since = 0
        _added[self.folder] = since

    def _evict(self) -> None:
        entries: list[tuple[float, int, Path]] = []
        for path in self.folder.iterdir():
            with suppress(OSError):
                status = path.stat()
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
    """A cache that notes in `entries` what was asked of it."""

    entries: dict[str, bytes] = field(default_factory=dict[str, bytes])

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        found = super().get_or_make(key, make)
        self.entries[key] = found
        return found


_added: dict[Path, int] = {}
"""Bytes that this process has added to a folder since it looked through it."""


def _lock(handle: int) -> None:
    """Waits until no other process has locked the file, but not for ever."""
    end = time.monotonic() + _PATIENCE_S
    with suppress(OSError):
        while time.monotonic() < end:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                time.sleep(_LOOK_S)
            else:
                return


@cache
def _warn(message: str) -> None:
    """Prints a warning, each once."""
    print(f"warning: {message}", file=sys.stderr)
