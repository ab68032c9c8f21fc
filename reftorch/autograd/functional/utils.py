"""Helpers of the functions of ``autograd.functional``: check arguments, call the engine, and fill in zeros.

Mirrors: torch/autograd/functional.py (its private functions)
Leaves out: sparse tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from reftorch import _C, _VF
from reftorch._vmap_internals import _vmap

if TYPE_CHECKING:
    from reftorch import Tensor

Tensors = tuple["Tensor", ...]

NOT_STRICT = " This is not allowed in strict mode."
WITH_GRAPH = " This is not allowed in strict mode when create_graph=True."


def as_tuple(value: Any, arg_name: str, fn_name: str) -> tuple[bool, Tensors]:
    """Return whether ``value`` is a tuple, and the value as a tuple; raise TypeError if an element is not a tensor."""
    is_tuple = isinstance(value, tuple)
    for i, element in enumerate(value if is_tuple else (value,)):
        if not isinstance(element, _C.TensorBase):
            which = f"value at index {i}" if is_tuple else f"given {arg_name}"
            raise TypeError(
                f"The {arg_name} given to {fn_name} must be either a Tensor or a tuple of Tensors but the {which} has "
                f"type {type(element)}."
            )
    return is_tuple, value if is_tuple else (value,)


def unpack(values: Any, was_tuple: bool) -> Any:
    """Convert a tuple back to the form of the caller's argument."""
    return values if was_tuple else values[0]


def unpack_nested(rows: Any, outer_was_tuple: bool, inner_was_tuple: bool) -> Any:
    """Convert a tuple of tuples, such as a Jacobian by outputs and inputs, back to the caller's form."""
    return unpack(tuple(unpack(tuple(row), inner_was_tuple) for row in rows), outer_was_tuple)


def detached(inputs: Tensors, create_graph: bool, need_graph: bool) -> Tensors:
    """Return tensors to differentiate by: in the caller's graph with ``create_graph``, else new leaves.

    They are never the caller's tensors themselves, so that the function cannot reach an input in another way.
    """
    return tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_(need_graph) for x in inputs
    )


def finished(results: Any, create_graph: bool) -> Any:
    """Return the results for the caller: without ``create_graph`` they are detached from the graph."""
    if create_graph:
        return results
    return tuple(r.detach() if isinstance(r, _C.TensorBase) else finished(r, create_graph) for r in results)


def check_vector(v: Tensors, other: Tensors, other_was_tuple: bool) -> None:
    """Raise RuntimeError unless ``v`` has the number and the sizes of ``other``."""
    if len(other) != len(v):
        if other_was_tuple:
            raise RuntimeError(f"v is a tuple of invalid length: should be {len(other)} but got {len(v)}.")
        raise RuntimeError("The given v should contain a single Tensor.")
    for i, (given, expected) in enumerate(zip(v, other, strict=True)):
        if given.size() != expected.size():
            where = f"Entry {i} in " if other_was_tuple else ""
            raise RuntimeError(f"{where}v has invalid size: should be {expected.size()} but got {given.size()}.")


def vector_or_none(
    v: Any, other: Tensors, other_was_tuple: bool, create_graph: bool, fn_name: str, what: str
) -> Tensors | None:
    """Check ``v`` against ``other``. Without ``v``, return None, which means 1, if ``other`` is one number."""
    if v is not None:
        given = detached(as_tuple(v, "v", fn_name)[1], create_graph, need_graph=False)
        check_vector(given, other, other_was_tuple)
        return given
    if len(other) != 1 or other[0].nelement() != 1:
        raise RuntimeError(f"The vector v can only be None if {what} a single Tensor with a single element.")
    return None


_INDEPENDENT = {
    "outputs": (
        "Output {i} of the user-provided function does not require gradients. The outputs must be computed in a "
        "differentiable manner from the input when running in strict mode."
    ),
    "grad_inputs": (
        "The gradient with respect to input {i} is independent of the inputs of the user-provided function."
        + NOT_STRICT
    ),
    "jacobian": (
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input {i} "
        "is independent of the input. This is not allowed in strict mode. You should ensure that your function is "
        "twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function "
        "for example)."
    ),
}


