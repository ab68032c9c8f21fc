"""The formulas of the windows.

Mirrors: torch/signal/windows/windows.py

All windows share these arguments:

- ``M``: the number of weights.
- ``sym``: whether the window is symmetric, as filters need it. A window that is not is one period of a periodic one, as
  spectra need it: the first ``M`` of ``M + 1`` symmetric weights.
- ``dtype``: float32 or float64, by default the default dtype.
- ``layout``: ``torch.strided``, as no other is implemented.
- ``device``, ``requires_grad``: those of the positions from which the weights are computed.

They return a tensor of the shape [M], and raise ValueError for a negative ``M``, another layout or another dtype.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _checked_dtype(function: str, M: int, dtype: _C.dtype | None, layout: _C.layout) -> _C.dtype:
    """Refuse arguments that no window takes; return the dtype of the weights."""
    dtype = _C.get_default_dtype() if dtype is None else dtype
    if M < 0:
        raise ValueError(f"{function} requires non-negative window length, got M={M}")
    if layout is not _C.strided:
        raise ValueError(f"{function} is implemented for strided tensors only, got: {layout}")
    if dtype not in (_C.float32, _C.float64):
        raise ValueError(f"{function} expects float32 or float64 dtypes, got: {dtype}")
    return dtype


def _positions(M: int, start: float, step: float, **options: Any) -> Tensor:
    """Return ``M`` positions with the same distance, the first of which is ``start * step``."""
    return _VF.linspace(start * step, (start + (M - 1)) * step, M, **options)


def _period(M: int, sym: bool) -> int:
    """Return the number of steps from one end of the window to the other."""
    return M - 1 if sym or M < 2 else M


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    r"""Return weights that fall exponentially from the center: :math:`w_n = e^{-|n - c| / \tau}`.

    Args:
        center: the position :math:`c` of the weight 1, by default the middle; for windows that are not symmetric.
        tau: the distance in which the weight falls to :math:`1 / e`.

    Raises:
        ValueError: ``tau`` is not positive, or a symmetric window has a ``center``.

    Example:
        >>> torch.signal.windows.exponential(3)
        tensor([0.3679, 1.0000, 0.3679])

    Mirrors torch/signal/windows/windows.py, ``exponential``.
    """
    dtype = _checked_dtype("exponential", M, dtype, layout)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if center is None:
        center = _period(M, sym) / 2.0
    return _VF.exp(-_positions(M, -center, 1 / tau, dtype=dtype, device=device, requires_grad=requires_grad).abs())


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    r"""Return half a wave of the sine: :math:`w_n = \sin(\pi (n + 1/2) / M)`.

    Example:
        >>> torch.signal.windows.cosine(3)
        tensor([0.5000, 1.0000, 0.5000])

    Mirrors torch/signal/windows/windows.py, ``cosine``.
    """
    dtype = _checked_dtype("cosine", M, dtype, layout)
    step = math.pi / (_period(M, sym) + 1 or 1)
    return _VF.sin(_positions(M, 0.5, step, dtype=dtype, device=device, requires_grad=requires_grad))


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    r"""Return the bell curve around the middle :math:`c`: :math:`w_n = e^{-((n - c) / \sigma)^2 / 2}`.

    Args:
        std: the standard deviation :math:`\sigma`, in steps.

    Raises:
        ValueError: ``std`` is not positive.

    Example:
        >>> torch.signal.windows.gaussian(3)
        tensor([0.6065, 1.0000, 0.6065])

    Mirrors torch/signal/windows/windows.py, ``gaussian``.
    """
    dtype = _checked_dtype("gaussian", M, dtype, layout)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    step = 1 / (std * math.sqrt(2))
    k = _positions(M, -_period(M, sym) / 2.0, step, dtype=dtype, device=device, requires_grad=requires_grad)
    return _VF.exp(-(k**2))


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    r"""Return :math:`w_n = I_0(\beta \sqrt{1 - x_n^2}) / I_0(\beta)` for :math:`x_n` from -1 to 1.

    :math:`I_0` is the modified Bessel function :func:`torch.special.i0`.

    Args:
        beta: how fast the weights fall; 0 gives ones.

    Raises:
        ValueError: ``beta`` is negative.

    Example:
        >>> torch.signal.windows.kaiser(3, beta=2.0)
        tensor([0.4387, 1.0000, 0.4387])

    Mirrors torch/signal/windows/windows.py, ``kaiser``.
    """
    dtype = _checked_dtype("kaiser", M, dtype, layout)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M < 2:
        return _VF.ones(M, dtype=dtype, device=device, requires_grad=requires_grad)
    width = _C.tensor(beta, dtype=dtype, device=device)  # PyTorch computes the ends with the precision of the weights
    step = 2.0 * width / _period(M, sym)
    end = _VF.minimum(width, -width + (M - 1) * step)  # not beyond the width: the root below would be NaN
    k = _VF.linspace(-width, end, M, dtype=dtype, device=device, requires_grad=requires_grad)
    return _VF.i0(_VF.sqrt(width * width - k**2)) / _VF.i0(width)


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return :func:`general_hamming` with ``alpha=0.54``, which makes the nearest ripple of the spectrum small.

    Example:
        >>> torch.signal.windows.hamming(3)
        tensor([0.0800, 1.0000, 0.0800])

    Mirrors torch/signal/windows/windows.py, ``hamming``.
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return :func:`general_hamming` with ``alpha=0.5``, whose ends are 0.

    Example:
        >>> torch.signal.windows.hann(4, sym=False)
        tensor([0.0000, 0.5000, 1.0000, 0.5000])

    Mirrors torch/signal/windows/windows.py, ``hann``.
    """
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return :func:`general_cosine` with the coefficients 0.42, 0.5 and 0.08.

    Example:
        >>> torch.signal.windows.blackman(4, sym=False)[1:]
        tensor([0.3400, 1.0000, 0.3400])

    Mirrors torch/signal/windows/windows.py, ``blackman``.
    """
    _checked_dtype("blackman", M, dtype, layout)
    return general_cosine(
        M, a=[0.42, 0.5, 0.08], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the triangle that rises from 0 to 1 in the middle, and falls to 0.

    Example:
        >>> torch.signal.windows.bartlett(5)
        tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])

    Mirrors torch/signal/windows/windows.py, ``bartlett``.
    """
    dtype = _checked_dtype("bartlett", M, dtype, layout)
    if M < 2:
        return _VF.ones(M, dtype=dtype, device=device, requires_grad=requires_grad)
    end = -1 + (M - 1) * (2 / _period(M, sym))
    return 1 - _VF.linspace(-1, end, M, dtype=dtype, device=device, requires_grad=requires_grad).abs()


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    r"""Return a sum of cosines: :math:`w_n = \sum_i (-1)^i a_i \cos(2 \pi i n / N)`, where N is the number of steps.

    Args:
        a: the coefficients :math:`a_i`.

    Raises:
        TypeError: ``a`` cannot be iterated over.
        ValueError: ``a`` is empty.

    Example:
        >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
        tensor([0., 1., 0.])

    Mirrors torch/signal/windows/windows.py, ``general_cosine``.
    """
    dtype = _checked_dtype("general_cosine", M, dtype, layout)
    options: dict[str, Any] = {"dtype": dtype, "device": device, "requires_grad": requires_grad}
    if M < 2:
        return _VF.ones(M, **options)
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    k = _positions(M, 0, 2 * math.pi / _period(M, sym), **options)
    weights = _C.tensor([(-1) ** i * weight for i, weight in enumerate(a)], **options)
    i = _VF.arange(len(weights), **options)
    return (weights.unsqueeze(-1) * _VF.cos(i.unsqueeze(-1) * k)).sum(0)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    r"""Return a cosine that is lifted: :math:`w_n = \alpha - (1 - \alpha) \cos(2 \pi n / N)`.

    Args:
        alpha: the mean of a period.

    Example:
        >>> torch.signal.windows.general_hamming(3, alpha=0.75)
        tensor([0.5000, 1.0000, 0.5000])

    Mirrors torch/signal/windows/windows.py, ``general_hamming``.
    """
    return general_cosine(
        M, a=[alpha, 1.0 - alpha], sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: _C.dtype | None = None,
    layout: _C.layout = _C.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return :func:`general_cosine` with the four coefficients of Nuttall, whose spectrum has no high ripples.

    Example:
        >>> torch.signal.windows.nuttall(4, sym=False)[1:]
        tensor([0.2270, 1.0000, 0.2270])

    Mirrors torch/signal/windows/windows.py, ``nuttall``.
    """
    coefficients = [0.3635819, 0.4891775, 0.1365995, 0.0106411]
    return general_cosine(
        M, a=coefficients, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )
