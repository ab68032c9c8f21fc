"""Kernels that report what they do: the compiler's flags, and instrumented copies of the library's own kernels.

Mirrors: nothing in PyTorch, whose users run a program under NVIDIA's compute-sanitizer.
Leaves out: GPUs; only the simulator can watch. Kernels in files that an extension has registered.

See Note [Watching kernels] in cpp/c10/cuda/sim/observer.h.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shlex
import subprocess
from pathlib import Path

from reftorch._source_paths import here, source_root
from reftorch.debug.common.native import NeedsDebugBuild
from reftorch.debug.kernels import kept_libraries
from reftorch.utils import cpp_extension

# The last option is gcc's, and has no effect in clang: calls for volatile accesses of their own.
FLAGS = ("-O0", "-g", "-fno-omit-frame-pointer", "-fsanitize=thread", "-fsanitize-coverage=trace-pc",
         "-DCUDA_SIM_WATCHED", "--param=tsan-distinguish-volatile=1")  # fmt: skip
# __shared__ variables are too large for the memory of initial-exec.
LANGUAGE = ("-x", "c++", "-std=c++17", "-fPIC", "-fvisibility=hidden", "-ftls-model=global-dynamic", "-w")


def instrument_flags() -> list[str]:
    """Return the options with which a compiler makes a kernel report its accesses to the watcher.

    They are for the command that compiles. The command that links must not have them, because it would add the
    compiler's own runtime: the functions that the compiler's calls need are in reftorch's library.

    Example:
        >>> from reftorch.debug.kernels import instrument_flags
        >>> "-fsanitize=thread" in instrument_flags()
        True
    """
    return list(FLAGS)


class InstrumentedFile:
    """An instrumented copy of a file of kernels: a library, whose kernels are in use between ``use`` and ``restore``.

    Args:
        file: a source of the library, as its debug information names it.

    Raises:
        NeedsDebugBuild: another build is loaded.
        RuntimeError: there is no compiler, or it refuses the file.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.in_use = False
        self._library = ctypes.CDLL(str(_compiled(Path(here(file)))))

    def use(self) -> None:
        """Give each stub of the file the kernel of the copy."""
        if not self.in_use:
            self._library.exchange_kernels()
            self.in_use = True

    def restore(self) -> None:
        """Give each stub the kernel that it had before."""
        if self.in_use:
            self._library.exchange_kernels()
            self.in_use = False


def _compiled(source: Path) -> Path:
    """Return the library with the instrumented copy of a file; compile it if this build has none."""
    if cpp_extension.CORE.parent.name != "Debug":
        raise NeedsDebugBuild("watch_kernels")
    cpp = source_root() / "cpp"
    unit = f'#include <ATen/native/cuda/ExchangeKernels.h>\n#include "{source}"\n'
    includes = [f"-I{cpp}", f"-I{cpp_extension.GENERATED}", "-isystem", str(cpp / "c10" / "cuda" / "sim")]
    flags = [*LANGUAGE, *FLAGS, *includes]
    build = cpp_extension.CORE.stat().st_mtime_ns
    key = hashlib.sha256(repr((unit, source.read_bytes(), flags, build)).encode()).hexdigest()[:12]
    folder = Path(os.environ.get("REFTORCH_EXTENSIONS_DIR") or cpp_extension._extensions())
    library = folder / f"watched_{source.stem}_{key}.so"
    if not kept_libraries.take(library):
        kept_libraries.put(_compile(unit, flags, library), library)
    return library


def _compile(unit: str, flags: list[str], library: Path) -> Path:
    """Compile the text of a unit and link it with the loaded library, in two commands; return the unfinished file."""
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    unfinished = str(library.with_suffix(f".{os.getpid()}"))
    object_file = f"{unfinished}.o"
    link = ["-shared", "-Wl,-Bsymbolic-functions", object_file, str(cpp_extension.CORE), "-o", unfinished]
    try:
        for command in ([*compiler, *flags, "-c", "-", "-o", object_file], [*compiler, *link]):
            done = subprocess.run(command, input=unit, capture_output=True, text=True)
            if done.returncode != 0:
                raise RuntimeError(f"watch_kernels: {shlex.join(command)} failed:\n{done.stderr.strip()}")
    except FileNotFoundError:
        fix = "install g++ (Debian, Ubuntu: sudo apt install g++), or name a compiler in CXX"
        raise RuntimeError(f"watch_kernels: no compiler {compiler[0]!r}; {fix}") from None
    os.unlink(object_file)
    return Path(unfinished)
