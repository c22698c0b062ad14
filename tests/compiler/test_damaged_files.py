"""Damaged files of `accc`, and files of another version: one message, with the remedy."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from accopt.compiler.base.seal import sealed_script

BIN = Path(sys.executable).parent


def _run(folder: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("damaged")
    (folder / "p.c").write_text("int main(void) { return 0; }\n")
    accc = BIN / "accc"
    for options in ("-o linked", "--standalone -o standalone", "-c -o plain.o"):
        done = _run(folder, accc, "--target=host", "p.c", *options.split())
        assert done.returncode == 0, done.stderr
    assert _run(folder, accc, "-c", "-ffat-lto-objects", "p.c", "-o", "fat.o").returncode == 0
    assert _run(folder, "ar", "rc", "archive.a", "plain.o").returncode == 0
    for name in ("linked", "standalone"):
        assert _run(folder, f"./{name}").returncode == 0
    return folder


def _flipped(at: float) -> Callable[[bytes], bytes]:
    def change(data: bytes) -> bytes:
        place = int(at * len(data))
        return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]

    return change


def _refused(folder: Path, name: str, data: bytes, *command: str | Path) -> None:
    """The file's use ends with one error and a remedy."""
    path = folder / f"changed{Path(name).suffix}"
    path.write_bytes(data)
    path.chmod(0o755)
    done = _run(folder, *(command or (f"./{path.name}",)))
    said = done.stdout + done.stderr
    assert done.returncode not in (0, 139), said
    assert said.count("error:") == 1 and "help:" in said, said
    assert "Traceback" not in said and "internal error" not in said
    assert "damaged" in said or "another version" in said or "not an object file" in said


@pytest.mark.parametrize("name", ["linked", "standalone"])
@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda data: data[:-40], id="cut"),
        pytest.param(lambda data: data[: data.index(b"python=")], id="cut in the script"),
        pytest.param(lambda data: data + b"\0", id="longer"),
        pytest.param(_flipped(0.5), id="middle"),
        pytest.param(_flipped(0.999), id="end"),
    ],
)
def test_executable(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    _refused(folder, name, change((folder / name).read_bytes()))


def test_start_of_an_executable(folder: Path) -> None:
    data = (folder / "linked").read_bytes()
    _refused(folder, "linked", data.replace(b"\nexec ", b"\nexecs ", 1))


@pytest.mark.parametrize("name", ["plain.o", "archive.a", "fat.o"])
@pytest.mark.parametrize("change", [lambda data: data[:-40], _flipped(0.7)], ids=["cut", "flipped"])
def test_object(folder: Path, name: str, change: Callable[[bytes], bytes]) -> None:
    data = (folder / name).read_bytes()
    if name == "fat.o":
        at = data.index(b"accopt object ") + 60
        data = change(data[:at]) + data[at:] if change(data) > data else data[: at - 40]
    else:
        data = change(data)
    file = f"changed{Path(name).suffix}"
    _refused(folder, name, data, BIN / "accc", "--target=host", file, "-o", "out")


def _with_options(data: bytes, **options: object) -> bytes:
    """An executable as a version with other options links it."""
    end = b"#accopt program 3\n"
    text, _, content = data.partition(end)
    fields = json.loads(zlib.decompress(content))
    fields[3].update(options)
    lines = text.split(b"\n", 3)[3]  # after the checksum and the trap
    return sealed_script(lines + end + zlib.compress(json.dumps(fields).encode()))


def test_another_version(folder: Path) -> None:
    data = (folder / "linked").read_bytes()
    _refused(folder, "linked", data.replace(b"#accopt program 3", b"#accopt program 2"))
    _refused(folder, "linked", _with_options(data, option_of_a_later_version=True))
    same = folder / "same"
    same.write_bytes(_with_options(data))
    same.chmod(0o755)
    assert _run(folder, "./same").returncode == 0
