"""Find the extension of the chosen build and install it as ``reftorch._C``.

Mirrors: nothing in PyTorch, which has one build at a time, in torch/_C.
Left out: operating systems other than Linux.

The environment variable ``REFTORCH_BUILD`` chooses ``debug``, ``release``, ``sanitize`` or ``tsan``. Without it, the
first of ``preferred_builds()`` that is there is loaded.
"""

import importlib.util
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from types import ModuleType

BUILD_TYPES = ("Debug", "Release", "Sanitize", "Tsan")
LIBRARY_DIR = Path(__file__).resolve().parent / "lib"


def extension_path(build_type: str) -> Path:
    """Return the path of the extension of ``build_type`` for this interpreter, whether the file exists or not."""
    return LIBRARY_DIR / build_type / f"_C{EXTENSION_SUFFIXES[0]}"


def chosen_extension() -> Path:
    """Return the path of the extension that ``import reftorch`` loads.

    Raises:
        ValueError: ``REFTORCH_BUILD`` names no build type.
        ImportError: the build does not exist; the message says how to make it.
    """
    asked = os.environ.get("REFTORCH_BUILD", "")
    if asked and asked.capitalize() not in BUILD_TYPES:
        known = ", ".join(name.lower() for name in BUILD_TYPES)
        raise ValueError(f"REFTORCH_BUILD is '{asked}'; expected one of: {known}")
    wanted = (asked.capitalize(),) if asked else preferred_builds()
    for build_type in wanted:
        path = extension_path(build_type)
        if path.exists():
            return path
    message = f"reftorch is not built: no {extension_path(wanted[0])}."
    others = sorted(path.name for path in LIBRARY_DIR.glob(f"{wanted[0]}/_C.*.so"))
    if others:
        message += f" There is {', '.join(others)}, which another Python made; this is Python {sys.version.split()[0]}."
    raise ImportError(f"{message} {how_to_mend(f'make {wanted[0].lower()}')}", name="reftorch._C")


def _load_blas() -> None:
    """Load OpenBLAS from the present environment; a library that needs it by its soname then finds this one."""
    spec = importlib.util.find_spec("scipy_openblas32")
    if spec is None or spec.origin is None:
        raise ImportError(f"scipy-openblas32 is missing. {how_to_mend('make debug')}", name="reftorch._C")
    ctypes = importlib.import_module("ctypes")  # not at the top: this function is seldom needed
    ctypes.CDLL(str(Path(spec.origin).parent / "lib" / "libscipy_openblas.so"))


def load() -> ModuleType:
    """Load the chosen extension as ``reftorch._C``, once per process."""
    if "reftorch._C" in sys.modules:
        return sys.modules["reftorch._C"]
    path = chosen_extension()
    spec = importlib.util.spec_from_file_location("reftorch._C", path)
    assert spec is not None and spec.loader is not None
    try:
        module = importlib.util.module_from_spec(spec)
    except ImportError as error:
        # The library contains the path of the wheel with OpenBLAS; the path is wrong if the environment was moved.
        if "libscipy_openblas" not in str(error):
            raise
        _load_blas()
        module = importlib.util.module_from_spec(spec)
    sys.modules["reftorch._C"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["reftorch._C"]
        raise
    for name, value in vars(module).items():
        if isinstance(value, ModuleType):  # so that programs can import them, as PyTorch's
            sys.modules.setdefault(f"reftorch._C.{name}", value)
    return module


def is_installed() -> bool:
    """Return whether the package comes from a wheel, which puts the C++ sources into the package."""
    return (LIBRARY_DIR.parent / "cpp").is_dir()


def preferred_builds() -> tuple[str, ...]:
    """Return the build types in the order in which ``chosen_extension`` looks for them.

    In a checkout, Debug is first. In an installed package, Release is first, because who installs it wants to use it.
    """
    return ("Release", *BUILD_TYPES) if is_installed() else BUILD_TYPES


def how_to_mend(command: str) -> str:
    """Return what to do, where a checkout needs ``command``."""
    return "Run: pip install --force-reinstall reftorch" if is_installed() else f"Run: {command}"
