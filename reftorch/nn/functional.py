"""The layers as functions: no state, everything comes in as an argument.

Mirrors: torch/nn/functional.py
Leaves out: convolution, pooling, and what the families below leave out.

The arithmetic is in the C++ ops (``_C._nn`` holds those that only networks use); a function here checks its arguments,
fills in defaults and says in its docstring what is computed. Families that are formulas of other ops lie in files of
their own, ``_functional_activation`` to ``_functional_sparse``.

A function may be overridden where it says ``@overridable``. The shortest, such as ``relu``, of whose time that wrapper
would be a third, ask for themselves.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _VF
from reftorch._tensor import Tensor
from reftorch._torch_function import handle_torch_function, has_torch_function_unary, overridable
from reftorch._utils import typename
from reftorch._warnings import warn
from reftorch.nn import (
    _functional_activation,
    _functional_attention,
    _functional_distance,
    _functional_dropout,
    _functional_gates,
    _functional_group_norm,
    _functional_loss,
    _functional_margin_loss,
    _functional_normalization,
    _functional_padding,
    _functional_pair_loss,
    _functional_sparse,
    _reduction,
)
from reftorch.nn._functional_activation import *  # noqa: F403
from reftorch.nn._functional_attention import *  # noqa: F403
from reftorch.nn._functional_distance import *  # noqa: F403
from reftorch.nn._functional_dropout import *  # noqa: F403
from reftorch.nn._functional_gates import *  # noqa: F403
from reftorch.nn._functional_group_norm import *  # noqa: F403
from reftorch.nn._functional_loss import *  # noqa: F403
from reftorch.nn._functional_loss import _check_weight, _legacy, _reduced, _warn_of_broadcast
from reftorch.nn._functional_margin_loss import *  # noqa: F403
from reftorch.nn._functional_normalization import *  # noqa: F403
from reftorch.nn._functional_padding import *  # noqa: F403
from reftorch.nn._functional_pair_loss import *  # noqa: F403
from reftorch.nn._functional_sparse import *  # noqa: F403

__all__ = [
    "bilinear",
    "channel_shuffle",
    "cross_entropy",
    "linear",
    "log_softmax",
    "mse_loss",
    "nll_loss",
    "one_hot",
    "pixel_shuffle",
    "pixel_unshuffle",
    "relu",
    "relu_",
    "sigmoid",
    "softmax",
    "softmin",
    "tanh",
    *_functional_activation.__all__,
    *_functional_attention.__all__,
    *_functional_distance.__all__,
    *_functional_dropout.__all__,
    *_functional_gates.__all__,
    *_functional_group_norm.__all__,
    *_functional_loss.__all__,
    *_functional_margin_loss.__all__,
    *_functional_normalization.__all__,
    *_functional_padding.__all__,
    *_functional_pair_loss.__all__,
    *_functional_sparse.__all__,
]

# The same functions as in torch: their words are those of torch.bilinear and so on.
bilinear, channel_shuffle = _VF.bilinear, _VF.channel_shuffle
pixel_shuffle, pixel_unshuffle = _VF.pixel_shuffle, _VF.pixel_unshuffle


def relu(input: Tensor, inplace: bool = False) -> Tensor:
    r"""Set negative elements to zero: :math:`\max(0, x)`.

    Args:
        input: tensor of any shape.
        inplace: whether to overwrite ``input``.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0., 0., 2.])

    Mirrors torch/nn/functional.py, ``relu``.
    """
    if has_torch_function_unary(input):
        return handle_torch_function(relu, (input,), input, inplace=inplace)
    return input.relu_() if inplace else input.relu()


def relu_(input: Tensor) -> Tensor:
    """Set negative elements to zero, in place; see :func:`relu`."""
    return input.relu_()


def tanh(input: Tensor) -> Tensor:
    r"""Hyperbolic tangent of every element: :math:`(e^x - e^{-x}) / (e^x + e^{-x})`.

    Args:
        input: tensor of any shape.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.tanh(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])

    Mirrors torch/nn/functional.py, ``tanh``.
    """
    if has_torch_function_unary(input):
        return handle_torch_function(tanh, (input,), input)
    return input.tanh()


def sigmoid(input: Tensor) -> Tensor:
    r"""Logistic function of every element: :math:`1 / (1 + e^{-x})`.

    Args:
        input: tensor of any shape.

    Returns:
        A tensor of the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.sigmoid(torch.tensor([0.0, 1.0]))
        tensor([0.5000, 0.7311])

    Mirrors torch/nn/functional.py, ``sigmoid``.
    """
    if has_torch_function_unary(input):
        return handle_torch_function(sigmoid, (input,), input)
    return input.sigmoid()


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    r"""Linear map :math:`y = x A^T + b`.

    Args:
        input: :math:`(*, in)`, any number of leading dimensions.
        weight: :math:`(out, in)`, or :math:`(in)`.
        bias: :math:`(out)`, or :math:`()`.

    Returns:
        :math:`(*, out)`, or :math:`(*)`.

    Raises:
        RuntimeError: the inner sizes differ.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.linear(torch.ones(1, 2), torch.tensor([[1.0, 2.0]]), torch.tensor([0.5]))
        tensor([[3.5000]])

    Mirrors torch/nn/functional.py, ``linear``.
    """
    return _C._nn.linear(input, weight, bias)


def one_hot(input: Tensor, num_classes: int = -1) -> Tensor:
    """Make of each class number a row of zeros with a one at that place.

    Args:
        input: :math:`(*)`, int64, not negative.
        num_classes: the rows' length; by default the largest class and one more.

    Returns:
        :math:`(*, num_classes)`, int64.

    Raises:
        RuntimeError: a class is negative, or not smaller than ``num_classes``.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.one_hot(torch.tensor([0, 2]))
        tensor([[1, 0, 0],
                [0, 0, 1]])

    Mirrors torch/nn/functional.py, ``one_hot``.
    """
    return _C._nn.one_hot(input, num_classes)


def _get_softmax_dim(name: str, ndim: int) -> int:
    warn(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if ndim in (0, 1, 3) else 1


def softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    r"""Exponentials that sum to one along a dimension: :math:`e^{x_i} / \sum_j e^{x_j}`.

    Args:
        input: tensor of any shape.
        dim: the dimension to sum along; leaving it out is deprecated.
        dtype: dtype to convert ``input`` to first.

    Returns:
        A tensor of the same shape.

    Raises:
        IndexError: ``dim`` is out of range.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.softmax(torch.tensor([[0.0, 0.0], [1.0, 2.0]]), dim=1)
        tensor([[0.5000, 0.5000],
                [0.2689, 0.7311]])

    Mirrors torch/nn/functional.py, ``softmax``.
    """
    if has_torch_function_unary(input):
        return handle_torch_function(softmax, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("softmax", input.dim())
    return input.softmax(dim, dtype=dtype)


def log_softmax(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    r"""Logarithm of :func:`softmax`, without leaving the range of floats: :math:`x_i - \log \sum_j e^{x_j}`.

    Args:
        input: tensor of any shape.
        dim: the dimension to sum along; leaving it out is deprecated.
        dtype: dtype to convert ``input`` to first.

    Returns:
        A tensor of the same shape.

    Raises:
        IndexError: ``dim`` is out of range.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.log_softmax(torch.tensor([1000.0, 1000.0]), dim=0)
        tensor([-0.6931, -0.6931])

    Mirrors torch/nn/functional.py, ``log_softmax``.
    """
    if has_torch_function_unary(input):
        return handle_torch_function(log_softmax, (input,), input, dim=dim, _stacklevel=_stacklevel, dtype=dtype)
    if dim is None:
        dim = _get_softmax_dim("log_softmax", input.dim())
    return input.log_softmax(dim, dtype=dtype)


@overridable
def softmin(input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Tensor:
    r"""The :func:`softmax` of what is negated: :math:`e^{-x_i} / \sum_j e^{-x_j}`.

    Args:
        input: tensor of any shape.
        dim: the dimension to sum along; leaving it out is deprecated.
        dtype: dtype to convert ``input`` to first.

    Returns:
        A tensor of the same shape.

    Raises:
        IndexError: ``dim`` is out of range.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.softmin(torch.tensor([1.0, 2.0]), dim=0)
        tensor([0.7311, 0.2689])

    Mirrors torch/nn/functional.py, ``softmin``.
    """
    if dim is None:
        dim = _get_softmax_dim("softmin", input.dim())
    return (-input).softmax(dim, dtype=dtype)


@overridable
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    r"""Negative log likelihood :math:`\ell_n = -w_{y_n} x_{n, y_n}`.

    The mean is :math:`\sum_n \ell_n / \sum_n w_{y_n}`.

    Args:
        input: log-probabilities, :math:`(C)`, :math:`(N, C)` or :math:`(N, C, d_1, ...)`.
        target: classes from 0 to C - 1, int64, :math:`()`, :math:`(N)` or :math:`(N, d_1, ...)`.
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        ignore_index: a target that counts neither in the sum nor in the weights.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.

    Returns:
        A 0-dim tensor; where not reduced, one of the shape of ``target``.

    Raises:
        IndexError: a target is outside 0 to C - 1.
        RuntimeError, ValueError: shapes or dtypes do not fit.

    Example:
        >>> import reftorch as torch
        >>> log_probabilities = torch.tensor([[-0.5, -1.0], [-2.0, -0.1]])
        >>> torch.nn.functional.nll_loss(log_probabilities, torch.tensor([0, 0]))
        tensor(1.2500)

    Mirrors torch/nn/functional.py, ``nll_loss``.
    """
    reduction = _legacy(size_average, reduce, reduction)
    code = _reduction.get_enum(reduction)
    _check_batch_size(input, target)
    if input.dim() <= 2:
        return _C._nn.nll_loss(input, target, weight, code, ignore_index)
    loss = _C._nn.nll_loss(*_rows_of_classes(input, target), weight, code, ignore_index)
    return loss.reshape(target.shape) if reduction == "none" else loss


def _check_batch_size(input: Tensor, target: Tensor) -> None:
    if input.dim() < 1:
        raise ValueError(f"Expected 1 or more dimensions (got {input.dim()})")
    if input.dim() > 1 and target.shape[:1] != input.shape[:1]:
        sizes = [tensor.shape[0] if tensor.dim() > 0 else 1 for tensor in (input, target)]
        raise ValueError(f"Expected input batch_size ({sizes[0]}) to match target batch_size ({sizes[1]}).")


def _rows_of_classes(input: Tensor, target: Tensor) -> tuple[Tensor, Tensor]:
    """From scores (N, C, d1, ...) and classes (N, d1, ...) to (N * d1 * ..., C) and (N * d1 * ...)."""
    expected = (input.shape[0], *input.shape[2:])
    if tuple(target.shape) != expected:
        raise RuntimeError(f"Expected target size {list(expected)}, got {list(target.shape)}")
    n, n_classes = input.shape[:2]
    return input.reshape(n, n_classes, -1).transpose(1, 2).reshape(-1, n_classes), target.reshape(-1)


@overridable
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    r"""Cross entropy between scores and classes.

    With a class :math:`y_n` as target, the :func:`nll_loss` of :func:`log_softmax`:
    :math:`\ell_n = -w_{y_n} \log \big(e^{x_{n, y_n}} / \sum_c e^{x_{n, c}}\big)`.
    With probabilities :math:`p_{n, c}` as target, :math:`\ell_n = -\sum_c w_c\, p_{n, c} \log \mathrm{softmax}(x_n)_c`,
    and the mean divides by :math:`N`.

    Args:
        input: scores, not normalised, :math:`(C)`, :math:`(N, C)` or :math:`(N, C, d_1, ...)`.
        target: classes from 0 to C - 1, int64, :math:`()`, :math:`(N)` or :math:`(N, d_1, ...)`; or probabilities of
            the shape and kind of ``input``.
        weight: weight of each class, :math:`(C)`; None means ones.
        size_average, reduce: deprecated, see ``reduction``.
        ignore_index: a class that counts neither in the sum nor in the weights.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        label_smoothing: share of the target, 0.0 to 1.0, that is spread evenly over the classes.

    Returns:
        A 0-dim tensor; where not reduced, one of the shape of the classes.

    Raises:
        IndexError: a target is outside 0 to C - 1.
        RuntimeError, ValueError: shapes, dtypes or options do not fit.

    Example:
        >>> import reftorch as torch
        >>> scores = torch.tensor([[2.0, 0.0], [0.0, 0.0]])
        >>> torch.nn.functional.cross_entropy(scores, torch.tensor([0, 1]))
        tensor(0.4100)
        >>> torch.nn.functional.cross_entropy(scores, torch.tensor([[0.5, 0.5], [0.0, 1.0]]))
        tensor(0.9100)

    Mirrors torch/nn/functional.py, ``cross_entropy``.
    """
    reduction = _legacy(size_average, reduce, reduction)
    if target.shape == input.shape:
        if target.is_floating_point() and ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _cross_entropy_of_probabilities(input, target, weight, reduction, label_smoothing)
    code = _reduction.get_enum(reduction)
    _check_batch_size(input, target)
    if input.dim() <= 2:
        return _C._nn.cross_entropy_loss(input, target, weight, code, ignore_index, label_smoothing)
    rows, classes = _rows_of_classes(input, target)
    loss = _C._nn.cross_entropy_loss(rows, classes, weight, code, ignore_index, label_smoothing)
    return loss.reshape(target.shape) if reduction == "none" else loss


def _cross_entropy_of_probabilities(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, label_smoothing: float
) -> Tensor:
    if not target.is_floating_point():
        kind = typename(target).removeprefix("torch.").removesuffix("Tensor")
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {kind}")
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    class_dim = 0 if input.dim() == 1 else 1
    n_classes = input.shape[class_dim]
    if weight is not None and tuple(weight.shape) != (n_classes,):
        raise RuntimeError(
            "cross_entropy: weight tensor should be defined either for all classes or no classes, "
            f"expected a shape of {[n_classes]} but got {list(weight.shape)}"
        )
    if label_smoothing > 0.0:
        target = target * (1 - label_smoothing) + label_smoothing / n_classes
    loss = input.log_softmax(class_dim) * target
    if weight is not None:
        loss = loss * weight.view([-1 if dim == class_dim else 1 for dim in range(input.dim())])
    return _reduced(-loss.sum(class_dim), reduction)


@overridable
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    r"""Squared error :math:`\ell = w (x - y)^2` of every element; the mean is :math:`\sum \ell / \sum w`.

    Args:
        input: tensor of any shape.
        target: tensor of the same shape; one that only broadcasts to it is warned about.
        size_average, reduce: deprecated, see ``reduction``.
        reduction: ``"none"``, ``"mean"`` or ``"sum"``.
        weight: weight of each element, of the shape of ``input``; None means ones.

    Returns:
        A 0-dim tensor; where not reduced, one of the shape of ``input``.

    Raises:
        ValueError: ``reduction`` is none of the three, or ``weight`` has another shape.

    Example:
        >>> import reftorch as torch
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)

    Mirrors torch/nn/functional.py, ``mse_loss``.
    """
    _warn_of_broadcast(input, target)
    reduction = _legacy(size_average, reduce, reduction)
    if weight is None:
        return _C._nn.mse_loss(input, target, _reduction.get_enum(reduction))
    _check_weight(weight, input)
    return _reduced((input - target) ** 2, reduction, weight)
