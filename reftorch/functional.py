"""Functions that need Python because they take more than a schema can say.

Mirrors: torch/functional.py, torch/csrc/utils/tensor_new.cpp, and is_tensor, is_storage, set_default_dtype of
torch/__init__.py
Leaves out: stft, cdist and the other composites that are not there yet.
"""

from __future__ import annotations

from typing import Any

from reftorch import _C, _utils
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable
from reftorch._warnings import warn
from reftorch.storage import TypedStorage, UntypedStorage
from reftorch.utils.dlpack import from_dlpack

__all__ = [
    "as_tensor", "asarray", "frombuffer", "imag", "is_complex", "is_conj", "is_inference", "is_neg", "is_same_size",
    "is_signed", "is_storage", "is_tensor", "nonzero", "norm", "range", "result_type", "set_default_dtype", "unique",
    "unique_consecutive",
]  # fmt: skip


def is_tensor(obj: Any, /) -> bool:
    """Return whether ``obj`` is a tensor.

    Example:
        >>> import reftorch as torch
        >>> torch.is_tensor(torch.ones(1)), torch.is_tensor([1.0])
        (True, False)

    Mirrors torch/__init__.py, ``is_tensor``.
    """
    return isinstance(obj, Tensor)


def as_tensor(data: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Return ``data`` as a tensor, sharing its memory where it can.

    A tensor of the right dtype and device is returned as it is, with its history; an array of numpy keeps its memory;
    anything else is copied.

    Args:
        data: tensor, array, number or nested sequence of numbers.
        dtype: the dtype of the result; inferred from ``data`` by default.
        device: the device of the result.

    Example:
        >>> import numpy as np, reftorch as torch
        >>> array = np.zeros(3)
        >>> torch.as_tensor(array)[0] = 1
        >>> array
        array([1., 0., 0.])

    Mirrors torch/csrc/utils/tensor_new.cpp, ``as_tensor``.
    """
    if isinstance(data, Tensor):
        result = data
    elif type(data).__module__ == "numpy" and type(data).__name__ == "ndarray":
        result = _C.from_numpy(data)
    elif hasattr(data, "__dlpack__"):
        result = from_dlpack(data)
    else:
        return _C.tensor(data, dtype=dtype, device=device)
    return result.to(device=device, dtype=dtype if dtype is not None else result.dtype)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool | None = None
) -> Tensor:
    """Return ``obj`` as a tensor, sharing its memory where it can and may.

    Args:
        obj: tensor, array, object with the buffer protocol, number or nested sequence of numbers.
        dtype: the dtype of the result; that of ``obj`` by default. The bytes of a buffer are read as this dtype.
        device: the device of the result.
        copy: True copies always, False never; None where there is no other way.
        requires_grad: whether the result requires a gradient; as ``obj`` does by default.

    Raises:
        ValueError: ``copy`` is False and the memory cannot be shared.

    Example:
        >>> import numpy as np, reftorch as torch
        >>> array = np.zeros(3)
        >>> torch.asarray(array)[0] = 1
        >>> array
        array([1., 0., 0.])
        >>> torch.asarray(array, dtype=torch.float32, copy=False)
        Traceback (most recent call last):
            ...
        ValueError: can't alias tensor with dtype 'Double' into dtype 'Float'.

    Mirrors torch/csrc/utils/tensor_new.cpp, ``asarray``.
    """
    source = _on_memory_of(obj, dtype)
    if source is None:
        if copy is False:
            raise ValueError("can't alias arbitrary sequence into a tensor.")
        return _C.tensor(obj, dtype=dtype, device=device, requires_grad=bool(requires_grad))
    wanted = source.dtype if dtype is None else dtype
    place = source.device if device is None else _C.device(device)
    if requires_grad and not wanted.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    if copy is False and place != source.device:
        raise ValueError(f"can't alias tensor from device '{source.device}' to '{place}'.")
    if copy is False and wanted != source.dtype:
        have, want = _utils.scalar_type_name(source.dtype), _utils.scalar_type_name(wanted)
        raise ValueError(f"can't alias tensor with dtype '{have}' into dtype '{want}'.")
    result = source.to(device=place, dtype=wanted, copy=bool(copy))
    if requires_grad is False and result.requires_grad:
        return result.detach()
    return result.requires_grad_() if requires_grad else result


def _on_memory_of(obj: Any, dtype: Any) -> Tensor | None:
    """``obj`` as a tensor that shares its memory; None where it has none to share."""
    if isinstance(obj, Tensor):
        return obj
    if type(obj).__module__ == "numpy":
        return _C.from_numpy(obj) if type(obj).__name__ == "ndarray" else None
    if hasattr(obj, "__dlpack__"):
        return from_dlpack(obj)
    try:
        memoryview(obj)
    except TypeError:
        return None
    return frombuffer(obj, dtype=_C.get_default_dtype() if dtype is None else dtype)


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """Return a one-dimensional tensor on the memory of an object with Python's buffer protocol.

    Args:
        buffer: such as a bytearray or an array.array; it lives as long as the tensor does.
        dtype: how its bytes are read.
        count: how many elements; a negative number means all there are.
        offset: how many bytes to skip.
        requires_grad: whether the result requires a gradient.

    Raises:
        ValueError: the bytes do not suffice, or are no whole number of elements.

    Example:
        >>> import reftorch as torch
        >>> data = bytearray(b"\\x01\\x00\\x02\\x00")
        >>> torch.frombuffer(data, dtype=torch.int16)
        tensor([1, 2], dtype=torch.int16)

    Mirrors torch/csrc/utils/tensor_new.cpp, ``tensor_frombuffer``.
    """
    if requires_grad and not dtype.is_floating_point:
        raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
    result = _C._frombuffer(buffer, dtype, count, offset)
    return result.requires_grad_() if requires_grad else result


def range(*args: Any, **kwargs: Any) -> Tensor:
    """Return the numbers from ``start`` to ``end``, both included, in steps of ``step``; use :func:`arange` instead.

    Args:
        args: ``start=0``, ``end`` and ``step=1``.
        kwargs: ``dtype``, ``device``, ``requires_grad`` and ``out``.

    Raises:
        RuntimeError: ``step`` is zero or leads away from ``end``.

    Example:
        >>> import warnings, reftorch as torch
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     torch.range(1, 2, 0.5)
        tensor([1.0000, 1.5000, 2.0000])

    Mirrors aten/src/ATen/native/RangeFactories.cpp, ``range``.
    """
    warn(
        "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
        "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).",
        UserWarning,
    )
    return _C._VariableFunctions.range(*args, **kwargs)


@overridable
def imag(input: Tensor) -> Tensor:
    """Refuse: no tensor here is complex, and PyTorch has no imaginary part of a real one.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")


# --- what a tensor is ------------------------------------------------------------------------------------------------


def is_storage(obj: Any, /) -> bool:
    """Return whether ``obj`` is a tensor's storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


@overridable
def is_complex(input: Tensor) -> bool:
    """Return whether the elements are complex numbers: there are none here."""
    return input.is_complex()


@overridable
def is_signed(input: Tensor) -> bool:
    """Return whether the dtype of ``input`` has negative numbers.

    Example:
        >>> import reftorch as torch
        >>> torch.is_signed(torch.ones(1)), torch.is_signed(torch.ones(1, dtype=torch.uint8))
        (True, False)
    """
    return input.is_signed()


@overridable
def is_conj(input: Tensor) -> bool:
    """Return whether ``input`` is a conjugate view: never, without complex numbers."""
    return False


@overridable
def is_inference(input: Tensor) -> bool:
    """Return whether ``input`` is an inference tensor, made in :class:`inference_mode`.

    Example:
        >>> import reftorch as torch
        >>> with torch.inference_mode():
        ...     torch.is_inference(torch.ones(1))
        True
    """
    return input.is_inference()


@overridable
def is_neg(input: Tensor) -> bool:
    """Return whether ``input`` is a negated view: never, without complex numbers."""
    return False


@overridable
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether the two have the same shape.

    Example:
        >>> import reftorch as torch
        >>> torch.is_same_size(torch.ones(2, 3), torch.ones(3))
        False
    """
    return input.shape == other.shape


_RESULT_TYPE_NAMES = (("tensor", "other"), ("scalar", "tensor"), ("scalar1", "scalar2"))


def result_type(*args: Any, **kwargs: Any) -> Any:
    """Return the dtype that an arithmetic op on the two would have.

    Args:
        args: two tensors or numbers.
        kwargs: the same by name: ``tensor`` and ``other``, ``scalar`` and ``tensor``, or ``scalar1`` and ``scalar2``.

    Example:
        >>> import reftorch as torch
        >>> torch.result_type(torch.tensor([1, 2], dtype=torch.int), 1.0)
        torch.float32

    Mirrors aten/src/ATen/native/TypeProperties.cpp, ``result_type``.
    """
    for names in _RESULT_TYPE_NAMES:
        operands = [*args, *(kwargs[name] for name in names[len(args) :] if name in kwargs)]
        if len(operands) == 2 == len(args) + len(kwargs) and all(isinstance(o, (Tensor, int, float)) for o in operands):
            return _C._result_type(*operands)
    got = ", ".join([*(type(a).__name__ for a in args), *(f"{k}={type(v).__name__}" for k, v in kwargs.items())])
    raise TypeError(
        f"result_type() received an invalid combination of arguments - got ({got}), but expected one of: "
        "(Tensor tensor, Tensor other), (Number scalar, Tensor tensor), (Tensor tensor, Number other), "
        "(Number scalar1, Number scalar2)"
    )


def set_default_dtype(d: Any, /) -> None:
    """Set the dtype that floats get where none is given.

    Args:
        d: a floating-point dtype; float32 to begin with.

    Raises:
        TypeError: ``d`` is not a floating-point dtype.

    Example:
        >>> import reftorch as torch
        >>> torch.set_default_dtype(torch.float64)
        >>> torch.tensor(1.5).dtype
        torch.float64
        >>> torch.set_default_dtype(torch.float32)

    Mirrors torch/__init__.py, ``set_default_dtype``.
    """
    _C._set_default_dtype(d)


@overridable
def nonzero(input: Tensor, *, out: Tensor | None = None, as_tuple: bool = False) -> Any:
    """Return the coordinates of the elements that are not zero, in order.

    Args:
        input: any tensor, of n dimensions.
        out: where the coordinates go, int64.
        as_tuple: return n vectors, one for each dimension, which together are an index of ``input``.

    Returns:
        A matrix of shape (count, n), or a tuple of n vectors.

    Example:
        >>> import reftorch as torch
        >>> torch.nonzero(torch.tensor([[0, 1], [2, 0]]))
        tensor([[0, 1],
                [1, 0]])

    Mirrors tools/autograd/templates/python_torch_functions.cpp, ``THPVariable_nonzero``.
    """
    if as_tuple and out is not None:
        raise TypeError("nonzero() takes no out= together with as_tuple=True")
    return input.nonzero(as_tuple=as_tuple) if out is None else _C._VariableFunctions.nonzero(input, out=out)


@overridable
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
) -> Any:
    """Return the distinct elements, or the distinct slices along ``dim``, in ascending order.

    Args:
        input: any tensor.
        sorted: without it the order may be any; here it is the same.
        return_inverse: also return which of them each element is: of the shape of ``input``, or of its size at ``dim``.
        return_counts: also return how often each occurs.
        dim: compare slices along this dimension instead of elements.

    Returns:
        The distinct ones, or a tuple of them, the inverse and the counts, as far as asked for.

    Example:
        >>> import reftorch as torch
        >>> torch.unique(torch.tensor([3, 1, 3]), return_counts=True)
        (tensor([1, 3]), tensor([1, 2]))

    Mirrors torch/functional.py, ``unique``.
    """
    return input.unique(sorted, return_inverse, return_counts, dim)


