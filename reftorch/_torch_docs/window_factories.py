"""The docs of window functions: weights for the samples of a signal.

Mirrors: torch/_torch_docs.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "bartlett_window",
    """
Return a triangle: weights that rise linearly from 0 to 1 and fall to 0 again, :math:`1 - |2n / (N - 1) - 1|`.

Args:
    window_length: the number of weights.
    periodic: compute a window with one more weight and drop the last, so that the window can be repeated. If False, the
        window is symmetric.

Shape: (window_length,).

Raises:
    RuntimeError: the length is negative; the dtype is not a floating-point dtype.

Example:
    >>> torch.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    >>> torch.bartlett_window(5, periodic=False)
    tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
""",
)

add_docstr(
    "hann_window",
    r"""
Return one period of a raised cosine, :math:`\frac{1}{2} (1 - \cos(2 \pi n / (N - 1)))`.

Args:
    window_length: the number of weights.
    periodic: compute a window with one more weight and drop the last, so that the window can be repeated. If False, the
        window is symmetric.

Shape: (window_length,).

Raises:
    RuntimeError: the length is negative; the dtype is not a floating-point dtype.

Example:
    >>> torch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
""",
)

add_docstr(
    "hamming_window",
    r"""
Return a raised cosine that does not begin at 0, :math:`\alpha - \beta \cos(2 \pi n / (N - 1))`.

Args:
    window_length: the number of weights.
    periodic: compute a window with one more weight and drop the last, so that the window can be repeated. If False, the
        window is symmetric.
    alpha: the number from which the cosine is subtracted.
    beta: the factor of the cosine.

Shape: (window_length,).

Raises:
    RuntimeError: the length is negative; the dtype is not a floating-point dtype.

Example:
    >>> torch.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
""",
)

add_docstr(
    "blackman_window",
    r"""
Return a sum of two cosines, :math:`0.42 - 0.5 \cos(2 \pi n / (N - 1)) + 0.08 \cos(4 \pi n / (N - 1))`.

Args:
    window_length: the number of weights.
    periodic: compute a window with one more weight and drop the last, so that the window can be repeated. If False, the
        window is symmetric.

Shape: (window_length,).

Raises:
    RuntimeError: the length is negative; the dtype is not a floating-point dtype.

Example:
    >>> torch.blackman_window(4).clamp(min=0)
    tensor([0.0000, 0.3400, 1.0000, 0.3400])
""",
)

add_docstr(
    "kaiser_window",
    r"""
Return a ratio of Bessel functions, :math:`I_0(\beta \sqrt{1 - (2n / (N - 1) - 1)^2}) / I_0(\beta)`.

Args:
    window_length: the number of weights.
    periodic: compute a window with one more weight and drop the last, so that the window can be repeated. If False, the
        window is symmetric.
    beta: the narrowness of the window: 0 gives a window of ones.

Shape: (window_length,).

Raises:
    RuntimeError: the length is negative; the dtype is not a floating-point dtype.

Example:
    >>> torch.kaiser_window(3, periodic=False, beta=0.0)
    tensor([1., 1., 1.])
""",
)