def check_requires_grad(tensors: Sequence[Tensor | None], kind: str, strict: bool) -> None:
    """In strict mode, raise RuntimeError if a tensor does not depend on the inputs."""
    if not strict:
        return
    for i, tensor in enumerate(tensors):
        if tensor is None:
            raise RuntimeError(f"The output of the user-provided function is independent of input {i}." + NOT_STRICT)
        if not tensor.requires_grad:
            raise RuntimeError(_INDEPENDENT[kind].format(i=i))


def run_backward(
    outputs: Sequence[Tensor | None],
    inputs: Tensors,
    grads: Sequence[Tensor | None] | None = None,
    create_graph: bool = False,
    retain_graph: bool | None = None,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of the outputs that require one; None for an input on which they do not depend."""
    given = (None,) * len(outputs) if grads is None else grads
    recorded = [(out, g) for out, g in zip(outputs, given, strict=True) if out is not None and out.requires_grad]
    if not recorded:
        return (None,) * len(inputs)
    roots = tuple(out for out, _ in recorded)
    starts = tuple(_VF.ones_like(out) if g is None else g for out, g in recorded)
    keep = create_graph if retain_graph is None else retain_graph
    result: tuple[Tensor | None, ...] = _C._run_backward(
        roots, starts, keep, create_graph, tuple(inputs), allow_unreachable=True, accumulate_grad=False
    )
    return result


def batched_pass(run: Callable[..., Sequence[Tensor | None]], starts: Sequence[Any]) -> tuple[Tensor | None, ...]:
    """Call ``run`` for all rows of the starts in one pass. A gradient that is None is None for all rows."""
    dims = tuple(None if start is None else 0 for start in starts)
    result: tuple[Tensor | None, ...] = _vmap(run, dims, allow_none_pass_through=True)(*starts)
    return result


_MISSING = {
    "back": "The output of the user-provided function is independent of input {i}." + NOT_STRICT,
    "back_trick": (
        "The gradient with respect to the input is independent of entry {i} in the grad_outputs when using the double "
        "backward trick to compute forward mode gradients." + NOT_STRICT
    ),
    "double_back": "The jacobian of the user-provided function is independent of input {i}." + NOT_STRICT,
    "double_back_trick": (
        "The hessian of the user-provided function is independent of entry {i} in the grad_jacobian. This is not "
        "allowed in strict mode as it prevents from using the double backward trick to replace forward mode AD."
    ),
}


def fill_in_zeros(
    grads: Sequence[Tensor | None], like: Sequence[Tensor], strict: bool, create_graph: bool, stage: str
) -> Tensors:
    """Replace the gradients that are None by zeros; in strict mode, raise RuntimeError instead."""
    filled = []
    for i, (grad, reference) in enumerate(zip(grads, like, strict=True)):
        if grad is None and strict:
            raise RuntimeError(_MISSING[stage].format(i=i))
        if grad is not None and strict and create_graph and not grad.requires_grad:
            what = "hessian" if "double" in stage else "jacobian"
            raise RuntimeError(f"The {what} of the user-provided function is independent of input {i}." + WITH_GRAPH)
        filled.append(_VF.zeros_like(reference) if grad is None else grad)
    return tuple(filled)


def construct_standard_basis_for(tensors: Sequence[Tensor], tensor_numels: Sequence[int]) -> Tensors:
    """Return the n unit vectors for tensors of n numbers in all, split by tensor: each part is (n, numel).

    Raise AssertionError if there are no tensors, or the number of numels differs.

    Mirrors torch/autograd/functional.py, ``_construct_standard_basis_for``.
    """
    if len(tensors) != len(tensor_numels):
        raise AssertionError(
            f"Expected tensors and tensor_numels to have the same length, but got {len(tensors)} and "
            f"{len(tensor_numels)}"
        )
    if not tensors:
        raise AssertionError("Expected at least one tensor")
    total = sum(tensor_numels)
    chunks, start = [], 0
    for tensor, numel in zip(tensors, tensor_numels, strict=True):
        chunk = tensor.new_zeros((total, numel))
        chunk.diagonal(-start).fill_(1)
        chunks.append(chunk)
        start += numel
    return tuple(chunks)
