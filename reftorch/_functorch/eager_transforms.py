r"""Derivatives as functions of functions: grad, vjp, jvp, and the Jacobians and Hessians made of them with vmap.

Each transform wraps what it differentiates by, so that transforms nest in any order; see
``ATen/functorch/DynamicLayer.h``.

Mirrors: torch/_functorch/eager_transforms.py, torch/_functorch/apis.py
Leaves out: ``functionalize``, ``linearize``, ``chunk_size`` and preallocated results, checks of ``strict``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from reftorch import _C
from reftorch._functorch.vmap import vmap
from reftorch.autograd import forward_ad
from reftorch.autograd._functional_utils import standard_basis
from reftorch.autograd.grad_mode import enable_grad
from reftorch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

__all__ = ["grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "vjp"]

_functorch = _C._functorch
_fn = _C._VariableFunctions

Function = Callable[..., Any]
Argnums = int | tuple[int, ...]


def _is_tensor(value: Any) -> bool:
    return isinstance(value, _C.TensorBase)


@contextmanager
def _level(increment: Callable[[], int]) -> Iterator[int]:
    level = increment()
    try:
        yield level
    finally:
        _functorch._decrement_nesting()


def _wrapped(tree: Any) -> Any:
    return tree_map(lambda x: _functorch._wrap(x) if _is_tensor(x) else x, tree)


def _unwrapped(tree: Any, level: int) -> Any:
    return tree_map(lambda x: _functorch._unwrap(x, level) if _is_tensor(x) else x, tree)


def _differentiable(tree: Any) -> Any:
    """Wrapped tensors as leaves of the level's own graph."""

    def make(x: Any) -> Any:
        if not _is_tensor(x):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}")
        return _functorch._wrap(x).requires_grad_()

    return tree_map(make, tree)


def _check_outputs(outputs: Any, name: str) -> None:
    leaves = tree_leaves(outputs)
    if not leaves:
        raise RuntimeError(f"{name}: Expected f to be a function that has non-empty output (got output = {outputs})")
    for leaf in leaves:
        if not _is_tensor(leaf):
            raise RuntimeError(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}"
            )


def _with_aux(outputs: Any, name: str) -> tuple[Any, Any]:
    if not (isinstance(outputs, tuple) and len(outputs) == 2):
        raise RuntimeError(f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return outputs


def _normalized(argnums: Argnums, count: int) -> Argnums:
    def one(i: int) -> int:
        if not -count <= i < count:
            raise RuntimeError(f"Got argnum={i}, but only {count} positional inputs")
        return i % count

    if isinstance(argnums, int):
        return one(argnums)
    if not isinstance(argnums, tuple) or not all(isinstance(i, int) for i in argnums):
        raise RuntimeError(f"argnum should be int or Tuple[int, ...], got: {type(argnums)}")
    if not argnums:
        raise RuntimeError("Got an empty Tuple of argnums")
    return tuple(one(i) for i in argnums)


def _chosen(args: tuple[Any, ...], argnums: Argnums) -> Any:
    return args[argnums] if isinstance(argnums, int) else tuple(args[i] for i in argnums)


def _replaced(args: tuple[Any, ...], argnums: Argnums, values: Any) -> list[Any]:
    new = list(args)
    if isinstance(argnums, int):
        new[argnums] = values
    else:
        for i, value in zip(argnums, values, strict=True):
            new[i] = value
    return new


def _of_chosen(func: Function, args: tuple[Any, ...], argnums: Argnums, kwargs: dict[str, Any]) -> Function:
    """``func`` as a function of the chosen arguments alone."""

    def partial(values: Any) -> Any:
        return func(*_replaced(args, argnums, values), **kwargs)

    return partial


def _vjp(func: Function, primals: tuple[Any, ...], has_aux: bool, name: str) -> tuple[Any, Function, Any]:
    with _level(_functorch._grad_increment_nesting) as level, enable_grad():
        inputs = _differentiable(primals)
        outputs = func(*inputs)
        outputs, aux = _with_aux(outputs, name) if has_aux else (outputs, None)
        _check_outputs(outputs, name)
        results, aux = _unwrapped(outputs, level), _unwrapped(aux, level)
    flat_inputs, inputs_spec = tree_flatten(inputs)
    flat_outputs, outputs_spec = tree_flatten(outputs)

    def vjp_fn(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        flat_cotangents, spec = tree_flatten(cotangents)
        if spec != outputs_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the "
                f"function. cotangents: {spec}, primal output: {outputs_spec}"
            )
        create = _C.is_grad_enabled() if create_graph is None else create_graph
        grads = _grads(flat_outputs, flat_inputs, flat_cotangents, retain_graph, create)
        return tree_unflatten([_functorch._unwrap_dead(g) for g in grads], inputs_spec)

    return results, vjp_fn, aux


def _grads(
    outputs: list[Any], inputs: list[Any], cotangents: list[Any], retain_graph: bool, create_graph: bool
) -> list[Any]:
    """The engine's gradients; zeros for inputs on which the outputs do not depend."""
    recorded = [(out, g) for out, g in zip(outputs, cotangents, strict=True) if out.requires_grad]
    for out, g in recorded:
        if out.shape != g.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[0] has a shape of {g.shape} and output[0] has a shape of {out.shape}."
            )
    found: Sequence[Any] = [None] * len(inputs)
    if recorded:
        found = _C._run_backward(
            tuple(out for out, _ in recorded), tuple(g for _, g in recorded), retain_graph, create_graph,
            tuple(inputs), allow_unreachable=True, accumulate_grad=False,
        )  # fmt: skip
    return [_fn.zeros_like(x) if g is None else g for x, g in zip(inputs, found, strict=True)]


