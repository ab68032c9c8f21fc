"""vmap: run a function that is written for one example on a whole batch at once.

Each argument is wrapped, and the wrapper hides its batch dimension. Each op that the function calls runs once, on the
whole batch, by its batching rule (:mod:`reftorch._functorch.batch_rules`). See ``ATen/functorch/TensorWrapper.h``.

Mirrors: torch/_functorch/vmap.py, torch/_functorch/apis.py
Leaves out: hooks on saved tensors.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from reftorch import _C, _VF
from reftorch._functorch import batch_rules
from reftorch._thread_local import ThreadLocal
from reftorch.utils._pytree import TreeSpec, broadcast_to_and_flatten, tree_flatten, tree_leaves, tree_unflatten

__all__ = ["batch_size", "vmap"]

_functorch = _C._functorch
_functorch._set_rule_resolver(batch_rules.resolve)


class _Functions(ThreadLocal):
    run_as_they_are = False


_functions = _Functions()


@contextlib.contextmanager
def functions_run_as_they_are() -> Iterator[None]:
    """Let vmap run an autograd.Function inside the block like any function: see :mod:`reftorch._vmap_internals`."""
    former, _functions.run_as_they_are = _functions.run_as_they_are, True
    try:
        yield
    finally:
        _functions.run_as_they_are = former


def do_functions_run_as_they_are() -> bool:
    """Return whether this thread is inside :func:`functions_run_as_they_are`."""
    return _functions.run_as_they_are


def _name(func: Callable[..., Any]) -> str:
    if hasattr(func, "__name__"):
        return str(func.__name__)
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return repr(func)


def _checked_in_dim(dim: Any, arg: Any, where: str) -> int | None:
    """Return the dimension counted from the front; raise ValueError if it is out of range."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{where}Got in_dim={dim} for an input but in_dim must be either an integer dimension or None."
        )
    if not isinstance(arg, _C.TensorBase):
        raise ValueError(
            f"{where}Got in_dim={dim} for an input but the input is of type {type(arg)}. We cannot vmap over "
            "non-Tensor arguments, please use None as the respective in_dim" + _C._other_library_hint(arg)
        )
    if not -arg.dim() <= dim < arg.dim():
        raise ValueError(
            f"{where}Got in_dim={dim} for some input, but that input is a Tensor of dimensionality {arg.dim()} so "
            f"expected in_dim to satisfy -{arg.dim()} <= in_dim < {arg.dim()}."
        )
    return dim % arg.dim()


def _batch_size(dims: list[int | None], args: list[Any]) -> int:
    sizes = [arg.size(dim) for dim, arg in zip(dims, args, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return int(sizes[0])


def _process_inputs(
    in_dims: Any, args: tuple[Any, ...], name: str
) -> tuple[int, list[int | None], list[Any], TreeSpec]:
    where = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): "
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"{where}expected `in_dims` to be int or a (potentially nested) tuple matching the structure of inputs, "
            f"got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a "
            "function with no inputs. The latter is unsupported."
        )
    flat_args, spec = tree_flatten(args)
    flat_dims = broadcast_to_and_flatten(in_dims, spec)
    if flat_dims is None:
        raise ValueError(
            f"{where}in_dims is not compatible with the structure of `inputs`. in_dims has structure "
            f"{tree_flatten(in_dims)[1]} but inputs has structure {spec}."
        )
    dims = [_checked_in_dim(dim, arg, where) for dim, arg in zip(flat_dims, flat_args, strict=True)]
    return _batch_size(dims, flat_args), dims, flat_args, spec


def batch_size(in_dims: Any, args: tuple[Any, ...], func: Callable[..., Any]) -> int:
    """Return the number of examples in the arguments of ``vmap(func, in_dims)``."""
    return _process_inputs(in_dims, args, _name(func))[0]


def _check_out_dims(out_dims: Any, name: str) -> None:
    for dim in tree_leaves(out_dims):
        if dim is not None and not isinstance(dim, int):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of "
                "ints representing where in the outputs the vmapped dimension should appear."
            )


def _flat_out_dims(outputs: Any, out_dims: Any, spec: TreeSpec, name: str) -> list[int | None]:
    flat: list[Any] | None
    if isinstance(outputs, _C.TensorBase):
        flat = list(out_dims) if isinstance(out_dims, tuple) else [out_dims]
        flat = flat if len(flat) == 1 and (flat[0] is None or isinstance(flat[0], int)) else None
    else:
        flat = broadcast_to_and_flatten(out_dims, spec)
    if flat is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of "
            f"`outputs`. out_dims has structure {tree_flatten(out_dims)[1]} but outputs has structure {spec}."
        )
    return flat


