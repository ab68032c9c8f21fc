"""Automatic differentiation of programs that consist of tensor ops.

Ops on a tensor that requires a gradient are recorded as a graph of nodes (``csrc/autograd/function.h``); ``backward``
sends gradients through this graph (``csrc/autograd/engine.h``), and each node calls the formula of its op
(``autograd/derivatives``).

Mirrors: torch/autograd/__init__.py
Leaves out: sparse gradients, custom accelerators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from reftorch import _C, _ops
from reftorch._torch_function import handle_torch_function, has_torch_function, is_tensor_like
from reftorch._utils import _warn_once
from reftorch._warnings import warn
from reftorch.autograd import _functions, derivatives, forward_ad, functional, graph, profiler, variable
from reftorch.autograd.anomaly_mode import detect_anomaly, set_detect_anomaly
from reftorch.autograd.function import Function, NestedIOFunction
from reftorch.autograd.functional.utils import batched_pass
from reftorch.autograd.grad_mode import (
    _force_original_view_tracking,
    _unsafe_preserve_version_counter,
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
from reftorch.autograd.gradcheck import gradcheck, gradgradcheck
from reftorch.autograd.profiler_util import DeviceType as DeviceType
from reftorch.autograd.variable import Variable

if TYPE_CHECKING:
    from reftorch import Tensor
    from reftorch.autograd.graph import GradientEdge

__all__ = [
    "Function",
    "NestedIOFunction",
    "Variable",
    "_force_original_view_tracking",
    "_functions",
    "_unsafe_preserve_version_counter",
    "backward",
    "derivatives",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "functional",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "inference_mode",
    "is_grad_enabled",
    "is_multithreading_enabled",
    "is_view_replay_enabled",
    "kineto_available",
    "no_grad",
    "profiler",
    "set_detect_anomaly",
    "set_grad_enabled",
    "set_multithreading_enabled",
    "variable",
]

_ops._modules["profiler"] = "reftorch.autograd.record_function_ops"

is_multithreading_enabled = _C._is_multithreading_enabled
is_view_replay_enabled = _C._is_view_replay_enabled


def kineto_available() -> bool:
    """Return False, because PyTorch's library for profiling GPUs does not exist here.

    Mirrors torch/csrc/autograd/init.cpp, ``kineto_available``.
    """
    return False


SavedTensor = _C._autograd.SavedTensor
_profiler_enabled = _C._autograd._profiler_enabled
_is_checkpoint_valid = _C._is_checkpoint_valid


def _as_tuple(value: Any, length: int | None = None) -> tuple[Any, ...]:
    if value is None and length is not None:
        return (None,) * length
    if value is None or isinstance(value, graph.GradientEdge) or is_tensor_like(value):
        return (value,)
    return tuple(value)


def _inputs_tuple(inputs: Any, where: str) -> tuple[Any, ...]:
    """Return the inputs as a tuple; for a dict, the tuple of its values."""
    if isinstance(inputs, Mapping) and type(inputs) is not dict:
        raise TypeError(
            f"`inputs` argument to `{where}()` must be a dict, not {type(inputs).__name__}. "
            "Other Mapping types are not supported."
        )
    wanted = _as_tuple(inputs.values() if isinstance(inputs, dict) else inputs)
    if not wanted:
        raise RuntimeError(f"`inputs` argument to `{where}()` cannot be empty.")
    return wanted


def _root_metadata(output: Any) -> Any:
    """Return the object that has a root's shape, dtype and device: the tensor, or the metadata of an edge's node."""
    if isinstance(output, _C.TensorBase):
        return output
    if hint := _C._other_library_hint(output):
        raise TypeError(f"cannot differentiate a {type(output).__name__}{hint}")
    return output.node._input_metadata[output.output_nr]


def _make_grads(outputs: tuple[Any, ...], grads: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the gradient with which the pass starts at each output: the given gradient, or 1 for a scalar."""
    made: list[Any] = []
    for i, (output, grad) in enumerate(zip(outputs, grads, strict=False)):
        known = _root_metadata(output)
        if grad is not None:
            if not isinstance(grad, _C.TensorBase):
                raise TypeError(
                    f"gradients can be either Tensors or None, but got {type(grad).__name__}"
                    + _C._other_library_hint(grad)
                )
            if grad.shape != known.shape:
                raise RuntimeError(
                    f"Mismatch in shape: grad_output[{i}] has a shape of {grad.shape} and output[{i}] has a shape of "
                    f"{known.shape}."
                )
            made.append(grad)
        elif known is not output or output.requires_grad:
            if known.shape.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            if not known.dtype.is_floating_point:
                raise RuntimeError(f"grad can be implicitly created only for real scalar outputs but got {known.dtype}")
            if known is output:  # the gradient of a wrapper subclass is a wrapper too
                made.append(_C._VariableFunctions.ones_like(output))
            else:
                made.append(_C._VariableFunctions.ones(known.shape, dtype=known.dtype, device=known.device))
        else:
            made.append(None)
    return tuple(made)