def vjp(func: Function, *primals: Any, has_aux: bool = False) -> Any:
    r"""Return ``func(*primals)`` and the function :math:`v \mapsto v^\top J`.

    Args:
        func: takes the primals; returns tensors in any structure.
        primals: where to differentiate: tensors in any structure.
        has_aux: ``func`` returns a pair, whose second half is handed on and not differentiated.

    Returns:
        The outputs and the function, which takes a tree like the outputs and returns a tuple, a tree for each primal;
        with ``has_aux``, the auxiliary half as third.

    Raises:
        RuntimeError: ``func`` returns something else than tensors, or a cotangent does not fit.

    Example:
        >>> import reftorch as torch
        >>> value, pull_back = torch.func.vjp(lambda x: x * x, torch.tensor([1.0, 2.0]))
        >>> pull_back(torch.ones(2))
        (tensor([2., 4.]),)

    Mirrors torch/_functorch/eager_transforms.py, ``vjp``.
    """
    results, vjp_fn, aux = _vjp(func, primals, has_aux, "vjp(f, *primals)")
    return (results, vjp_fn, aux) if has_aux else (results, vjp_fn)


def grad_and_value(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    r"""Return a function that returns the gradient of ``func`` by its argument ``argnums``, and the value.

    Args:
        func: returns a tensor of one element.
        argnums: by which positional argument, or arguments, to differentiate.
        has_aux: ``func`` returns a pair, whose second half is handed on with the value.

    Returns:
        A function of the same arguments: ``(gradient, value)``, or ``(gradient, (value, aux))``.

    Raises:
        RuntimeError: (when called) the output is no single number, or there is no such argument.

    Example:
        >>> import reftorch as torch
        >>> torch.func.grad_and_value(lambda x: (x * x).sum())(torch.tensor([1.0, 2.0]))
        (tensor([2., 4.]), tensor(5.))

    Mirrors torch/_functorch/apis.py, ``grad_and_value``.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = _normalized(argnums, len(args))
        results, vjp_fn, aux = _vjp(
            _scalar_output(_of_chosen(func, args, chosen, kwargs), has_aux),
            (_chosen(args, chosen),),
            has_aux,
            "grad_and_value(f)(*args)",
        )
        (gradient,) = vjp_fn(_fn.ones_like(results), retain_graph=_C.is_grad_enabled())
        return gradient, ((results, aux) if has_aux else results)

    return wrapper


def _scalar_output(func: Function, has_aux: bool) -> Function:
    where = "grad_and_value(f)(*args)"

    def checked(values: Any) -> Any:
        outputs = func(values)
        output = _with_aux(outputs, where)[0] if has_aux else outputs
        if not _is_tensor(output):
            raise RuntimeError("Expected f(*args) to return a Tensor, got type " + str(type(output)))
        if output.dim() != 0:
            raise RuntimeError(
                "Expected f(*args) to return a scalar tensor, got tensor with "
                f"{output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        return outputs

    return checked


def grad(func: Function, argnums: Argnums = 0, has_aux: bool = False) -> Function:
    r"""Return the function :math:`\partial f / \partial x`, for ``func`` with a single number as result.

    Args:
        func: returns a tensor of one element.
        argnums: by which positional argument, or arguments, to differentiate.
        has_aux: ``func`` returns a pair, whose second half is handed on.

    Returns:
        A function of the same arguments: a gradient in the structure of the argument, a tuple of them for a tuple of
        ``argnums``; with ``has_aux``, a pair of that and the auxiliary half.

    Raises:
        RuntimeError: (when called) the output is no single number, or there is no such argument.

    Example:
        >>> import reftorch as torch
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


_open_jvps = 0


@contextmanager
def _dual_level() -> Iterator[None]:
    """One level of dual numbers for all nested jvps: their wrappers keep them apart."""
    global _open_jvps
    if _open_jvps == 0:
        forward_ad.enter_dual_level()
    _open_jvps += 1
    try:
        yield
    finally:
        _open_jvps -= 1
        if _open_jvps == 0:
            forward_ad.exit_dual_level()


def _check_tangents(primals: Any, tangents: Any) -> None:
    primals_spec, tangents_spec = tree_flatten(primals)[1], tree_flatten(tangents)[1]
    if primals_spec != tangents_spec:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python structure. For example, "
            "if primals is a tuple of 3 tensors, tangents also must be. Got primals with structure "
            f"{primals_spec} and tangents with structure {tangents_spec}"
        )


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    r"""Return ``func(*primals)`` and :math:`J t`, in one forward pass.

    Args:
        func: takes the primals; returns tensors in any structure.
        primals: a tuple: where to differentiate.
        tangents: a tuple of the same structure: in what direction.
        strict: taken for PyTorch's sake; an output that does not depend on the primals has zeros.
        has_aux: ``func`` returns a pair, whose second half is handed on and not differentiated.

    Returns:
        The outputs and their tangents; with ``has_aux``, the auxiliary half as third.

    Raises:
        RuntimeError: the structures differ, or ``func`` returns something else than tensors.
        NotImplementedError: an op of ``func`` has no derivative formula.

    Example:
        >>> import reftorch as torch
        >>> torch.func.jvp(lambda x: x * x.sum(), (torch.tensor([1.0, 2.0]),), (torch.tensor([1.0, 0.0]),))
        (tensor([3., 6.]), tensor([4., 2.]))

    Mirrors torch/_functorch/eager_transforms.py, ``jvp``.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    _check_tangents(primals, tangents)
    with _level(_functorch._jvp_increment_nesting) as level, _dual_level(), forward_ad._set_fwd_grad_enabled(True):
        duals = tree_map(lambda p, t: forward_ad.make_dual(_functorch._wrap(p), t), primals, tangents)
        outputs = func(*duals)
        outputs, aux = _with_aux(outputs, "jvp(f, primals, tangents)") if has_aux else (outputs, None)
        _check_outputs(outputs, "jvp(f, primals, tangents)")
        flat, spec = tree_flatten(outputs)
        halves = [forward_ad.unpack_dual(out) for out in flat]
        values = [_functorch._unwrap(half.primal, level) for half in halves]
        moved = [
            _fn.zeros_like(value) if half.tangent is None else _functorch._unwrap(half.tangent, level)
            for half, value in zip(halves, values, strict=True)
        ]
        aux = _unwrapped(tree_map(lambda x: forward_ad.unpack_dual(x).primal if _is_tensor(x) else x, aux), level)
    results = tree_unflatten(values, spec), tree_unflatten(moved, spec)
    return (*results, aux) if has_aux else results


def jacrev(func: Function, argnums: Argnums = 0, *, has_aux: bool = False) -> Function:
    r"""Return the function that gives the Jacobian of ``func``, by rows: one batched backward pass.

    Args:
        func: returns tensors in any structure.
        argnums: by which positional argument, or arguments, to differentiate.
        has_aux: ``func`` returns a pair, whose second half is handed on and not differentiated.

    Returns:
        A function of the same arguments. For an output of size A and an argument of size B a tensor of size A + B, in
        the structure of the outputs, each in the structure of the arguments.

    Raises:
        RuntimeError: (when called) ``func`` returns something else than tensors, or there is no such argument.

    Example:
        >>> import reftorch as torch
        >>> torch.func.jacrev(lambda x: x * x.sum())(torch.tensor([1.0, 2.0]))
        tensor([[4., 1.],
                [2., 5.]])

    Mirrors torch/_functorch/eager_transforms.py, ``jacrev``.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = _normalized(argnums, len(args))
        results, vjp_fn, aux = _vjp(
            _of_chosen(func, args, chosen, kwargs), (_chosen(args, chosen),), has_aux, "jacrev(f, *primals)"
        )
        outputs, spec = tree_flatten(results)
        basis = [chunk.reshape(-1, *out.shape) for chunk, out in zip(standard_basis(outputs), outputs, strict=True)]
        (rows,) = vmap(vjp_fn)(tree_unflatten(basis, spec))
        numels = [out.numel() for out in outputs]

        def split(row: Any) -> list[Any]:
            parts = row.split(numels, 0)
            return [part.reshape((*out.shape, *row.shape[1:])) for part, out in zip(parts, outputs, strict=True)]

        flat_rows, rows_spec = tree_flatten(rows)
        by_input = [split(row) for row in flat_rows]
        by_output = [tree_unflatten(list(column), rows_spec) for column in zip(*by_input, strict=True)]
        jacobian = tree_unflatten(by_output, spec)
        return (jacobian, aux) if has_aux else jacobian

    return wrapper


