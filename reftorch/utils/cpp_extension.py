"""Compile C++ for a running reftorch: from a string in a notebook, or from files.

Mirrors: torch/utils/cpp_extension.py
Leaves out: setuptools builds, CUDA and SYCL sources, ninja, Windows; one compiler call makes one extension.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.util
import os
import re
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
from reftorch._source_paths import PACKAGE, here, source_root

ROOT = source_root()
CORE = Path(str(_C.__file__))
GENERATED = ROOT / "build" / CORE.parent.name / "generated"  # the headers that the build writes: ATen/Functions.h

# The flags of reftorch's own builds, because an extension must match its build; cpp/CMakeLists.txt gives the reasons.
BUILD_FLAGS = {
    "Debug": ["-O0", "-g3", "-fno-omit-frame-pointer"],
    "Release": ["-O3", "-DNDEBUG", "-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros"],
    "Sanitize": ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=address,undefined"],
    "Tsan": ["-O1", "-g", "-fno-omit-frame-pointer", "-fsanitize=thread"],
}
_registered: dict[str, str] = {}  # the key of each extension that has registered ops
loaded_libraries: list[str] = []  # the files of all extensions of this process, for debuggers
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
    functions: str | Sequence[str] | None = None,
    *,
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: Sequence[str] = (),
    build_directory: str | None = None,
    verbose: bool = False,
) -> ModuleType:
    """Compile C++ text and import it.

    ``#include <torch/all.h>`` is put before the text: tensors, ops, the iterator and its loops. Equal texts are
    compiled once for each build of reftorch; later calls load the existing library.

    Args:
        name: the module's name, an identifier.
        cpp_sources: C++ text, or several texts that are joined.
        functions: names of functions in the text that Python can call, with positional arguments of the types Tensor,
            bool, int64_t, double and vectors of these. The text may instead bind them itself: then it includes
            ``torch/extension.h`` and has a ``PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)``.
        extra_cflags, extra_ldflags, extra_include_paths: options that are added to the compiler's command.
        build_directory: the folder of the source and the library; by default a folder in ``build/extensions`` of the
            checkout, or in ``REFTORCH_EXTENSIONS_DIR``; of an installed reftorch or a read-only checkout, in the user's
            cache.
        verbose: print the compiler's command.

    Raises:
        ValueError: the name is not an identifier.
        RuntimeError: the text does not compile (the message contains the compiler's errors), there is no compiler, or a
            different text of this name has registered ops, which a process can do only once.

    Example::

        >>> import reftorch as torch
        >>> from reftorch.utils.cpp_extension import load_inline
        >>> source = "int64_t rank(const at::Tensor& self) { return self.dim(); }"
        >>> load_inline("rank", source, functions="rank").rank(torch.zeros(2, 3))
        2

    Mirrors torch/utils/cpp_extension.py, ``load_inline``.
    """
    source = cpp_sources if isinstance(cpp_sources, str) else "\n".join(cpp_sources)
    flags = [*_flags(extra_cflags, extra_include_paths), "-include", "torch/all.h"]
    if "TORCH_EXTENSION_NAME" not in source:
        names = [functions] if isinstance(functions, str) else list(functions or ())
        source += f"\nTORCH_EXTENSION_MODULE({', '.join(map(FUNCTION.format, names)) or '{}'})\n"
        flags += ["-include", "csrc/utils/python_function.h"]
    return _Extension(name, [(f"{name}.cpp", source)], flags, [*extra_ldflags], build_directory).imported(verbose)


def load(
    name: str,
    sources: str | Sequence[str],
    *,
    extra_cflags: Sequence[str] = (),
    extra_ldflags: Sequence[str] = (),
    extra_include_paths: Sequence[str] = (),
    build_directory: str | None = None,
    verbose: bool = False,
) -> ModuleType:
    """Compile C++ files into one module and import it.

    Args:
        sources: the files. They bind their functions with ``PYBIND11_MODULE(TORCH_EXTENSION_NAME, m)``.
        name, extra_cflags, extra_ldflags, extra_include_paths, build_directory, verbose: see :func:`load_inline`.

    Raises:
        RuntimeError: see :func:`load_inline`.

    Mirrors torch/utils/cpp_extension.py, ``load``.
    """
    files = [Path(file) for file in ([sources] if isinstance(sources, str) else sources)]
    flags = _flags(extra_cflags, [*extra_include_paths, *sorted({str(file.resolve().parent) for file in files})])
    texts = [(file.name, file.read_text()) for file in files]
    return _Extension(name, texts, flags, [*extra_ldflags], build_directory).imported(verbose)


def _flags(extra_cflags: Sequence[str], extra_include_paths: Sequence[str]) -> list[str]:
    build = CORE.parent.name
    includes = [word for path in [*extra_include_paths, *include_paths()] for word in ("-I", path)]
    # A function without `return` compiles, returns whatever lies on the stack, and makes the process crash later.
    warnings = ["-Wall", "-Werror=return-type"]
    return ["-std=c++17", "-fPIC", "-fvisibility=hidden", *warnings, *BUILD_FLAGS[build], *includes, *extra_cflags]


@functools.cache
def _extensions() -> Path:
    """Return the folder of the extensions that name no other, the first of these that may be written into.

    They are a folder of the checkout; the user's cache, because nothing is written into an installed package; and, for
    this process alone, a temporary folder.
    """
    cache = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")) / "reftorch_extensions"
    for folder in (ROOT / "build" / "extensions", cache) if ROOT != PACKAGE else (cache,):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK):
                return folder
    return Path(tempfile.mkdtemp(prefix="reftorch_extensions_"))


@dataclass
class _Extension:
    """One module to compile: its texts by file name, and the options of the compiler."""

    name: str
    texts: list[tuple[str, str]]
    flags: list[str]
    ldflags: list[str]
    build_directory: str | None
    key: str = field(init=False)

    def __post_init__(self) -> None:
        if not self.name.isidentifier():
            raise ValueError(f"load: name must be an identifier, got {self.name!r}")
        # Python and the dynamic linker identify a module by its file, so a new text or a new core needs a new file.
        depends_on = (self.texts, self.flags, self.ldflags, str(CORE), CORE.stat().st_mtime_ns)
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
        if any("TORCH_LIBRARY" in text for _, text in self.texts):
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
        for file, text in self.texts:
            (self.folder / file).write_text(text)
        unfinished = self.library.with_suffix(f".{os.getpid()}")
        compiler = shlex.split(os.environ.get("CXX", "c++"))
        files = [str(self.folder / file) for file, _ in self.texts]
        named = f"-DTORCH_EXTENSION_NAME={self.key}"
        linked = ["-shared", "-Wl,-Bsymbolic-functions", str(CORE), f"-Wl,-rpath,{CORE.parent}", *self.ldflags]
        command = [*compiler, *self.flags, named, *files, *linked, "-o", str(unfinished)]
        if verbose:
            print(shlex.join(command), file=sys.stderr)
        try:
            done = subprocess.run(command, capture_output=True, text=True)
        except (FileNotFoundError, PermissionError):  # PermissionError: PATH has a folder that may not be read
            mend = "install g++ or clang++ (Debian, Ubuntu: sudo apt install g++ python3-dev), or name one in CXX"
            raise RuntimeError(f"Error building extension '{self.name}': no compiler {compiler[0]!r}; {mend}") from None
        if done.returncode != 0:
            raise RuntimeError(f"Error building extension '{self.name}':\n{_complaints(done.stderr, self.folder)}")
        unfinished.rename(self.library)  # atomic: other processes may compile the same text


def _complaints(text: str, folder: Path) -> str:
    """Return the compiler's errors with their lines of source, or its whole output if there are none.

    An error in the body of a dispatch macro occurs once for each dtype; it is shown once.
    """
    text = text.replace(f"{folder}/", "")
    errors = re.findall(r"^\S+?:\d+:\d+: (?:fatal )?error:.*(?:\n +(?:\d+ )?\|.*)*", text, re.M)
    return "\n".join(dict.fromkeys(errors)) or text.strip()
