"""``grad`` and ``grad_and_value`` of functions that return a single number, and ``vmap`` in chunks.

Mirrors: torch/_functorch/apis.py

``vmap`` itself is in vmap.py.
"""

from __future__ import annotations

import functools
from typing import Any

from reftorch import _C
from reftorch._functorch.eager_transforms import Argnums, Function, _vjp, _with_aux
from reftorch._functorch.vmap import batch_size, vmap

__all__ = ["chunk_vmap", "grad", "grad_and_value", "vmap"]

_fn = _C._VariableFunctions
_WHERE = "grad_and_value(f)(*args)"


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    r"""Return a function that returns the gradient of ``func`` by its argument ``argnums``, and the value of ``func``.

    Args:
        func: returns a tensor of one element.
        argnums: the position of the argument by which to differentiate, or a tuple of positions.
        has_aux: ``func`` returns a pair, whose second half is returned along with the value.

    Returns:
        A function with the arguments of ``func`` that returns ``(gradient, value)``, or ``(gradient, (value, aux))``.

    Raises:
        RuntimeError: (when called) the output is not a single number, or there is no such argument.

    Example:
        >>> torch.func.grad_and_value(lambda x: (x * x).sum())(torch.tensor([1.0, 2.0]))
        (tensor([2., 4.]), tensor(5.))

    Mirrors torch/_functorch/apis.py, ``grad_and_value``.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        results, vjp_fn, aux = _vjp(_scalar_output(func, has_aux), args, kwargs, argnums, has_aux, _WHERE)
        gradient = vjp_fn(_fn.ones_like(results), retain_graph=_C.is_grad_enabled())
        return gradient, ((results, aux) if has_aux else results)

    return wrapper


def _scalar_output(func: Function, has_aux: bool) -> Function:
    def checked(*args: Any, **kwargs: Any) -> Any:
        outputs = func(*args, **kwargs)
        output = _with_aux(outputs, _WHERE)[0] if has_aux else outputs
        if not isinstance(output, _C.TensorBase):
            raise RuntimeError(f"{_WHERE}: Expected f(*args) to return a Tensor, got {type(output)}")
        if output.dim() != 0:
            raise RuntimeError(
                f"{_WHERE}: Expected f(*args) to return a scalar Tensor, got tensor with {output.dim()} dims. Maybe "
                "you wanted to use the vjp or jacrev APIs instead?"
            )
        return outputs

    return checked


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    r"""Return the function :math:`\partial f / \partial x` of a ``func`` that returns a single number.

    Args:
        func: returns a tensor of one element.
        argnums: the position of the argument by which to differentiate, or a tuple of positions.
        has_aux: ``func`` returns a pair, whose second half is returned along with the gradient.

    Returns:
        A function with the arguments of ``func``. It returns a gradient with the structure of the argument, or a tuple
        of gradients for a tuple of ``argnums``; with ``has_aux``, a pair of that and the second half.

    Raises:
        RuntimeError: (when called) the output is not a single number, or there is no such argument.

    Example:
        >>> cube = lambda x: x**3
        >>> torch.func.grad(torch.func.grad(cube))(torch.tensor(2.0))
        tensor(12.)
        >>> torch.vmap(torch.func.grad(cube))(torch.tensor([1.0, 2.0]))
        tensor([ 3., 12.])

    Mirrors torch/_functorch/apis.py, ``grad``.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def chunk_vmap(
    func: Function, in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", chunks: int = 2
) -> Function:
    """Return ``vmap(func)``, computed for ``chunks`` parts of the batch in turn, which needs less memory.

    Args:
        func, in_dims, out_dims, randomness: see :func:`vmap`.
        chunks: the number of parts; the last may be smaller than the others.

    Returns:
        A function with the arguments of ``func``, each with one dimension more.

    Raises:
        ValueError: see :func:`vmap`.

    Example:
        >>> from reftorch._functorch.apis import chunk_vmap
        >>> chunk_vmap(torch.square, chunks=2)(torch.arange(3.0))
        tensor([0., 1., 4.])

    Mirrors torch/_functorch/apis.py, ``chunk_vmap``.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        size = max(1, -(-batch_size(in_dims, args, func) // chunks))
        return vmap(func, in_dims, out_dims, randomness, chunk_size=size)(*args, **kwargs)

    return wrapper
