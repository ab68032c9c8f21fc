"""Models of other people: from a folder on this machine. A download is refused.

Mirrors: torch/hub.py
Leaves out: the downloads of repositories and of weights.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from types import ModuleType
from typing import Any, NoReturn
from urllib.parse import urlparse

from reftorch.serialization import load as _load_file

__all__ = ["download_url_to_file", "get_dir", "help", "list", "load", "load_state_dict_from_url", "set_dir"]

# The beginning of a hash in the name of a file of weights, "resnet18-bf5a8c27.pth"; libraries import it.
HASH_REGEX = re.compile(r"-([a-f0-9]*)\.")
_hub_dir: str | None = None


def get_dir() -> str:
    """Return the folder of downloaded weights: that of :func:`set_dir`, or ``$TORCH_HOME/hub``.

    Mirrors torch/hub.py, ``get_dir``.
    """
    return _hub_dir if _hub_dir is not None else os.path.join(_get_torch_home(), "hub")


def set_dir(d: str | os.PathLike[str]) -> None:
    """Set the folder of downloaded weights.

    Mirrors torch/hub.py, ``set_dir``.
    """
    global _hub_dir
    _hub_dir = os.path.expanduser(d)


def _get_torch_home() -> str:
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    return os.path.expanduser(os.environ.get("TORCH_HOME", os.path.join(cache, "torch")))


def _refuse(function: str, what: str, hint: str) -> NoReturn:
    raise RuntimeError(f"torch.hub.{function}: a download of {what} is refused here. Hint: {hint}")


def _hubconf(function: str, repo_or_dir: str | os.PathLike[str], source: str) -> ModuleType:
    """Import ``hubconf.py`` of a local folder; its own modules are found while it is imported."""
    if source != "local":
        _refuse(function, str(repo_or_dir), f"get the repository yourself, and call {function}(folder, source='local')")
    folder = os.path.abspath(os.path.expanduser(repo_or_dir))
    path = os.path.join(folder, "hubconf.py")
    spec = importlib.util.spec_from_file_location("hubconf", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    missing = [name for name in getattr(module, "dependencies", []) if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(module: ModuleType, model: str) -> Any:
    found = getattr(module, model, None)
    if not callable(found):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    return found


def load(
    repo_or_dir: str | os.PathLike[str],
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: Any = None,
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Call the function ``model`` of ``hubconf.py`` in a folder, and return the result.

    Args:
        repo_or_dir: the folder.
        model: the name of the function.
        args, kwargs: its arguments.
        source: must be ``"local"``.
        trust_repo, force_reload, verbose, skip_validation: about downloads.

    Raises:
        RuntimeError: ``source`` is ``"github"``, the function does not exist, or a package is missing.

    Mirrors torch/hub.py, ``load``.
    """
    return _entry(_hubconf("load", repo_or_dir, source), model)(*args, **kwargs)


def list(repo_or_dir: str | os.PathLike[str], *args: Any, source: str = "local", **kwargs: Any) -> Any:
    """Return the names of the functions in ``hubconf.py`` of a folder.

    Mirrors torch/hub.py, ``list``.
    """
    module = _hubconf("list", repo_or_dir, source)
    return [name for name, value in vars(module).items() if callable(value) and not name.startswith("_")]


def help(repo_or_dir: str | os.PathLike[str], model: str, *args: Any, source: str = "local", **kwargs: Any) -> Any:
    """Return the docstring of a function in ``hubconf.py`` of a folder.

    Mirrors torch/hub.py, ``help``.
    """
    return _entry(_hubconf("help", repo_or_dir, source), model).__doc__


def download_url_to_file(url: str, dst: str, hash_prefix: str | None = None, progress: bool = True) -> NoReturn:
    """Raise an error: nothing is downloaded here.

    Raises:
        RuntimeError: always.

    Mirrors torch/hub.py, ``download_url_to_file``.
    """
    _refuse("download_url_to_file", url, f"download the file yourself, to {dst}")


def load_state_dict_from_url(
    url: str,
    model_dir: str | None = None,
    map_location: Any = None,
    progress: bool = True,
    check_hash: bool = False,
    file_name: str | None = None,
    weights_only: bool = False,
) -> Any:
    """Load the file of ``url`` that is in ``model_dir`` already, or in ``checkpoints`` of ``get_dir()``.

    Raises:
        RuntimeError: the file is not there.

    Mirrors torch/hub.py, ``load_state_dict_from_url``.
    """
    folder = model_dir if model_dir is not None else os.path.join(get_dir(), "checkpoints")
    path = os.path.join(folder, file_name if file_name is not None else os.path.basename(urlparse(url).path))
    if not os.path.exists(path):
        _refuse("load_state_dict_from_url", url, f"download the file yourself, to {path}")
    return _load_file(path, map_location=map_location, weights_only=weights_only)
