r"""Derivatives as functions of functions: vjp and jvp, from which the other transforms are built, and some small ones.

Each transform wraps the tensors by which it differentiates, so that transforms nest in any order; see
``ATen/functorch/DynamicLayer.h``.

Mirrors: torch/_functorch/eager_transforms.py, whose Jacobians are in jacobians.py
Leaves out: a tracer. So ``functionalize`` only checks and calls, and ``linearize`` keeps a graph of nodes, not code.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from reftorch import _C
from reftorch.autograd import forward_ad
from reftorch.autograd.grad_mode import enable_grad
from reftorch.autograd.graph import disable_saved_tensors_hooks
from reftorch.utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten

__all__ = ["debug_unwrap", "functionalize", "jvp", "linearize", "vjp"]

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


def _unwrapped_aux(aux: Any, level: int) -> Any:
    for leaf in tree_leaves(aux):
        if not _is_tensor(leaf):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return _unwrapped(aux, level)


def _differentiable(tree: Any) -> Any:
    """Wrap tensors, and make the wrappers leaves of the level's own graph."""

    def make(x: Any) -> Any:
        if not _is_tensor(x):
            raise ValueError(f"Thing passed to transform API must be Tensor, got {type(x)}{_C._other_library_hint(x)}")
        wrapped = _functorch._wrap(x)
        wrapped.requires_grad = True  # requires_grad_() is refused under a transform
        return wrapped

    return tree_map(make, tree)


def _check_outputs(outputs: Any, name: str) -> None:
    leaves = tree_leaves(outputs)
    if not leaves or (len(leaves) == 1 and leaves[0] is None):
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


def _normalized(argnums: Any, count: int) -> Argnums:
    def one(i: Any) -> int:
        if not isinstance(i, int):
            raise RuntimeError(f"argnum must be int, got: {type(i)}")
        if not -count <= i < count:
            raise RuntimeError(f"Got argnum={i}, but only {count} positional inputs")
        return i % count

    if isinstance(argnums, int):
        return one(argnums)
    if not isinstance(argnums, tuple):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    positions = tuple(one(i) for i in argnums)
    if not positions:
        raise RuntimeError("argnums must be non-empty")
    if len(set(positions)) != len(positions):
        raise RuntimeError(f"argnums elements must be unique, got {positions}")
    return positions


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


_NO_HOOKS = (
    "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. "
    "Please open an issue with your use case."
)


