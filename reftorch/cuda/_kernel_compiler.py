"""Compiles the text of a kernel into a library, with the compiler of simulated devices (g++) or of GPUs (nvcc).

Mirrors: torch/cuda/_utils.py, ``_nvrtc_compile``
Leaves out: NVRTC. On a GPU, nvcc makes a library of the same form as g++ does for simulated devices, so one class
launches both. nvcc takes seconds, and NVRTC would take tenths.

Note [A kernel in 0.3 seconds]
Half of the time to compile a small kernel goes into the headers of the simulator. They are precompiled once for each
build of reftorch, into the folder of the extensions. Each library is kept there too, under a name
made from the text, the options and the build, so that an equal text is compiled once.

Note [Kernels that are watched]
While a block of ``reftorch.debug.watch_kernels`` runs, a text is compiled with the options that make its kernels report
each load and store. A kernel that was compiled before the block gets an instrumented copy when it is launched. This
module may not import the tools of ``reftorch.debug``, so the block leaves its options in `watching`.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import itertools
import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reftorch import _C
from reftorch._compiled_code import CORE, GENERATED, ROOT, CudaText, _complaints, _extensions, loaded_libraries
from reftorch.cuda import _kernel_source

SIMULATOR = ROOT / "cpp" / "c10" / "cuda" / "sim"
# What a kernel may use without an #include. printf and exit are macros only after <cstdio> and <cstdlib> have removed
# macros of these names.
HEADER = """\
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <kernel_source.h>
#include <kernel_checks.h>
#include <c10/cuda/CUDAKernelEntry.h>
#define printf cudasim_printf
#define exit cudasim_exit
namespace std { using ::cudasim_printf; using ::cudasim_exit; }
"""
# See Note [Checks that know the line] in cpp/c10/cuda/sim/kernel_checks.h. The options for the stack make one that is
# full or overwritten end the kernel at once.
CHECKS = (
    "-fsanitize=bounds,alignment,null,integer-divide-by-zero", "-DCUDA_SIM_CHECKED",
    "-fstack-protector-strong", "-fstack-clash-protection",
)  # fmt: skip
GPU_HEADER = "#include <c10/cuda/CUDAKernelEntry.h>\n#include <cstdio>\n#include <cassert>\n"


@dataclass(frozen=True)
class Toolchain:
    """A compiler with the options that come before those of the caller."""

    command: tuple[str, ...]
    flags: tuple[str, ...]
    simulated: bool


@dataclass(frozen=True)
class Watching:
    """What a block that watches kernels asks for: see Note [Kernels that are watched].

    Attributes:
        options: the compiler's options that make a kernel report what it does.
        name: called with the name of the parameter and the tensor, for each tensor that a launch passes on.
    """

    options: tuple[str, ...]
    name: Callable[[str, Any], None]


watching: Watching | None = None


def toolchain(compute_capability: str | None = None, instrumentation: Sequence[str] = ()) -> Toolchain:
    """Return the compiler of this build's devices. All options but the caller's own come from here.

    Args:
        compute_capability: the GPU to compile for, such as "90"; None means the one of this machine. Simulated devices
            have none.
        instrumentation: options that make a kernel of a simulated device report what it does.
    """
    include = [str(ROOT / "cpp"), str(GENERATED)]
    if not _C._cuda_is_simulated:
        architecture = f"sm_{compute_capability}" if compute_capability else "native"
        host = "-fPIC,-fvisibility=hidden"
        flags = ["-x", "cu", "-std=c++17", "-O3", "-lineinfo", f"-arch={architecture}", f"-Xcompiler={host}"]
        compiler = shlex.split(os.environ.get("NVCC", "nvcc"))
        return Toolchain(tuple(compiler), (*flags, *(f"-I{path}" for path in include)), simulated=False)
    flags = ["-x", "c++", "-std=c++17", "-O0", "-g", "-fno-omit-frame-pointer", "-fPIC", "-fvisibility=hidden"]
    # `assert` calls this function: see cpp/c10/cuda/sim/output.cpp.
    flags += ["-Werror=return-type", "-D__assert_fail=cudasim_assert_fail"]
    flags += [word for path in (str(SIMULATOR), *include) for word in ("-isystem", path)]
    flags += [*CHECKS, *instrumentation]
    compiler = shlex.split(os.environ.get("CXX", "c++"))
    return Toolchain(tuple(compiler), tuple(flags), simulated=True)


def flags_of(nvcc_options: Sequence[str], simulated: bool) -> list[str]:
    """Return those of the caller's options for nvcc that the compiler knows: g++ gets definitions and folders."""
    return [each for each in nvcc_options if not simulated or each.startswith(("-D", "-U", "-I"))]


