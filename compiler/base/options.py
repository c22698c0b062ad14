"""The options of one compilation, shared by the drivers and the Python API."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Literal

TargetName = Literal["nvptx", "host", "sim"]
OptLevel = Literal[0, 1, 2, 3]
Sizes = Literal["advice", "as-written"]
TARGETS: tuple[TargetName, ...] = ("nvptx", "host", "sim")


def opt_level_of(text: str) -> OptLevel:
    """The optimisation level in an argument, "0" to "3"."""
    levels: dict[str, OptLevel] = {"0": 0, "1": 1, "2": 2, "3": 3}
    return levels[text]


DEFAULT_SM = 90


@dataclass(frozen=True)
class PreprocessOptions:
    """
    `include_dirs` (-I) are searched in order before the bundled headers. `defines` (-D) are "NAME" (meaning
    1) or "NAME=VALUE"; `undefines` (-U) are applied after them. `use_system_cpp` preprocesses with `$CC`
    (default `cc`) and the host's headers. `openmp` keeps OpenMP's pragmas and defines `_OPENMP`, so that
    later stages recognise an OpenMP program by its pragmas. `c23` marks the text as C23, by which later
    stages recognise it.
    """

    include_dirs: tuple[Path, ...] = ()
    defines: tuple[str, ...] = ()
    undefines: tuple[str, ...] = ()
    use_system_cpp: bool = False
    openmp: bool = False
    c23: bool = False
    quote_dirs: tuple[Path, ...] = ()
    after_dirs: tuple[Path, ...] = ()
    standard_dirs: bool = True
    forced_includes: tuple[str, ...] = ()
    forced_macros: tuple[str, ...] = ()
    """The options `-iquote`, `-idirafter`, `-nostdinc` (negated), `-include` and `-imacros` of C
    compilers."""


@dataclass(frozen=True)
class CompileOptions(PreprocessOptions):
    """
    The options of one compilation, with those of preprocessing. `target` selects the code of compute
    constructs: device kernels as PTX for compute capability `sm` (90 for 9.0), CPU kernels, or the kernels
    of `nvptx` for the simulator. `opt_level` is LLVM's for host code and kernels, 0 to 3. `fma` lets a
    multiply and an add be fused (C11 6.5p8), outside of compute constructs only with `host_fma` or where C
    compilers do so by default; `fast_math` allows reassociation, reciprocals instead of divisions and
    approximate functions, and lets GPU code take float denormals for zero. `debug_info` puts C lines into
    the machine code, `host_lines` into that of the host alone. `check_cache` reports accesses outside of
    the sections of `cache` directives at run time. `verify` checks the IR and the contract of every stage,
    `verify_each` also the IR after every pass. `sizes`: `as-written` keeps the levels, sizes and tiles of
    the program's clauses, which are only advice otherwise (`free-mapping`). `wall` asks for warnings about
    code that works, but should be written differently (`-Wall`). `managed`: the program relies on memory
    that host and device share, so that data clauses may be missing. `openmp` gives `#pragma omp` in host
    code its meaning (docs/openmp.md). `c23`: the keywords of C23 are keywords (`-std=c23`).
    """

    target: TargetName = "host"
    sm: int = DEFAULT_SM
    opt_level: OptLevel = 3
    fma: bool = True
    host_fma: bool = False
    fast_math: bool = False
    debug_info: bool = False
    host_lines: bool = False
    check_cache: bool = False
    verify: bool = False
    verify_each: bool = False
    sizes: Sizes = "advice"
    wall: bool = False
    managed: bool = False
    pass_options: tuple[str, ...] = ()
    added_passes: tuple[str, ...] = ()
    """`STAGE:PASSES`: passes to run after those of a stage."""
    skipped_passes: tuple[str, ...] = ()
    """Passes of the pipeline to leave out; a later pass that needs their result reports an error."""

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            names = ", ".join(map(repr, TARGETS))
            raise ValueError(f"there is no target {self.target!r}; there are {names}")

    @property
    def checks_ir(self) -> bool:
        """Whether any IR that the compiler makes is checked."""
        return self.verify or self.verify_each

    def preprocessing(self) -> PreprocessOptions:
        """The preprocessor's part of the options."""
        return PreprocessOptions(**{name: getattr(self, name) for name in _PREPROCESSING})

    def beyond_preprocessing(self) -> dict[str, object]:
        """The options that matter for a file that is already preprocessed, by name."""
        return {name: value for name, value in asdict(self).items() if name not in _PREPROCESSING}

    def key(self) -> str:
        """These options as a text, for the keys of results."""
        return json.dumps(self.beyond_preprocessing(), sort_keys=True)


_PREPROCESSING = tuple(field.name for field in fields(PreprocessOptions))