@overridable
def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """Return ``input`` without the elements, or slices along ``dim``, that equal the one before them.

    Args:
        input: any tensor.
        return_inverse: also return which of the results each element is.
        return_counts: also return how long each run is.
        dim: compare slices along this dimension instead of elements.

    Returns:
        What is left, or a tuple of it, the inverse and the counts, as far as asked for.

    Example:
        >>> import reftorch as torch
        >>> torch.unique_consecutive(torch.tensor([3, 3, 1, 3]))
        tensor([3, 1, 3])

    Mirrors torch/functional.py, ``unique_consecutive``.
    """
    return input.unique_consecutive(return_inverse, return_counts, dim)


@overridable
def norm(
    input: Tensor,
    p: float | str | None = "fro",
    dim: Any = None,
    keepdim: bool = False,
    out: Tensor | None = None,
    dtype: Any = None,
) -> Tensor:
    r"""Return the norm :math:`(\sum |x|^p)^{1/p}` of all elements, or along ``dim``.

    Args:
        input: floating-point tensor.
        p: any number, ``inf`` for the largest, ``-inf`` for the smallest, 0 for how many are not zero; ``"fro"`` is 2;
            ``"nuc"`` is the sum of a matrix's singular values.
        dim: dimension or dimensions that go; all by default.
        keepdim: keep them, with size 1.
        out: where the result goes.
        dtype: what to compute in.

    Raises:
        RuntimeError: ``input`` holds integers, or has no element to take the largest or smallest of.

    Example:
        >>> import reftorch as torch
        >>> torch.norm(torch.tensor([[3.0, 4.0], [0.0, 2.0]]), dim=1)
        tensor([5., 2.])

    Mirrors torch/functional.py, ``norm``.
    """
    result = input.norm(p, dim, keepdim, dtype)
    if out is None:
        return result
    if out.dtype != result.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {result.dtype}, but got {out.dtype} instead")
    return out.resize_(result.shape).copy_(result)
