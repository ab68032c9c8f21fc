"""Lets ``import torch`` mean reftorch, for this process and the processes that it starts.

``python -m reftorch script.py`` calls :func:`install` before the script runs, so a program that was written for PyTorch
runs unchanged. Each name ``torch.x.y`` becomes a second name of the module ``reftorch.x.y``: there is one module
object, and its classes are the same under both names. Modules, classes and functions say ``torch`` of themselves, as
:func:`reftorch._places.say_torch` arranges. ``torch.__version__`` then starts with the version of PyTorch
whose API reftorch has, because libraries read this version in order to learn which API they meet.

Mirrors: nothing in PyTorch: it goes by its own name.
Leaves out: the C++ extensions of other packages, which are linked with PyTorch's libraries.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import multiprocessing.spawn
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any

from reftorch import _places
from reftorch.torch_version import TorchVersion

__all__ = ["install"]

_PUBLIC, _OURS = "torch", "reftorch"
_NAME_OF_FORKSERVER = "ignore"  # the name in the call that prepares the server of forkserver itself
_API_VERSION = "2.13.0"  # of PyTorch: the table of names in reftorch/_api is made from this version


class _AliasLoader(importlib.abc.Loader):
    """Gives the module of reftorch to an import of ``torch.x``."""

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(_OURS + spec.name.removeprefix(_PUBLIC))
        # The import system will write this spec into the module, which keeps its own.
        spec.loader_state = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        assert module.__spec__ is not None
        module.__spec__ = module.__spec__.loader_state  # the module was executed under its own name


class _Loader(importlib.machinery.SourceFileLoader):
    """Lets a module of reftorch that is imported later say ``torch``."""

    def exec_module(self, module: ModuleType) -> None:
        super().exec_module(module)
        _places.say_torch(module)


class _AliasFinder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, dot, rest = name.partition(".")
        if package == _OURS:
            spec = importlib.machinery.PathFinder.find_spec(name, path, target)
            if spec is not None and type(spec.loader) is importlib.machinery.SourceFileLoader:
                spec.loader = _Loader(spec.loader.name, spec.loader.path)
            return spec
        if package != _PUBLIC:
            return None
        return importlib.machinery.ModuleSpec(name, _AliasLoader()) if _is_here(_OURS + dot + rest) else None


def _is_here(name: str) -> bool:
    """Return whether there is a module of reftorch, whose package has been imported."""
    package = sys.modules.get(name.rpartition(".")[0])
    path = getattr(package, "__path__", None)
    if name in sys.modules:
        return True
    return path is not None and importlib.machinery.PathFinder.find_spec(name, path) is not None


class _InstallOnArrival:
    """Is pickled with what a new process receives first, and calls :func:`install` there when it is unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return install, ()


def install() -> None:
    """Let ``import torch`` give reftorch from now on, also in processes that ``multiprocessing`` starts.

    Raises:
        RuntimeError: PyTorch has been imported already.

    Example:
        >>> import subprocess, sys
        >>> code = "from reftorch._as_torch import install; install(); import torch; print(torch.__name__)"
        >>> subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        'torch\\n'
    """
    if any(isinstance(finder, _AliasFinder) for finder in sys.meta_path):
        return
    if _PUBLIC in sys.modules:
        raise RuntimeError("reftorch cannot stand for torch: this process has imported PyTorch already")
    sys.meta_path.insert(0, _AliasFinder())
    reftorch: Any = importlib.import_module(_OURS)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == _OURS and name != __name__:  # a new process finds this module before the others
            _places.say_torch(module)
    reftorch.torch = reftorch  # PyTorch's __init__.py imports torch, and so programs can say torch.torch
    reftorch.__version__ = TorchVersion(f"{_API_VERSION}+{_OURS}{reftorch.version.__version__}")

    # A process that is started by spawn or forkserver imports the main module anew, and needs the finder before that.
    # It unpickles these data first, and ignores entries that it does not know.
    get_preparation_data = multiprocessing.spawn.get_preparation_data

    def with_our_finder(name: str) -> dict[str, Any]:
        data = {**get_preparation_data(name), "reftorch": _InstallOnArrival()}
        # The server would import the main module, which imports torch, and the server cannot be given the finder. Its
        # children get the finder first, and then import the main module themselves.
        if name == _NAME_OF_FORKSERVER:
            data.pop("init_main_from_path", None)
        return data

    multiprocessing.spawn.get_preparation_data = with_our_finder
