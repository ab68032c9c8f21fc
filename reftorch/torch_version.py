"""The class of ``torch.__version__``: a string that compares as a version.

Programs ask ``torch.__version__ >= "1.9"`` or ``>= (1, 9)``. Among plain strings "1.13" would be less than "1.9".

Mirrors: torch/torch_version.py
Leaves out: epochs, and post releases, which PyTorch's versions do not have; PyTorch carries a copy of the package
packaging for the whole grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from reftorch.version import __version__ as internal_version

__all__ = ["TorchVersion"]

# 2.13.0, 1.10.0a0, 2.0rc1, 2.1.0.dev20230901, and a label of a build such as +cpu
_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(?:(a|b|rc)(\d+)?)?(?:\.?(dev)(\d+)?)?(?:\+([a-z0-9.]+))?\Z", re.I)


def _key(version: Any) -> tuple[Any, ...]:
    """Return a tuple that has the order of the versions. Raise ValueError if ``version`` is not one.

    The order of one release is: a development version, an alpha, a beta, a candidate, the release, a labelled build.
    """
    if not isinstance(version, str):
        if not isinstance(version, Iterable):
            raise ValueError(f"not a version: {version!r}")
        version = ".".join(map(str, version))
    match = _VERSION.match(version)
    if match is None:
        raise ValueError(f"not a version: {version!r}")
    numbers, stage, stage_number, dev, dev_number, label = match.groups()
    release = [int(n) for n in numbers.split(".")]
    while release and release[-1] == 0:
        release.pop()  # 2.13 and 2.13.0 are one version
    early = stage.lower() if stage else "" if dev else "release"
    segments = [(n.isdigit(), int(n) if n.isdigit() else 0, n) for n in (label or "").split(".") if n]
    return release, early, int(stage_number or 0), not dev, int(dev_number or 0), segments


class TorchVersion(str):
    """A version that is a string, and that compares with strings and tuples as a version.

    Example:
        >>> torch.torch_version.TorchVersion("2.13.0") > "2.4"
        True
        >>> torch.torch_version.TorchVersion("2.13.0+cpu") >= (2, 13)
        True

    Mirrors torch/torch_version.py, ``TorchVersion``.
    """

    __slots__ = ()

    def _compared(self, other: Any, method: str) -> bool:
        try:
            return getattr(_key(str(self)), method)(_key(other))
        except ValueError:
            return getattr(str(self), method)(other)  # other text compares as text

    def __eq__(self, other: object) -> bool:
        return self._compared(other, "__eq__")

    def __lt__(self, other: Any) -> bool:
        return self._compared(other, "__lt__")

    def __le__(self, other: Any) -> bool:
        return self._compared(other, "__le__")

    def __gt__(self, other: Any) -> bool:
        return self._compared(other, "__gt__")

    def __ge__(self, other: Any) -> bool:
        return self._compared(other, "__ge__")

    __hash__: Callable[[], int] = str.__hash__  # type: ignore[assignment]


__version__ = TorchVersion(internal_version)