def _check_batched(outputs: tuple[Any, ...], grads: tuple[Any, ...]) -> None:
    for i, (output, grad) in enumerate(zip(outputs, grads, strict=True)):
        shape = _root_metadata(output).shape
        if grad is not None and tuple(grad.shape[1:]) != tuple(shape):
            raise RuntimeError(
                "If `is_grads_batched=True`, we interpret the first dimension of each grad_output as the batch "
                "dimension. The sizes of the remaining dimensions are expected to match the shape of corresponding "
                f"output, but a mismatch was detected: grad_output[{i}] has a shape of {grad.shape} and output[{i}] "
                f"has a shape of {shape}. If you only want some tensors in `grad_output` to be considered "
                "batched, consider using vmap."
            )


_CYCLE_WARNING = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
    "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
    "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break the "
    "cycle and avoid the leak."
)


def _from_grad_variables(grad_variables: Any, grad_tensors: Any) -> Any:
    warn("`grad_variables` is deprecated. Use `grad_tensors` instead.", FutureWarning)
    if grad_tensors is not None:
        raise RuntimeError(
            "`grad_tensors` and `grad_variables` (deprecated) arguments both passed to `backward()`. "
            "Please only use `grad_tensors`."
        )
    return grad_variables


def backward(
    tensors: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    grad_tensors: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Tensor | Sequence[Tensor | None] | None = None,
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | dict[str, Tensor] | None = None,
) -> None:
    r"""Add to the ``grad`` of every leaf its gradient with respect to the sum of the given tensors.

    For tensors :math:`y_i` and gradients :math:`v_i`, a leaf :math:`x` receives
    :math:`\sum_i v_i^\top \partial y_i / \partial x`.

    Args:
        tensors: the tensors to differentiate.
        grad_tensors: for each tensor, a gradient of its shape; None stands for 1 if the tensor is a scalar.
        retain_graph: keep the tensors that the graph saved, so that the graph can be used again (default:
            ``create_graph``).
        create_graph: record the backward pass, so that gradients can be differentiated. Then each leaf and its ``grad``
            form a reference cycle, about which a warning is issued once; :func:`grad` makes no cycle.
        grad_variables: the former name of ``grad_tensors``; its use issues a FutureWarning.
        inputs: accumulate only into these tensors, which need not be leaves; a dict stands for its values.

    Raises:
        RuntimeError: a tensor has no graph, its graph was freed, or the gradient of a non-scalar is missing; or the
            call is inside a function that vmap or another transform runs.
        TypeError: a gradient is not a tensor, or ``inputs`` is a mapping other than a dict.

    Example:
        >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
        >>> torch.autograd.backward([x * x, 3 * x], [torch.ones(2), torch.ones(2)])
        >>> x.grad
        tensor([5., 7.])

    Mirrors torch/autograd/__init__.py, ``backward``.
    """
    if _C._functorch.maybe_current_level() is not None:
        raise RuntimeError(
            "backward() called inside a functorch transform. This is not supported, please use functorch.grad or "
            "functorch.vjp instead or call backward() outside of functorch transforms."
        )
    if grad_variables is not None:
        grad_tensors = _from_grad_variables(grad_variables, grad_tensors)
    wanted = () if inputs is None else _inputs_tuple(inputs, "backward")
    roots = _as_tuple(tensors)
    grads = _make_grads(roots, _as_tuple(grad_tensors, len(roots)))
    keep = create_graph if retain_graph is None else retain_graph
    if create_graph:
        _warn_once(_CYCLE_WARNING)
    _C._run_backward(roots, grads, keep, create_graph, wanted, allow_unreachable=True, accumulate_grad=True)


