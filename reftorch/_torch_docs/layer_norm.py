"""The docs of normalization to mean 0 and variance 1.

Their public names are in ``torch.nn.functional``, whose docstrings give details.

Mirrors: torch/nn/functional.py
Leaves out: the pictures, and the notes on devices and complex numbers.
"""

from reftorch._torch_docs._entries import add_docstr

add_docstr(
    "layer_norm",
    r"""
Normalize the last dimensions to mean 0 and variance 1: :math:`w (x - \mu) / \sqrt{\sigma^2 + \epsilon} + b`. Its public
name is ``torch.nn.functional.layer_norm``.

Args:
    normalized_shape: the sizes of the normalized dimensions.
    weight: :math:`w`, of shape ``normalized_shape``; ones by default.
    bias: :math:`b`, of shape ``normalized_shape``; zeros by default.
    eps: :math:`\epsilon`.
    cudnn_enable: has no effect on the CPU.

Shape: the shape of ``input``.

Example:
    >>> torch.layer_norm(torch.tensor([[1.0, 2.0, 3.0]]), (3,))
    tensor([[-1.2247,  0.0000,  1.2247]])
""",
)

add_docstr(
    "native_layer_norm",
    r"""
Return the result of :func:`layer_norm`, the means :math:`\mu`, and :math:`1 / \sqrt{\sigma^2 + \epsilon}`.

Args:
    normalized_shape: the sizes of the last dimensions, which are normalized.
    weight: the factor of the normalized numbers, of shape ``normalized_shape``.
    bias: the number that is added, of shape ``normalized_shape``.
    eps: :math:`\epsilon`.

Shape: the shape of ``input``; and twice the shape of ``input`` with 1 in the last dimensions.

Example:
    >>> torch.native_layer_norm(torch.tensor([[1.0, 2.0, 3.0]]), (3,), None, None, 1e-5)[1]
    tensor([[2.]])
""",
)

add_docstr(
    "native_layer_norm_backward",
    """
Return the gradients of :func:`layer_norm` for ``input``, ``weight`` and ``bias``.

Args:
    normalized_shape: the argument of the forward call.
    mean: the second result of :func:`native_layer_norm`.
    rstd: the third result of :func:`native_layer_norm`.
    output_mask: three bools: which of the gradients to compute.

Shape: the shapes of ``input``, ``weight`` and ``bias``.

Example:
    >>> x, one = torch.tensor([[1.0, 3.0]]), torch.ones(1, 1)
    >>> torch._C._nn.native_layer_norm_backward(x, x, (2,), 2 * one, one, None, None, [True, False, False])[0]
    tensor([[0., 0.]])
""",
)

add_docstr(
    "rms_norm",
    r"""
Divide the last dimensions by their root mean square: the op of ``torch.nn.functional.rms_norm``.

Args:
    normalized_shape: the last dimensions, over which the mean is taken.
    weight: a factor for each element of ``normalized_shape``; None means ones.
    eps: the number that is added to the mean of the squares; None means the machine epsilon of the computing dtype.

Shape: the shape of ``input``.

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> torch.rms_norm(torch.tensor([[3.0, 4.0]]), (2,))
    tensor([[0.8485, 1.1314]])
""",
)

add_docstr(
    "_fused_rms_norm",
    r"""
Return the result of :func:`rms_norm`, and 1 / sqrt(mean of the squares + eps).

Args:
    normalized_shape: the last dimensions, over which the mean is taken.
    weight: a factor for each element of ``normalized_shape``, or None.
    eps: the number that is added to the mean of the squares; None means the machine epsilon of the computing dtype.

Shape: the shape of ``input``; the same with the normalized dimensions of size 1.

Raises:
    RuntimeError: the sizes do not fit.

Example:
    >>> torch._fused_rms_norm(torch.tensor([[3.0, 4.0]]), (2,), None, 0.0)[1]
    tensor([[0.2828]])
""",
)