def jacfwd(func: Function, argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error") -> Function:
    r"""Return the function that gives the Jacobian of ``func``, by columns: one batched forward pass.

    Args:
        func: returns tensors in any structure.
        argnums: by which positional argument, or arguments, to differentiate.
        has_aux: ``func`` returns a pair, whose second half is handed on and not differentiated.
        randomness: as for :func:`vmap`.

    Returns:
        As :func:`jacrev`.

    Raises:
        RuntimeError: (when called) ``func`` returns something else than tensors, or there is no such argument.
        NotImplementedError: (when called) an op of ``func`` has no derivative formula.

    Example:
        >>> import reftorch as torch
        >>> torch.func.jacfwd(lambda x: x * x.sum())(torch.tensor([1.0, 2.0]))
        tensor([[4., 1.],
                [2., 5.]])

    Mirrors torch/_functorch/eager_transforms.py, ``jacfwd``.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        chosen = _normalized(argnums, len(args))
        inputs, spec = tree_flatten(_chosen(args, chosen))
        partial = _of_chosen(func, args, chosen, kwargs)
        basis = [chunk.reshape(-1, *x.shape) for chunk, x in zip(standard_basis(inputs), inputs, strict=True)]

        def push_forward(*directions: Any) -> Any:
            tangent = tree_unflatten(list(directions), spec)
            result = jvp(partial, (tree_unflatten(inputs, spec),), (tangent,), has_aux=has_aux)
            return (result[1], result[2]) if has_aux else result[1]

        columns = vmap(push_forward, out_dims=(0, None) if has_aux else 0, randomness=randomness)(*basis)
        columns, aux = columns if has_aux else (columns, None)
        numels = [x.numel() for x in inputs]

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
    r"""Return the function that gives the Hessian of ``func``: forward mode over reverse mode.

    Args:
        func: returns tensors, as a rule of one element.
        argnums: by which positional argument, or arguments, to differentiate, twice.

    Returns:
        A function of the same arguments, as :func:`jacfwd` of :func:`jacrev`.

    Example:
        >>> import reftorch as torch
        >>> torch.func.hessian(lambda x: (x * x).prod())(torch.tensor([1.0, 2.0]))
        tensor([[8., 8.],
                [8., 2.]])

    Mirrors torch/_functorch/eager_transforms.py, ``hessian``.
    """
    return jacfwd(jacrev(func, argnums), argnums)
