"""
Translates `-acc=`, `-ta=`, `-gpu=`, `-arch=` and `-Mcuda=` of nvc and pgcc into our options for the device.

Of several architectures, the supported ones are used; if none is supported, the oldest supported one, with
a warning. Sub-options that ask for our default behaviour, or that concern the other compiler's code
generation, are ignored. Those that change a program's meaning and are not honoured are warnings; unknown
values are errors.
"""

from __future__ import annotations

import re

from ..base.capabilities import OLDEST_SM, PTX_VERSIONS, newest_known
from .c_options import command_error

_HOSTS = frozenset(("host", "multicore"))
_GPUS = frozenset(("gpu", "nvidia", "tesla"))
_GENERATIONS = {
    "fermi": 20, "kepler": 30, "maxwell": 50, "pascal": 60, "volta": 70, "turing": 75,
    "ampere": 80, "ada": 89, "hopper": 90, "blackwell": 100,
}  # fmt: skip
_CAPABILITY = re.compile(r"(?:cc|sm_|compute_)(\d{1,2})\.?([\dx])[af]?\+?")
_OWN = {
    "fastmath": "--fast-math",
    "nofma": "--no-fma",
    "lineinfo": "-g",
    "debug": "-g",
}
_MANAGED = frozenset(("managed", "mem:managed", "unified", "mem:unified"))
ON_HOST = ("--target=host", "--managed")
"""The other compilers' code for the host works in the program's memory, whatever data clauses there are."""
_COMPARED = frozenset(("autocompare", "redundant"))
_PASSED_OVER = re.compile(
    r"ccall|ccnative|ccall-major|native|all|cuda\d+(?:\.\d+|\.x|x)?|\d+\.\d+|time|keep(?:bin|ptx|gpu)?|(?:no)?rdc|pinned|"
    r"mem:separate(?::\w+)?|nomanaged|nounified|(?:no)?deepcopy|(?:no)?flushz|fma|fastmath|"
    r"(?:no)?unroll(?::\d+)?|maxregcount:\d+|ptxinfo|(?:no)?autocollapse|(?:no)?loadcache:?\w*|safecache|"
    r"noL1|wait|nowait|sync|(?:no)?autopar|legacy|strict|verystrict|(?:no)?routineseq|(?:no)?lineinfo|nodebug|"
    r"(?:no)?implicitsections|(?:no)?redux|(?:no)?llvm|noldg|default_async:\w+|stacklimit:\w+|tripcount:\w+|"
    r"charstring|zeroinit|beta|(?:no)?interceptdeallocations|analysis|tp:\w+|mul24|nativemath|precise\w*"
)


def accelerator_options(argument: str) -> tuple[list[str], list[str]] | None:
    """Our options for such an argument, and warnings; None if it is another."""
    name, equals, values = argument.partition("=")
    if name not in ("-acc", "-ta", "-gpu", "-arch", "-Mcuda") or not equals:
        return None
    options: list[str] = []
    warnings: list[str] = []
    capabilities: list[int] = []
    devices: set[str] = set()
    for word in _words(values):
        found = _CAPABILITY.fullmatch(word)
        generation = _GENERATIONS.get(word.rstrip("+"))
        if found is not None:
            capabilities.append(int((found.group(1) + found.group(2)).replace("x", "0")))
        elif generation is not None:
            capabilities.append(generation)
        elif word in _HOSTS or word in _GPUS:
            devices.add(word)
        elif word in _OWN:
            options.append(_OWN[word])
        elif word in _MANAGED:
            options.append("--managed")
        elif word in _COMPARED:
            warnings.append(f"{argument}: results are not compared with those of the host")
        elif word == "radeon":
            warnings.append(f"{argument}: AMD's GPUs are not supported: the target does not change")
        elif _PASSED_OVER.fullmatch(word) is None and "radeon" not in values:
            raise command_error(f"{argument}: unknown value '{word}'", "leave it out")
    if devices and devices <= _HOSTS:
        options += ON_HOST
    elif name == "-acc" and devices == {"gpu"}:
        options.append("--target=nvptx")
    possible = {sm for sm in capabilities if sm in PTX_VERSIONS}
    if capabilities and not possible:
        newest = max(capabilities)
        possible = {newest_known(max(newest, OLDEST_SM))}
        warnings.append(
            f"{argument}: compute capability {newest} is not supported: "
            f"{max(possible)}, the nearest supported one, is used"
        )
    if possible:
        options.append(f"--sm={','.join(map(str, sorted(possible)))}")
    return options, warnings


def _words(values: str) -> list[str]:
    """The comma-separated values; those after the colon of a device are separate values too
    (`tesla:cc70,managed`)."""
    words: list[str] = []
    for value in values.split(","):
        device, colon, rest = value.partition(":")
        if colon and device in _HOSTS | _GPUS | {"radeon"}:
            words.append(device)
            value = rest
        if value:
            words.append(value)
    return words