def grad(
    outputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge],
    inputs: Tensor | GradientEdge | Sequence[Tensor | GradientEdge] | dict[str, Tensor],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> Any:
    r"""Return the gradients of the sum of ``outputs`` with respect to ``inputs``. No ``grad`` is changed.

    Args:
        outputs: the tensors to differentiate.
        inputs: any tensors of the graph; a dict of tensors gives a dict of gradients.
        grad_outputs: for each output, a gradient of its shape; None stands for 1 if the output is a scalar.
        retain_graph: keep the tensors that the graph saved, so that the graph can be used again (default:
            ``create_graph``).
        create_graph: record the pass, so that the result can be differentiated.
        only_inputs: accepted for old programs; False has no effect and issues a FutureWarning.
        allow_unused: return None for an input on which the outputs do not depend (default: ``materialize_grads``).
        is_grads_batched: the first dimension of ``grad_outputs`` is a batch dimension, and so is that of the results.
            One pass computes all rows, by :func:`vmap <reftorch.vmap>`.
        materialize_grads: return zeros instead of None.

    Returns:
        A tuple, one gradient for each input; for a dict of inputs, a dict with its keys.

    Raises:
        RuntimeError: as for :func:`backward`; or an input was not used and ``allow_unused`` is False.
        TypeError: as for :func:`backward`.
        ValueError: ``materialize_grads`` with ``allow_unused=False``.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> (first,) = torch.autograd.grad(x * x * x, x, create_graph=True)
        >>> (second,) = torch.autograd.grad(first, x)
        >>> first.item(), second.item()
        (27.0, 18.0)

    Mirrors torch/autograd/__init__.py, ``grad``.
    """
    if materialize_grads and allow_unused is False:
        raise ValueError(
            "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False."
        )
    allow_unreachable = materialize_grads if allow_unused is None else allow_unused
    roots, wanted = _as_tuple(outputs), _inputs_tuple(inputs, "grad")
    if has_torch_function((*roots, *wanted)):
        return handle_torch_function(
            grad,
            (*roots, *wanted),
            roots,
            wanted,
            grad_outputs=grad_outputs,
            retain_graph=retain_graph,
            create_graph=create_graph,
            only_inputs=only_inputs,
            allow_unused=allow_unused,
            is_grads_batched=is_grads_batched,
            materialize_grads=materialize_grads,
        )
    if not only_inputs:
        warn(
            "only_inputs argument is deprecated and is ignored now (defaults to True). To accumulate gradient for "
            "other parts of the graph, please use torch.autograd.backward.",
            FutureWarning,
        )
    keep = create_graph if retain_graph is None else retain_graph

    def run(*starts: Any) -> Any:
        grads = _make_grads(roots, starts)
        return _C._run_backward(roots, grads, keep, create_graph, wanted, allow_unreachable, accumulate_grad=False)

    starts = _as_tuple(grad_outputs, len(roots))
    if is_grads_batched:
        _check_batched(roots, starts)
        result = batched_pass(run, starts)
    else:
        result = run(*starts)
    if materialize_grads:
        zeros_like = _C._VariableFunctions.zeros_like
        if any(r is None and not isinstance(i, _C.TensorBase) for r, i in zip(result, wanted, strict=True)):
            raise RuntimeError("materialize_grads cannot be used when the given input is a GradientEdge")
        result = tuple(
            zeros_like(i, requires_grad=create_graph) if r is None else r for r, i in zip(result, wanted, strict=True)
        )
    return dict(zip(inputs, result, strict=True)) if isinstance(inputs, dict) else result