def flags_of_extensions() -> list[str]:
    """Return the options with which the CUDA sources of an extension are compiled: see :func:`prepare_extension`."""
    if _C._cuda_is_simulated:
        return ["-D__assert_fail=cudasim_assert_fail", "-isystem", str(SIMULATOR), "-Wno-unknown-pragmas"]
    return [*toolchain().flags, "-diag-suppress=186"]


def prepare_extension(
    folder: Path,
    texts: Sequence[CudaText],
    cpp_flags: Sequence[str],
    flags: Sequence[str],
    run: Callable[..., None],
) -> tuple[list[str], list[str]]:
    """Make the CUDA sources of an extension ready for the command of the C++ compiler.

    Args:
        folder: the folder of the extension, which contains the sources.
        texts: the sources. Messages and debuggers name the file that was given; without one, the copy in the folder.
        cpp_flags: the options of the C++ compiler.
        flags: the options for CUDA sources.
        run: a function that runs a command and raises an error if the command fails.

    Returns:
        What the command has to compile and link (C++ texts for simulated devices, the objects of nvcc for a GPU), and
        the options that it needs besides.
    """
    files = []
    if _C._cuda_is_simulated:
        for each in texts:
            file = folder / f"{each.name}.cpp"
            head = f'#include <kernel_source.h>\n#line 1 "{each.file or folder / each.name}"\n'
            file.write_text(f"{head}{_kernel_source.as_cpp(each.text)}")
            files.append(str(file))
            if each.file:
                rewrite_headers(each.text, Path(each.file).parent, folder)
        return files, list(flags)
    for each in texts:
        compiled, source = str(folder / f"{each.name}.o"), each.file or str(folder / each.name)
        options = [flag for flag in cpp_flags if flag.startswith("-D")]
        options += [f"-I{path}" for flag, path in itertools.pairwise(cpp_flags) if flag == "-I"]
        command = [*toolchain().command, *flags, *options, "-c", source, "-o", compiled]
        run(command)
        files.append(compiled)
    toolkit = Path(shutil.which(toolchain().command[0]) or "nvcc").resolve().parents[1]
    return files, [f"-I{toolkit / 'include'}", f"-L{toolkit / 'lib64'}", "-lcudart"]


def rewrite_headers(text: str, source_folder: Path, folder: Path) -> None:
    """Write C++ for the headers that a CUDA source includes from its own folder, and for those that they include."""
    for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.MULTILINE):
        header, copy = source_folder / name, folder / name
        if header.is_file() and ".." not in Path(name).parts:
            copy.parent.mkdir(parents=True, exist_ok=True)
            said = f'#line 1 "{header}"\n{_kernel_source.as_cpp(header.read_text())}'
            if not copy.exists() or copy.read_text() != said:
                copy.write_text(said)
                rewrite_headers(header.read_text(), source_folder, folder)


