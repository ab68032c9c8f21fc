r"""Jacobians and Hessians: vjp of each row, or jvp of each column, of the identity matrix, under vmap.

Mirrors: torch/_functorch/eager_transforms.py (jacrev, jacfwd, hessian)
"""

from __future__ import annotations

import functools
import operator
from typing import Any

from reftorch import _C
from reftorch._functorch.eager_transforms import _JVP, Argnums, Function, _chosen, _jvp, _normalized, _vjp
from reftorch._functorch.vmap import vmap
from reftorch.autograd.functional.utils import construct_standard_basis_for
from reftorch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

__all__ = ["hessian", "jacfwd", "jacrev"]

_fn = _C._VariableFunctions


def jacrev(
    func: Function,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Function:
    r"""Return the function that computes the Jacobian of ``func`` row by row, in one batched backward pass.

    Args:
        func: returns tensors in any structure.
        argnums: the position of the argument by which to differentiate, or a tuple of positions.
        has_aux: ``func`` returns a pair, whose second half is returned without being differentiated.
        chunk_size: the number of rows in a pass; fewer rows need less memory, and 1 avoids vmap.
        _preallocate_and_copy: write the rows of each pass into one result, instead of concatenating them.

    Returns:
        A function with the arguments of ``func``. For an output of shape A and an argument of shape B it returns a
        tensor of shape A + B; the results have the structure of the outputs, and each has that of the arguments.

    Raises:
        RuntimeError: (when called) ``func`` returns something other than tensors, or there is no such argument.
        ValueError: ``chunk_size`` is not positive.

    Example:
        >>> torch.func.jacrev(lambda x: x * x.sum())(torch.tensor([1.0, 2.0]))
        tensor([[4., 1.],
                [2., 5.]])

    Mirrors torch/_functorch/eager_transforms.py, ``jacrev``.
    """

    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        results, vjp_fn, aux = _vjp(func, args, kwargs, argnums, has_aux, "vjp(f, *primals)")
        outputs, spec = tree_flatten(results)
        numels = [out.numel() for out in outputs]
        chunks = construct_standard_basis_for(outputs, numels)
        basis = [chunk.reshape(-1, *out.shape) for chunk, out in zip(chunks, outputs, strict=True)]
        rows = _in_chunks(vjp_fn, tree_unflatten(basis, spec), chunk_size, _preallocate_and_copy)

        def split(row: Any) -> list[Any]:
            parts = row.split(numels, 0)
            return [part.reshape((*out.shape, *row.shape[1:])) for part, out in zip(parts, outputs, strict=True)]

        flat_rows, rows_spec = tree_flatten(rows)
        by_input = [split(row) for row in flat_rows]
        by_output = [tree_unflatten(list(column), rows_spec) for column in zip(*by_input, strict=True)]
        jacobian = tree_unflatten(by_output, spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def _in_chunks(vjp_fn: Function, basis: Any, chunk_size: int | None, preallocate: bool) -> Any:
    """Call ``vjp_fn`` on the rows of a tree, ``chunk_size`` rows at a time; stack the results as rows."""
    if chunk_size is None:
        return vmap(vjp_fn)(basis)
    count = tree_leaves(basis)[0].size(0)
    whole: list[Any] = []
    pieces: list[list[Any]] = []
    for start in range(0, count, chunk_size):
        size = min(chunk_size, count - start)
        chunk = tree_map(operator.methodcaller("narrow", 0, start, size), basis)
        if chunk_size == 1:
            flat, spec = tree_flatten(vjp_fn(tree_map(operator.methodcaller("squeeze", 0), chunk)))
            flat = [row.unsqueeze(0) for row in flat]
        else:
            flat, spec = tree_flatten(vmap(vjp_fn)(chunk))
        if not preallocate:
            pieces.append(flat)
            continue
        whole = whole or [piece.new_zeros((count, *piece.shape[1:])) for piece in flat]
        for target, piece in zip(whole, flat, strict=True):
            target.narrow(0, start, size).copy_(piece)
    if not preallocate:
        whole = [_fn.cat(list(rows), 0) for rows in zip(*pieces, strict=True)]
    return tree_unflatten(whole, spec)


def jacfwd(func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    r"""Return the function that computes the Jacobian of ``func`` column by column, in one batched forward pass.

    Args:
        func: returns tensors in any structure.
        argnums: the position of the argument by which to differentiate, or a tuple of positions.
        has_aux: ``func`` returns a pair, whose second half is returned without being differentiated.
        randomness: see :func:`vmap`.

    Returns:
        See :func:`jacrev`.

    Raises:
        RuntimeError: (when called) ``func`` returns something other than tensors, or there is no such argument.
        NotImplementedError: (when called) an op of ``func`` has no derivative formula.

    Example:
        >>> torch.func.jacfwd(lambda x: x * x.sum())(torch.tensor([1.0, 2.0]))
        tensor([[4., 1.],
                [2., 5.]])

    Mirrors torch/_functorch/eager_transforms.py, ``jacfwd``.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        inputs, spec = tree_flatten(_chosen(args, _normalized(argnums, len(args))))
        if not inputs:
            raise RuntimeError(f"{_JVP}: Expected primals to contain at least one Tensor.")
        numels = [x.numel() for x in inputs]
        chunks = construct_standard_basis_for(inputs, numels)
        basis = [chunk.reshape(-1, *x.shape) for chunk, x in zip(chunks, inputs, strict=True)]

        def push_forward(*directions: Any) -> Any:
            tangent = tree_unflatten(list(directions), spec)
            result = _jvp(functools.partial(func, **kwargs), args, tangent, argnums, False, has_aux)
            return (result[1], result[2]) if has_aux else result[1]

        columns = vmap(push_forward, out_dims=(0, None) if has_aux else 0, randomness=randomness)(*basis)
        columns, aux = columns if has_aux else (columns, None)

        def split(column: Any) -> Any:
            parts = column.split(numels, 0)
            return tree_unflatten(
                [
                    part.movedim(0, -1).reshape((*column.shape[1:], *x.shape))
                    for part, x in zip(parts, inputs, strict=True)
                ],
                spec,
            )

        jacobian = tree_map(split, columns)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def hessian(func: Function, argnums: Argnums = 0) -> Function:
    r"""Return the function that computes the Hessian of ``func``, by forward mode over reverse mode.

    Args:
        func: returns tensors, usually one of one element.
        argnums: the position of the argument by which to differentiate twice, or a tuple of positions.

    Returns:
        A function with the arguments of ``func``, whose results are those of :func:`jacfwd` of :func:`jacrev`.

    Example:
        >>> torch.func.hessian(lambda x: (x * x).prod())(torch.tensor([1.0, 2.0]))
        tensor([[8., 8.],
                [8., 2.]])

    Mirrors torch/_functorch/eager_transforms.py, ``hessian``.
    """
    return jacfwd(jacrev(func, argnums), argnums)