def _unwrap(output: Any, out_dim: int | None, level: int, batch_size: int, name: str) -> Any:
    """Remove the wrapper of an output, and move its batch dimension to ``out_dim``; expand an unbatched output."""
    if not isinstance(output, _C.TensorBase):
        if out_dim is None:
            return output
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(output)}. Did you mean to set "
            "out_dims= to None for output?"
        )
    found = _functorch._describe(output)
    batched = found is not None and found[0] == level
    if out_dim is None:
        if batched:
            raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
        return output
    logical = output.dim()
    if not -logical - 1 <= out_dim <= logical:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-logical - 1}, {logical}], but got {out_dim})"
        )
    out_dim %= logical + 1
    if not batched:
        return output.unsqueeze(out_dim).expand(*output.shape[:out_dim], batch_size, *output.shape[out_dim:])
    value = found[2]
    return value if found[1] == out_dim else value.movedim(found[1], out_dim)


def _run(
    func: Callable[..., Any],
    name: str,
    batch_size: int,
    dims: list[int | None],
    flat_args: list[Any],
    spec: TreeSpec,
    out_dims: Any,
    randomness: str,
    kwargs: dict[str, Any],
) -> Any:
    from reftorch._functorch.batch_rules import _families  # noqa: F401  the first vmap registers the rules

    level = _functorch._vmap_increment_nesting(batch_size, randomness)
    try:
        wrapped = [
            arg if dim is None else _functorch._add_batch_dim(arg, dim)
            for arg, dim in zip(flat_args, dims, strict=True)
        ]
        outputs = func(*tree_unflatten(wrapped, spec), **kwargs)
    finally:
        _functorch._decrement_nesting()
    flat, out_spec = tree_flatten(outputs)
    flat_dims = _flat_out_dims(outputs, out_dims, out_spec, name)
    return tree_unflatten(
        [_unwrap(output, dim, level, batch_size, name) for output, dim in zip(flat, flat_dims, strict=True)], out_spec
    )


def _run_in_chunks(chunk_size: int, func: Callable[..., Any], name: str, batch_size: int, *rest: Any) -> Any:
    dims, flat_args, spec, out_dims, randomness, kwargs = rest
    results, state = [], _C.default_generator.get_state()
    for start in range(0, batch_size, chunk_size):
        size = min(chunk_size, batch_size - start)
        part = [arg if dim is None else arg.narrow(dim, start, size) for arg, dim in zip(flat_args, dims, strict=True)]
        if randomness == "same":  # every chunk draws the same numbers
            _C.default_generator.set_state(state)
        results.append(_run(func, name, size, dims, part, spec, out_dims, randomness, kwargs))
    flat = [tree_leaves(result) for result in results]
    _, out_spec = tree_flatten(results[0])
    flat_dims = broadcast_to_and_flatten(out_dims, out_spec)
    if flat_dims is None:
        flat_dims = list(out_dims)
    joined = [
        parts[0] if dim is None else _VF.cat(list(parts), dim)
        for parts, dim in zip(zip(*flat, strict=True), flat_dims, strict=True)
    ]
    return tree_unflatten(joined, out_spec)


def vmap(
    func: Callable[..., Any],
    in_dims: Any = 0,
    out_dims: Any = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that runs ``func`` on every slice of its arguments at once, and stacks the results.

    ``vmap(func)(x)`` equals ``torch.stack([func(row) for row in x])``, but ``func`` runs once, and so each op in it is
    called once, on the whole batch.

    Args:
        func: takes tensors in any structure of tuples, lists and dicts, and returns tensors in such a structure.
        in_dims: the batch dimension of each input: an int for all inputs, or a structure of ints like that of the
            inputs. None marks an input that all examples share.
        out_dims: the batch dimension of each output, in the same form.
        randomness: the behaviour of random ops: ``"error"`` raises, ``"same"`` draws once for all examples,
            ``"different"`` draws for each example.
        chunk_size: the number of examples that run at a time; fewer examples need less memory.

    Returns:
        A function with the arguments of ``func``, each with one dimension more.

    Raises:
        ValueError: ``in_dims`` or ``out_dims`` do not match, or the batches differ in size.
        RuntimeError: (when called) ``func`` does something that is undefined for a batch: it asks for a Python number,
            writes a batched value into an unbatched tensor, or draws random numbers while ``randomness`` is
            ``"error"``.

    Example:
        >>> rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> torch.vmap(torch.dot)(rows, rows)
        tensor([ 5., 25.])
        >>> torch.vmap(torch.mul, in_dims=(0, None))(rows, torch.tensor([10.0, 100.0]))
        tensor([[ 10., 200.],
                [ 30., 400.]])

    Mirrors torch/_functorch/apis.py, ``vmap``.
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        name = _name(func)
        _check_out_dims(out_dims, name)
        batch_size, dims, flat_args, spec = _process_inputs(in_dims, args, name)
        rest = (dims, flat_args, spec, out_dims, randomness, kwargs)
        if chunk_size is not None and batch_size > 0:
            return _run_in_chunks(chunk_size, func, name, batch_size, *rest)
        return _run(func, name, batch_size, *rest)

    return wrapped