def _vjp(
    func: Function, args: tuple[Any, ...], kwargs: dict[str, Any], argnums: Argnums | None, has_aux: bool, name: str
) -> tuple[Any, Function, Any]:
    """Return the outputs, the pullback to the chosen arguments (None: all, as a tuple), and the auxiliary half."""
    chosen = tuple(range(len(args))) if argnums is None else _normalized(argnums, len(args))
    with disable_saved_tensors_hooks(_NO_HOOKS), _level(_functorch._grad_increment_nesting) as level, enable_grad():
        inputs = _differentiable(_chosen(args, chosen))
        outputs = func(*_replaced(_wrapped(args), chosen, inputs), **_wrapped(kwargs))
        outputs, aux = _with_aux(outputs, name) if has_aux else (outputs, ())
        _check_outputs(outputs, name)
        results, aux = _unwrapped(outputs, level), _unwrapped_aux(aux, level)
        flat_outputs, outputs_spec = tree_flatten(outputs)
        for output in flat_outputs:
            # The grad_fn of a view whose base has changed is made when it is read, which must be at this level.
            _ = output.grad_fn
    flat_inputs, inputs_spec = tree_flatten(inputs)
    for output in flat_outputs:
        if not output.is_floating_point():
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype "
                f"{output.dtype}"
            )

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
    """Return the engine's gradients, and zeros for inputs on which the outputs do not depend."""
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
        primals: the point at which to differentiate: tensors in any structure.
        has_aux: ``func`` returns a pair, whose second half is returned without being differentiated.

    Returns:
        The outputs and the function. The function takes a tree like the outputs, and returns a tuple with a tree for
        each primal. With ``has_aux``, the second half of the pair comes third.

    Raises:
        RuntimeError: ``func`` returns something other than tensors, or a cotangent does not match the output.

    Example:
        >>> value, pull_back = torch.func.vjp(lambda x: x * x, torch.tensor([1.0, 2.0]))
        >>> pull_back(torch.ones(2))
        (tensor([2., 4.]),)

    Mirrors torch/_functorch/eager_transforms.py, ``vjp``.
    """
    results, vjp_fn, aux = _vjp(func, primals, {}, None, has_aux, "vjp(f, *primals)")
    return (results, vjp_fn, aux) if has_aux else (results, vjp_fn)


_open_jvps = 0


@contextmanager
def _dual_level() -> Iterator[None]:
    """Enter one level of dual numbers for all nested jvps; their wrappers keep the jvps apart."""
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


_JVP = "jvp(f, primals, tangents)"


def _check_tangents(primals: Any, tangents: Any) -> None:
    flat_primals, primals_spec = tree_flatten(primals)
    flat_tangents, tangents_spec = tree_flatten(tangents)
    if primals_spec != tangents_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if primals is a "
            f"tuple of 3 tensors, tangents also must be. Got primals with structure {primals_spec} and tangents with "
            f"structure {tangents_spec}"
        )
    for name, flat in (("primals", flat_primals), ("tangents", flat_tangents)):
        if not flat:
            raise RuntimeError(f"{_JVP}: Expected {name} to contain at least one Tensor.")
        for each in flat:
            if not _is_tensor(each):
                raise RuntimeError(f"{_JVP}: Expected {name} to only contain Tensors, got {type(each)}")


def _jvp(
    func: Function, args: tuple[Any, ...], tangents: Any, argnums: Argnums | None, strict: bool, has_aux: bool
) -> Any:
    """Compute :func:`jvp` by the chosen arguments (None: all, as a tuple)."""
    chosen = tuple(range(len(args))) if argnums is None else _normalized(argnums, len(args))
    primals = _chosen(args, chosen)
    _check_tangents(primals, tangents)

    def tangent_of(half: forward_ad.UnpackedDualTensor) -> Any:
        if half.tangent is None and strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
                "allowed with strict=True."
            )
        return _fn.zeros_like(half.primal) if half.tangent is None else half.tangent

    with _level(_functorch._jvp_increment_nesting) as level, _dual_level(), forward_ad._set_fwd_grad_enabled(True):
        duals = tree_map(lambda p, t: forward_ad.make_dual(_functorch._wrap(p), _functorch._wrap(t)), primals, tangents)
        outputs = func(*_replaced(_wrapped(args), chosen, duals))
        outputs, aux = _with_aux(outputs, _JVP) if has_aux else (outputs, ())
        _check_outputs(outputs, _JVP)
        flat, spec = tree_flatten(outputs)
        halves = [forward_ad.unpack_dual(out) for out in flat]
        values = [_functorch._unwrap(half.primal, level) for half in halves]
        moved = [_functorch._unwrap(tangent_of(half), level) for half in halves]
        aux = _unwrapped_aux(tree_map(lambda x: forward_ad.unpack_dual(x).primal if _is_tensor(x) else x, aux), level)
    results = tree_unflatten(values, spec), tree_unflatten(moved, spec)
    return (*results, aux) if has_aux else results


def jvp(func: Function, primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False) -> Any:
    r"""Return ``func(*primals)`` and :math:`J t`, in one forward pass.

    Args:
        func: takes the primals; returns tensors in any structure.
        primals: a tuple, the point at which to differentiate.
        tangents: a tuple of the same structure, the direction.
        strict: raise an error if an output does not depend on the primals, instead of returning zeros.
        has_aux: ``func`` returns a pair, whose second half is returned without being differentiated.

    Returns:
        The outputs and their tangents; with ``has_aux``, the second half of the pair comes third.

    Raises:
        RuntimeError: the structures differ, ``func`` returns something other than tensors, or an output does not depend
            on the primals although ``strict`` is set.
        NotImplementedError: an op of ``func`` has no derivative formula.

    Example:
        >>> torch.func.jvp(lambda x: x * x.sum(), (torch.tensor([1.0, 2.0]),), (torch.tensor([1.0, 0.0]),))
        (tensor([3., 6.]), tensor([4., 2.]))

    Mirrors torch/_functorch/eager_transforms.py, ``jvp``.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals).")
    return _jvp(func, primals, tangents, None, strict, has_aux)