class CompiledKernels:
    """The library of one text, with the functions by which its kernels are launched.

    Args:
        source: CUDA C++.
        names: the kernels to launch; each may be a template with arguments, ``k<float>``.
        file: the name of the text in messages and debuggers.
        extra_flags: options of the caller: definitions and folders.
        compute_capability: see :func:`toolchain`.
        instrumentation: see :func:`toolchain`; None means the options of the block that watches kernels, if there is
            one.

    Raises:
        RuntimeError: the text does not compile, or there is no compiler.
    """

    def __init__(
        self,
        source: str,
        names: Sequence[str],
        file: str,
        extra_flags: Sequence[str] = (),
        compute_capability: str | None = None,
        instrumentation: Sequence[str] | None = None,
    ) -> None:
        if instrumentation is None:
            instrumentation = watching.options if watching else ()
        self._asked = (source, names, file, extra_flags, compute_capability)
        self._instrumented = self if instrumentation else None
        self.names, self.file = list(names), file
        self.declarations = {each.name: each for each in _kernel_source.kernels_of(source)}
        for name in names:
            self._check_name(name)
        tools = toolchain(compute_capability, instrumentation)
        core = CORE
        depends_on = (source, self.names, file, tools, list(extra_flags), str(core), core.stat().st_mtime_ns)
        key = hashlib.sha256(repr(depends_on).encode()).hexdigest()[:16]
        self.folder = extensions_folder() / f"kernel_{key}"
        self.library = self.folder / f"{Path(file).stem}_{key}.so"
        if not self.library.exists():
            self._compile(source, tools, extra_flags)
        self.loaded = ctypes.CDLL(str(self.library))
        if str(self.library) not in loaded_libraries:
            loaded_libraries.append(str(self.library))

    def to_launch(self) -> CompiledKernels:
        """Return the library of which a launch calls the kernels: while somebody watches, an instrumented one."""
        if watching is None:
            return self
        if self._instrumented is None:
            self._instrumented = CompiledKernels(*self._asked, instrumentation=watching.options)
        return self._instrumented

    def _check_name(self, name: str) -> None:
        base = name.partition("<")[0].split("::")[-1].strip()
        if base in self.declarations:
            if self.declarations[base].is_template and "<" not in name:
                raise failure(f"{base} is a template: name one of its kernels, such as '{base}<float>'")
        elif self.declarations:
            raise failure(f"the source has no kernel {name!r}; it has {', '.join(self.declarations)}")
        else:
            raise failure(f"the source has no kernel {name!r}: it has no function that is declared __global__")

    def parameters(self, name: str) -> tuple[str, ...]:
        """Return the names of the parameters of a kernel."""
        return self.declarations[name.partition("<")[0].split("::")[-1].strip()].parameters

    def _compile(self, source: str, tools: Toolchain, extra_flags: Sequence[str]) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / self.file).write_text(source)  # which compilers and debuggers show
        entries = "".join(f"KERNEL_ENTRY({number}, {name})\n" for number, name in enumerate(self.names))
        body = _kernel_source.as_cpp(source) if tools.simulated else source
        unit = self.folder / ("unit.cpp" if tools.simulated else "unit.cu")
        head = "" if tools.simulated else GPU_HEADER
        unit.write_text(f'{head}#line 1 "{self.file}"\n{body}\n#line 1 "launch_of_{self.file}"\n{entries}')
        unfinished = self.library.with_suffix(f".{os.getpid()}")
        command = [*tools.command, *tools.flags, *extra_flags]
        if tools.simulated:
            # In two commands: the one that links must not have the options of instrumentation, because it would add the
            # compiler's own runtime. What instrumented code calls is in the core.
            compiled = f"{unfinished.name}.o"
            header = precompiled_header(tools)
            self._run([*command, "-include", str(header), "-c", unit.name, "-o", compiled])
            link = ["-shared", *fast_linker(), compiled, str(CORE), f"-Wl,-rpath,{CORE.parent}"]
            self._run([*tools.command, *link, "-o", unfinished.name])
            (self.folder / compiled).unlink()
        else:
            self._run([*command, "-shared", "-cudart=shared", unit.name, "-o", unfinished.name])
        unfinished.rename(self.library)  # atomic: other processes may compile the same text

    def _run(self, command: Sequence[str]) -> None:
        done = run(command, self.folder)
        if done.returncode != 0:
            raise failure(self._explained(_complaints(done.stderr or done.stdout, self.folder)))

    def _explained(self, complaints: str) -> str:
        """Put the cause first where the compiler only complains about the lines that come after the text."""
        line, bracket = _kernel_source.unclosed_bracket((self.folder / self.file).read_text())
        if line > 0:
            return f"{self.file}:{line}: error: the '{bracket}' of this line is never closed\n{complaints}"
        returns = re.search(r"launch_of_\S+?:(\d+):.*'codes\(((?!void )[^']*?) ?\(&\)", complaints)
        if returns:
            name = self.names[int(returns[1]) - 1]
            return (
                f"{name} returns {returns[2]}. A kernel returns nothing, `__global__ void {name}`; its results go into "
                "memory that an argument points to."
            )
        return complaints


def failure(text: str) -> RuntimeError:
    return RuntimeError(f"Kernel compilation failed:\n{text}")


def extensions_folder() -> Path:
    return Path(os.environ.get("REFTORCH_EXTENSIONS_DIR") or _extensions())


def run(command: Sequence[str], folder: Path) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"})
    except (FileNotFoundError, PermissionError):
        name = command[0]
        hint = "install g++ (Debian, Ubuntu: sudo apt install g++), or name a compiler in CXX"
        if "nvcc" in name:
            hint = "install the CUDA toolkit, or name its compiler in NVCC"
        raise failure(f"no compiler {name!r}; {hint}") from None


@functools.cache
def fast_linker() -> list[str]:
    return ["-fuse-ld=gold"] if shutil.which("ld.gold") else []


@functools.cache
def precompiled_header(tools: Toolchain) -> Path:
    """Return the header to include; beside it is its precompiled form: see Note [A kernel in 0.3 seconds]."""
    depends_on = (HEADER, tools, str(CORE), CORE.stat().st_mtime_ns)
    key = hashlib.sha256(repr(depends_on).encode()).hexdigest()[:16]
    folder = extensions_folder() / f"kernel_header_{key}"
    header, compiled = folder / "kernel.h", folder / "kernel.h.gch"
    if not compiled.exists():
        folder.mkdir(parents=True, exist_ok=True)
        header.write_text(HEADER)
        unfinished = folder / f"kernel.h.{os.getpid()}"
        flags = ["c++-header" if flag == "c++" else flag for flag in tools.flags]
        done = run([*tools.command, *flags, str(header), "-o", str(unfinished)], folder)
        if done.returncode != 0:
            raise failure(_complaints(done.stderr, folder))
        unfinished.rename(compiled)
    return header
