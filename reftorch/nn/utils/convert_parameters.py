"""All parameters as one vector, and back.

Mirrors: torch/nn/utils/convert_parameters.py
"""

from __future__ import annotations

from collections.abc import Iterable

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch._utils import typename

__all__ = ["parameters_to_vector", "vector_to_parameters"]


def _check_devices(parameters: list[Tensor]) -> None:
    if len({param.device for param in parameters}) > 1:
        raise TypeError("Found two parameters on different devices, this is currently not supported.")


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Concatenate the elements of all parameters.

    Args:
        parameters: contiguous tensors of any shapes.

    Returns:
        A tensor of one dimension, differentiable in the parameters.

    Raises:
        TypeError: the parameters are on several devices.

    Example:
        >>> torch.nn.utils.parameters_to_vector(torch.nn.Linear(2, 3).parameters()).shape
        torch.Size([9])

    Mirrors torch/nn/utils/convert_parameters.py, ``parameters_to_vector``.
    """
    parameters = list(parameters)
    _check_devices(parameters)
    return _VF.cat([param.view(-1) for param in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Make the parameters views of a vector's slices, so that they share its storage.

    Args:
        vec: tensor of one dimension, as :func:`parameters_to_vector` returns it.
        parameters: the parameters, in the same order.

    Raises:
        TypeError: ``vec`` is not a tensor, or the parameters are on several devices.

    Example:
        >>> layer = torch.nn.Linear(2, 1)
        >>> torch.nn.utils.vector_to_parameters(torch.arange(3.0), layer.parameters())
        >>> layer.weight, layer.bias
        (Parameter containing:
        tensor([[0., 1.]], requires_grad=True), Parameter containing:
        tensor([2.], requires_grad=True))

    Mirrors torch/nn/utils/convert_parameters.py, ``vector_to_parameters``.
    """
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {typename(vec)}")
    parameters = list(parameters)
    _check_devices(parameters)
    start = 0
    for param in parameters:
        stop = start + param.numel()
        param.data = vec[start:stop].view(param.shape).data
        start = stop
