"""Compile C++ and CUDA C++ for a running reftorch: from a string in a notebook, or from files.

Mirrors: torch/utils/cpp_extension.py
Leaves out: setuptools builds, SYCL sources, ninja, Windows. One compiler call makes one extension; for a GPU, nvcc
first compiles each CUDA source.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from reftorch import _C
from reftorch._compiled_code import CORE, GENERATED, ROOT, CudaText, _complaints, _extensions, loaded_libraries
from reftorch._source_paths import here

# The flags of reftorch's own builds, because an extension must match its build; cpp/CMakeLists.txt gives the reasons.
BUILD_FLAGS = {
    "Debug": ["-O0", "-g3", "-fno-omit-frame-pointer"],
    "Release": ["-O3", "-DNDEBUG", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros"],
    "Sanitize": ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined"],
    "Tsan": ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=thread"],
}
_registered: dict[str, str] = {}  # the key of each extension that has registered ops
FUNCTION = '  ::reftorch::torch::python_function<&{0}>::def("{0}")'


def include_paths() -> list[str]:
    """Return the folders of the headers that C++ code for reftorch needs.

    Mirrors torch/utils/cpp_extension.py, ``include_paths``.
    """
    import pybind11

    headers = [ROOT / "cpp", ROOT / "cpp" / "csrc" / "api" / "include", GENERATED, _headers_of_ops()]
    return [*map(str, headers), pybind11.get_include(), sysconfig.get_path("include")]


@functools.cache
def _headers_of_ops() -> Path:
    """Return the folder of the headers that declare all ops, which are written once for each build of reftorch.

    The library's own code has no use for them, so its build does not write them: see Note [Methods that are ops] in
    cpp/ATen/core/Tensor.h.
    """
    in_checkout, in_package = ROOT / ".ci" / "gen_functions.py", ROOT / "cpp" / "gen_functions.py"
    program = in_checkout if in_checkout.exists() else in_package
    depends_on = (str(CORE), CORE.stat().st_mtime_ns, program.read_bytes())
    folder = _extensions() / f"headers_{hashlib.sha256(repr(depends_on).encode()).hexdigest()[:12]}"
    if not folder.exists():
        spec = importlib.util.spec_from_file_location("gen_functions", program)
        assert spec is not None and spec.loader is not None
        generator = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(generator)
        sources = str(ROOT / "cpp")  # an op of an extension is in no header
        ops = [op for op in _C._get_all_op_schemas("aten") if here(op["file"]).startswith(sources)]
        schemas = [op["schema"].removeprefix("aten::") for op in ops]
        declared = (GENERATED / "ATen" / "Functions.h").read_text()
        unfinished = Path(tempfile.mkdtemp(dir=folder.parent))
        unfinished.chmod(0o755)
        for name, text in generator.extension_files(schemas, declared, dir(_C.TensorBase)).items():
            (unfinished / name).parent.mkdir(parents=True, exist_ok=True)
            (unfinished / name).write_text(text)
        try:
            unfinished.rename(folder)  # atomic: other processes may write the same headers
        except OSError:
            shutil.rmtree(unfinished)
    return folder


def load_inline(
    name: str,
    cpp_sources: str | Sequence[str],
    cuda_sources: str | Sequence[str] | None = None,
    sycl_sources: None = None,
    functions: str | Sequence[str] | None = None,
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
) -> ModuleType:
    """Compile C++ text, and CUDA C++ text beside it, and import it.

    ``#include <torch/all.h>`` is put before the text: tensors, ops, the iterator and its loops. Equal texts are
    compiled once for each build of reftorch; later calls load the existing library.

    Args:
        name: the module's name, an identifier.
        cpp_sources: C++ text, or several texts that are joined.
        cuda_sources: CUDA C++ text, or several that are joined, with kernels and the functions that launch them.
            ``cpp_sources`` declares those functions that Python can call. Without a GPU, the kernels run on simulated
            devices.
        functions: names of functions in the text that Python can call, with positional arguments of the types Tensor,
            bool, int64_t, double and vectors of these. The text may instead bind them itself: then it includes
            ``torch/extension.h`` and has a ``PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)``.
        extra_cflags, extra_ldflags, extra_include_paths: options that are added to the compiler's command.
        extra_cuda_cflags: options for the compiler of ``cuda_sources``: nvcc. For simulated devices, those that begin
            with ``-D``, ``-U`` or ``-I`` count.
        sycl_sources, extra_sycl_cflags: None, because there are no SYCL devices.
        build_directory: the folder of the source and the library; by default a folder in ``build/extensions`` of the
            checkout, or in ``REFTORCH_EXTENSIONS_DIR``; of an installed reftorch or a read-only checkout, in the user's
            cache.
        verbose: print the compiler's command.

    Raises:
        ValueError: the name is not an identifier.
        RuntimeError: there are CUDA sources, but this build has no CUDA; the text does not compile (the message
            contains the compiler's errors); there is no compiler; or a different text of this name has registered ops,
            which a process can do only once.

    Example::

        >>> from reftorch.utils.cpp_extension import load_inline
        >>> source = "int64_t rank(const at::Tensor& self) { return self.dim(); }"
        >>> load_inline("rank", source, functions="rank").rank(torch.zeros(2, 3))
        2

    Mirrors torch/utils/cpp_extension.py, ``load_inline``.
    """
    source = cpp_sources if isinstance(cpp_sources, str) else "\n".join(cpp_sources)
    _refuse_sycl(sycl_sources, extra_sycl_cflags)
    flags = [*_flags(extra_cflags or (), extra_include_paths or ()), "-include", "torch/all.h"]
    if "TORCH_EXTENSION_NAME" not in source:
        names = [functions] if isinstance(functions, str) else list(functions or ())
        source += f"\nTORCH_EXTENSION_MODULE({', '.join(map(FUNCTION.format, names)) or '{}'})\n"
        flags += ["-include", "csrc/utils/python_function.h"]
    texts = [(f"{name}.cpp", source)]
    cuda_texts: list[CudaText] = []
    if cuda_sources:
        cuda_text = cuda_sources if isinstance(cuda_sources, str) else "\n".join(cuda_sources)
        cuda_texts = [CudaText(f"{name}.cu", cuda_text)]
    cuda_flags = [*_cuda_flags(extra_cuda_cflags or ()), "-include", "torch/all.h"] if cuda_texts else []
    extension = _Extension(name, texts, flags, [*(extra_ldflags or ())], build_directory, cuda_texts, cuda_flags)
    return extension.imported(verbose)


def load(
    name: str,
    sources: str | Sequence[str],
    extra_cflags: Sequence[str] | None = None,
    extra_cuda_cflags: Sequence[str] | None = None,
    extra_sycl_cflags: None = None,
    extra_ldflags: Sequence[str] | None = None,
    extra_include_paths: Sequence[str] | None = None,
    build_directory: str | None = None,
    verbose: bool = False,
) -> ModuleType:
    """Compile C++ and CUDA C++ files into one module and import it.

    Args:
        sources: the files. They bind their functions with ``PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)``. Files whose
            names end in ``.cu`` are CUDA C++.
        name, extra_cflags, extra_cuda_cflags, extra_sycl_cflags, extra_ldflags, extra_include_paths, build_directory,
            verbose: see :func:`load_inline`.

    Raises:
        RuntimeError: see :func:`load_inline`.

    Mirrors torch/utils/cpp_extension.py, ``load``.
    """
    _refuse_sycl(None, extra_sycl_cflags)
    files = [Path(file) for file in ([sources] if isinstance(sources, str) else sources)]
    folders = sorted({str(file.resolve().parent) for file in files})
    flags = _flags(extra_cflags or (), [*(extra_include_paths or ()), *folders])
    texts = [(file.name, file.read_text()) for file in files if file.suffix != ".cu"]
    cuda_texts = [CudaText(file.name, file.read_text(), str(file.resolve())) for file in files if file.suffix == ".cu"]
    cuda_flags = _cuda_flags(extra_cuda_cflags or ()) if cuda_texts else []
    extension = _Extension(name, texts, flags, [*(extra_ldflags or ())], build_directory, cuda_texts, cuda_flags)
    return extension.imported(verbose)


def _refuse_sycl(sources: None, flags: None) -> None:
    if sources or flags:
        raise ValueError("load: SYCL sources cannot be compiled, because there are no SYCL devices")


def _flags(extra_cflags: Sequence[str], extra_include_paths: Sequence[str]) -> list[str]:
    build = CORE.parent.name
    includes = [word for path in [*extra_include_paths, *include_paths()] for word in ("-I", path)]
    # A function without `return` compiles, returns whatever lies on the stack, and makes the process crash later.
    warnings = ["-Wall", "-Werror=return-type"]
    return ["-std=c++17", "-fPIC", "-fvisibility=hidden", *warnings, *BUILD_FLAGS[build], *includes, *extra_cflags]


def _cuda_flags(extra_flags: Sequence[str]) -> list[str]:
    """Return the options for CUDA sources: those of nvcc, or for simulated devices those that the C++ compiler gets
    beside the options for C++.

    Raises:
        RuntimeError: this build has no CUDA.
    """
    if not hasattr(_C, "_cuda_is_simulated"):
        raise RuntimeError(
            "load: there are CUDA sources, but this build of reftorch has no CUDA. Hint: the Debug build, which "
            "REFTORCH_BUILD=debug chooses, has simulated devices; -DUSE_CUDA=on builds for a GPU."
        )
    from reftorch.cuda._kernel_compiler import flags_of, flags_of_extensions

    return [*flags_of_extensions(), *flags_of(extra_flags, _C._cuda_is_simulated)]


@dataclass
class _Extension:
    """One module to compile: its texts by file name, and the options of the compiler."""

    name: str
    texts: list[tuple[str, str]]
    flags: list[str]
    ldflags: list[str]
    build_directory: str | None
    cuda_texts: list[CudaText] = field(default_factory=list)
    cuda_flags: list[str] = field(default_factory=list)
    key: str = field(init=False)

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"load: name must be an identifier, got {self.name!r}")
        # Python and the dynamic linker identify a module by its file, so a new text or a new core needs a new file.
        depends_on: tuple[object, ...] = (self.texts, self.flags, self.ldflags, str(CORE), CORE.stat().st_mtime_ns)
        if self.cuda_texts:
            depends_on += (self.cuda_texts, self.cuda_flags)
        self.key = f"{self.name}_{hashlib.sha256(repr(depends_on).encode()).hexdigest()[:12]}"

    @property
    def folder(self) -> Path:
        if self.build_directory is not None:
            return Path(self.build_directory)
        return Path(os.environ.get("REFTORCH_EXTENSIONS_DIR") or _extensions()) / self.key

    @property
    def library(self) -> Path:
        return self.folder / f"{self.key}.so"

    def imported(self, verbose: bool) -> ModuleType:
        """Return the module; compile it first if it does not exist."""
        if self.key in sys.modules:
            return sys.modules[self.key]
        if not self.library.exists():
            self._compile(verbose)
        texts = [*(text for _, text in self.texts), *(each.text for each in self.cuda_texts)]
        if any("TORCH_LIBRARY" in text for text in texts):
            self._register_once()
        spec = importlib.util.spec_from_file_location(self.key, self.library)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        sys.modules[self.key] = module
        loaded_libraries.append(str(self.library))
        return module

    def _register_once(self) -> None:
        """Refuse ops that are registered already: an error while a library is loaded would end the process."""
        if _registered.setdefault(self.name, self.key) != self.key:
            raise RuntimeError(
                f"load: the extension '{self.name}' was loaded with another text, and an op cannot be registered twice "
                "in one process. Restart the kernel to load the new text."
            )

    def _compile(self, verbose: bool) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        for file, text in [*self.texts, *((each.name, each.text) for each in self.cuda_texts)]:
            (self.folder / file).write_text(text)
        unfinished = self.library.with_suffix(f".{os.getpid()}")
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        files = [str(self.folder / file) for file, _ in self.texts]
        named = f"-DTORCH_EXTENSION_NAME={self.key}"
        linked = ["-shared", "-Wl,-Bsymbolic-functions", str(CORE), f"-Wl,-rpath,{CORE.parent}", *self.ldflags]
        flags = [*self.flags, named]
        if self.cuda_texts:
            from reftorch.cuda._kernel_compiler import prepare_extension

            objects, more_flags = prepare_extension(self.folder, self.cuda_texts, flags, self.cuda_flags, self._run)
            files += objects
            flags += more_flags
        self._run([*compiler, *flags, *files, *linked, "-o", str(unfinished)], verbose)
        unfinished.rename(self.library)  # atomic: other processes may compile the same text

    def _run(self, command: Sequence[str], verbose: bool = False) -> None:
        if verbose:
            print(shlex.join(command), file=sys.stderr)
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except (FileNotFoundError, PermissionError):  # PermissionError: PATH has a folder that may not be read
            mend = "install g++ or clang++ (Debian, Ubuntu: sudo apt install g++ python3-dev), or name one in CXX"
            raise RuntimeError(f"Error building extension '{self.name}': no compiler {command[0]!r}; {mend}") from None
        if done.returncode != 0:
            raise RuntimeError(f"Error building extension '{self.name}':\n{_complaints(done.stderr, self.folder)}")
