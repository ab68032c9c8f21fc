"""Frequencies and their order. The transforms exist by their names only, because complex dtypes do not exist here.

Mirrors: torch/fft/__init__.py
Leaves out: the transforms; each raises an error that says so.

Example:
    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import reftorch
from reftorch import _api, _places
from reftorch._tensor import Tensor

_TRANSFORMS = ("fft", "fft2", "fftn", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ihfft", "ihfft2", "ihfftn",
               "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftn")  # fmt: skip

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq", *_TRANSFORMS]


def fftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, **options: Any) -> Tensor:
    """Return the frequencies of the results of a transform of ``n`` samples: those from 0, then the negative ones.

    Args:
        n: the number of samples.
        d: the distance of two samples.
        out: the tensor to write to.
        options: dtype, layout, device and requires_grad of the result.

    Returns:
        A tensor of the shape [n].

    Mirrors torch/fft/__init__.py, ``fftfreq``.
    """
    positions = reftorch.arange(n, **{**options, "dtype": _dtype(out, options), "requires_grad": False})
    positions[(n + 1) // 2 :] -= n
    return _finished(positions.mul_(1.0 / (n * d)), out, options)


def rfftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, **options: Any) -> Tensor:
    """Return the frequencies of the results of a transform of ``n`` real samples, which has no negative ones.

    Args:
        n, d, out, options: see :func:`fftfreq`.

    Returns:
        A tensor of the shape [n // 2 + 1].

    Mirrors torch/fft/__init__.py, ``rfftfreq``.
    """
    positions = reftorch.arange(n // 2 + 1, **{**options, "dtype": _dtype(out, options), "requires_grad": False})
    return _finished(positions.mul_(1.0 / (n * d)), out, options)


def _dtype(out: Tensor | None, options: dict[str, Any]) -> Any:
    return out.dtype if out is not None else options.get("dtype") or reftorch.get_default_dtype()


def _finished(values: Tensor, out: Tensor | None, options: dict[str, Any]) -> Tensor:
    if out is not None:
        return out.resize_(values.shape).copy_(values)
    return values.requires_grad_(options.get("requires_grad", False))


def fftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return the input with the frequency 0 moved to the middle of each dimension of ``dim``, by default of all.

    Example:
        >>> torch.fft.fftshift(torch.fft.fftfreq(4))
        tensor([-0.5000, -0.2500,  0.0000,  0.2500])

    Mirrors torch/fft/__init__.py, ``fftshift``.
    """
    dims = _dims(input, dim)
    return reftorch.roll(input, [input.size(each) // 2 for each in dims], dims)


def ifftshift(input: Tensor, dim: int | Sequence[int] | None = None) -> Tensor:
    """Return the input with the frequency 0 moved from the middle to the front: the inverse of :func:`fftshift`.

    Mirrors torch/fft/__init__.py, ``ifftshift``.
    """
    dims = _dims(input, dim)
    return reftorch.roll(input, [(input.size(each) + 1) // 2 for each in dims], dims)


def _dims(input: Tensor, dim: int | Sequence[int] | None) -> list[int]:
    if dim is None:
        return list(range(input.dim()))
    return [dim] if isinstance(dim, int) else list(dim)


def _named_only(name: str) -> Callable[..., NoReturn]:
    def transform(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            f"torch.fft.{name} is only a name here: its results, or its inputs, are complex numbers, for which no "
            "dtype exists. Hint: numpy.fft takes tensor.numpy()"
        )

    transform.__name__ = transform.__qualname__ = name
    transform.__doc__ = (
        f"Raise an error.\n\nRaises:\n    NotImplementedError: always.\n\nMirrors torch/fft/__init__.py, ``{name}``.\n"
    )
    return transform


for _name in _TRANSFORMS:
    globals()[_name] = _named_only(_name)
_places.adopt(__name__, __all__, globals())
__getattr__ = _api.getattr_of(__name__)