def linearize(func: Function, *primals: Any) -> tuple[Any, Function]:
    r"""Return ``func(*primals)`` and the function :math:`t \mapsto J t`, for many tangents at one point.

    The method transposes twice: :math:`v \mapsto v^\top J` is linear in v, so its own pullback, at any point, is
    :math:`t \mapsto J t`. ``func`` runs once; each tangent costs one walk through the graph.

    Args:
        func: takes the primals; returns tensors in any structure.
        primals: the point at which to differentiate: tensors in any structure.

    Returns:
        The outputs, and a function that takes a tangent for each primal and returns the tangents of the outputs.

    Raises:
        RuntimeError: ``func`` returns something other than tensors, or (when called) a tangent does not match its
            primal.

    Example:
        >>> value, push_forward = torch.func.linearize(lambda x: x * x.sum(), torch.tensor([1.0, 2.0]))
        >>> value, push_forward(torch.tensor([1.0, 0.0])), push_forward(torch.tensor([0.0, 1.0]))
        (tensor([3., 6.]), tensor([4., 2.]), tensor([1., 5.]))

    Mirrors torch/_functorch/eager_transforms.py, ``linearize``.
    """
    outputs, pull_back = vjp(func, *primals)
    _, push_forward = vjp(pull_back, tree_map(_fn.ones_like, outputs))
    flat_primals, primals_spec = tree_flatten(primals)

    def jvp_fn(*tangents: Any) -> Any:
        flat_tangents, spec = tree_flatten(tangents)
        if spec != primals_spec:
            raise RuntimeError(f"Expected the tangents {spec} to have the same argspec as the primals {primals_spec}")
        for i, (t, p) in enumerate(zip(flat_tangents, flat_primals, strict=True)):
            for what in ("shape", "device", "dtype"):
                if getattr(t, what) != getattr(p, what):
                    raise RuntimeError(
                        f"tangent:{i} with {what} {getattr(t, what)} in flattened pytree doesn't match the {what} "
                        f"{getattr(p, what)} of the corresponding primal."
                    )
        return push_forward(tangents)[0]

    return outputs, jvp_fn


def functionalize(func: Function, *, remove: str = "mutations") -> Function:
    """Return ``func``, unchanged except for a check of ``remove``.

    PyTorch replaces in-place ops and views by other ops for the sake of a tracer, which does not exist here. The
    results are the same: PyTorch, too, writes changes of the arguments back to them.

    Args:
        func: any function of tensors.
        remove: ``"mutations"`` or ``"mutations_and_views"``.

    Raises:
        RuntimeError: ``remove`` is something other than these.

    Example:
        >>> torch.func.functionalize(lambda x: x.clone().add_(1))(torch.zeros(2))
        tensor([1., 1.])

    Mirrors torch/_functorch/eager_transforms.py, ``functionalize``.
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            f"functionalize(f, remove='mutations'): received invalid argument for remove={remove}. "
            "Valid options are: 'mutations', 'mutations_and_views'."
        )

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        return func(*args, **kwargs)

    return wrapped


def debug_unwrap(tensor: Any, *, recurse: bool = True) -> Any:
    """Return the tensor that a transform has wrapped, for inspection: the batch of an example, the value of a primal.

    Args:
        tensor: any tensor.
        recurse: remove the wrappers of all transforms, not only of the innermost one.

    Example:
        >>> def f(x):
        ...     print(torch.func.debug_unwrap(x))
        ...     return x
        >>> _ = torch.vmap(f)(torch.arange(3))
        tensor([0, 1, 2])

    Mirrors torch/_functorch/eager_transforms.py, ``debug_unwrap``.
    """
    found = _functorch._describe(tensor)
    if found is None:
        return tensor
    return debug_unwrap(found[2]) if recurse else found[2]
