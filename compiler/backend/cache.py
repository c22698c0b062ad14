"""A cache on disk for what is slow to make and follows from its inputs: objects, PTX, cubins."""

from __future__ import annotations

import hashlib
import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

_DIGEST_BYTES = 32
DEFAULT_LIMIT_BYTES = 512 * 1024 * 1024


def content_key(*parts: str | bytes) -> str:
    """A key (64 hexadecimal digits) that is equal exactly for equal sequences of parts."""
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode(errors="surrogateescape") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True)
class DiskCache:
    """
    Files named by key in `folder`. Entries carry a digest, so a damaged file counts as absent.
    A folder that cannot be written makes the cache useless, never an error. When the entries
    exceed `limit_bytes`, the least recently used ones go.
    """

    folder: Path
    limit_bytes: int = DEFAULT_LIMIT_BYTES

    @staticmethod
    def default(kind: str) -> DiskCache:
        """The user's cache for `kind`: `$XDG_CACHE_HOME/accopt/<kind>` (XDG Base Directory)."""
        root = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
        return DiskCache(Path(root) / "accopt" / kind)

    def get(self, key: str) -> bytes | None:
        """The entry of `key`, or `None`."""
        path = self.folder / key
        try:
            data = path.read_bytes()
        except OSError:
            return None
        digest, content = data[:_DIGEST_BYTES], data[_DIGEST_BYTES:]
        if hashlib.sha256(content).digest() != digest:
            return None
        with suppress(OSError):
            os.utime(path)
        return content

    def put(self, key: str, content: bytes) -> None:
        """Stores an entry. Other processes see all of it or nothing."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=self.folder, prefix=".new-")
            with os.fdopen(handle, "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            Path(name).replace(self.folder / key)
            self._evict()
        except OSError:
            return

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
