"""How files are written and read where no argument of ``save`` and ``load`` says so, and small helpers of this package.

Mirrors: torch/serialization.py (skip_data, LoadEndianness, set_crc32_options, set_default_mmap_options, ...)
Leaves out: fake tensors.
"""

from __future__ import annotations

import contextlib
import mmap
from collections.abc import Iterator
from enum import Enum
from typing import Any

from reftorch._thread_local import ThreadLocal
from reftorch._warnings import warn
from reftorch.utils.serialization import config

__all__ = [
    "LoadEndianness",
    "SourceChangeWarning",
    "check_module_version_greater_or_equal",
    "get_crc32_options",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "mkdtemp",
    "set_crc32_options",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]


class SourceChangeWarning(Warning):
    """A file of the old format contains a module whose class had another source when the file was written."""


class LoadEndianness(Enum):
    """The byte order of a file that does not record one.

    Mirrors torch/serialization.py, ``LoadEndianness``.
    """

    NATIVE = 1
    LITTLE = 2
    BIG = 3


def get_default_load_endianness() -> LoadEndianness | None:
    """Return the byte order of files that do not record one; None means little.

    Mirrors torch/serialization.py, ``get_default_load_endianness``.
    """
    return config.load.endianness


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Set the byte order of files that do not record one.

    Args:
        endianness: a :class:`LoadEndianness`, or None for little.

    Raises:
        TypeError: ``endianness`` is something else.

    Example:
        >>> from reftorch.serialization import LoadEndianness, get_default_load_endianness, set_default_load_endianness
        >>> set_default_load_endianness(LoadEndianness.BIG)
        >>> get_default_load_endianness()
        <LoadEndianness.BIG: 3>
        >>> set_default_load_endianness(None)

    Mirrors torch/serialization.py, ``set_default_load_endianness``.
    """
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise TypeError(
            "Invalid argument type in function set_default_load_endianness: expected a LoadEndianness or None, got "
            f"{type(endianness).__name__}"
        )
    config.load.endianness = endianness


def get_crc32_options() -> bool:
    """Return whether :func:`reftorch.save` writes a checksum for each record. The default is True.

    Mirrors torch/serialization.py, ``get_crc32_options``.
    """
    return config.save.compute_crc32


def set_crc32_options(compute_crc32: bool) -> None:
    """Choose whether :func:`reftorch.save` writes a checksum for each record.

    :func:`reftorch.load` does not notice damage in a file without checksums, and ``unzip`` complains about such a file.

    Args:
        compute_crc32: whether checksums are written.

    Example:
        >>> from reftorch.serialization import get_crc32_options, set_crc32_options
        >>> set_crc32_options(False)
        >>> get_crc32_options()
        False
        >>> set_crc32_options(True)

    Mirrors torch/serialization.py, ``set_crc32_options``.
    """
    config.save.compute_crc32 = compute_crc32


def get_default_mmap_options() -> int | None:
    """Return the flags with which ``load(mmap=True)`` maps a file. The default is ``mmap.MAP_PRIVATE``.

    Mirrors torch/serialization.py, ``get_default_mmap_options``.
    """
    return config.load.mmap_flags


class set_default_mmap_options:
    """Set the flags with which ``load(mmap=True)`` maps a file; as a context, until its end.

    With ``mmap.MAP_PRIVATE``, writing to a loaded tensor changes memory of the process only. With ``mmap.MAP_SHARED``,
    it changes the file.

    Args:
        flags: ``mmap.MAP_PRIVATE`` or ``mmap.MAP_SHARED``.

    Raises:
        ValueError: ``flags`` is something else.

    Example:
        >>> import mmap
        >>> from reftorch.serialization import get_default_mmap_options, set_default_mmap_options
        >>> with set_default_mmap_options(mmap.MAP_SHARED):
        ...     get_default_mmap_options() == mmap.MAP_SHARED
        True

    Mirrors torch/serialization.py, ``set_default_mmap_options``.
    """

    def __init__(self, flags: int) -> None:
        if flags not in (mmap.MAP_PRIVATE, mmap.MAP_SHARED):
            raise ValueError(
                "Invalid argument in function set_default_mmap_options, expected mmap.MAP_PRIVATE or mmap.MAP_SHARED, "
                f"but got {flags}"
            )
        self.before = config.load.mmap_flags
        config.load.mmap_flags = flags

    def __enter__(self) -> None:
        pass

    def __exit__(self, *args: Any) -> None:
        config.load.mmap_flags = self.before


class _SerializationLocal(ThreadLocal):
    skip_data = False


_serialization_tls = _SerializationLocal()


class skip_data:
    """A context in which :func:`reftorch.save` and :func:`reftorch.load` do not copy the bytes of storages.

    ``save`` leaves room for the bytes, which another program can fill in later. ``load`` returns tensors with undefined
    contents.

    Args:
        materialize_fake_tensors: has no effect, because there are no fake tensors here; PyTorch has this argument.

    Example:
        >>> import io
        >>> file = io.BytesIO()
        >>> with torch.serialization.skip_data():
        ...     torch.save(torch.ones(2), file)
        >>> torch.load(io.BytesIO(file.getvalue()))
        tensor([0., 0.])

    Mirrors torch/serialization.py, ``skip_data``.
    """

    def __init__(self, materialize_fake_tensors: bool = False):
        self.materialize_fake_tensors = materialize_fake_tensors

    def __enter__(self) -> None:
        self.before = _serialization_tls.skip_data
        _serialization_tls.skip_data = True

    def __exit__(self, *args: Any) -> None:
        _serialization_tls.skip_data = self.before


@contextlib.contextmanager
def mkdtemp() -> Iterator[str]:
    """A context with a new folder, which is removed at its end.

    Example:
        >>> import os
        >>> from reftorch.serialization import mkdtemp
        >>> with mkdtemp() as path:
        ...     os.listdir(path)
        []

    Mirrors torch/serialization.py, ``mkdtemp``.
    """
    import shutil  # here, because `import reftorch` would pay for both
    import tempfile

    path = tempfile.mkdtemp()
    try:
        yield path
    finally:
        shutil.rmtree(path)


def check_module_version_greater_or_equal(
    module: Any, req_version_tuple: tuple[Any, ...], error_if_malformed: bool = True
) -> bool:
    """Return whether the version of a module is at least ``req_version_tuple``.

    Args:
        module: a module with ``__version__``, such as ``"1.2.3"``.
        req_version_tuple: the numbers of the version, from the first on.
        error_if_malformed: whether a version that cannot be compared is an error. If not, there is a warning, and the
            result is True.

    Raises:
        RuntimeError: the version cannot be compared.

    Example:
        >>> import types
        >>> module = types.SimpleNamespace(__name__="m", __version__="1.10.2")
        >>> from reftorch.serialization import check_module_version_greater_or_equal
        >>> check_module_version_greater_or_equal(module, (1, 9))
        True

    Mirrors torch/serialization.py, ``check_module_version_greater_or_equal``.
    """
    parts = module.__version__.split(".")
    try:
        return tuple(type(wanted)(parts[i]) for i, wanted in enumerate(req_version_tuple)) >= req_version_tuple
    except (IndexError, TypeError, ValueError) as error:
        message = (
            f"'{module.__name__}' module version string is malformed '{module.__version__}' and cannot be compared "
            f"with tuple {req_version_tuple}"
        )
        if error_if_malformed:
            raise RuntimeError(message) from error
        warn(message + ", but continuing assuming that requirement is met")
        return True


def check_dill_version(pickle_module: Any) -> None:
    """Raise a ValueError if ``pickle_module`` is a version of dill that is too old."""
    if getattr(pickle_module, "__name__", "") == "dill" and not check_module_version_greater_or_equal(
        pickle_module, (0, 3, 1), False
    ):
        raise ValueError(
            f"'torch' supports dill >= 0.3.1, but you have dill {pickle_module.__version__}. Please upgrade dill or "
            "switch to 'pickle'"
        )
