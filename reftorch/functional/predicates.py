"""Questions about tensors and their dtypes, and the default dtype.

Mirrors: torch/functional.py, and is_tensor, is_storage, set_default_dtype of torch/__init__.py
"""

from __future__ import annotations

from typing import Any

from reftorch import _C
from reftorch._tensor import Tensor
from reftorch._torch_function import overridable_as_called
from reftorch.storage import TypedStorage, UntypedStorage

__all__ = [
    "imag", "is_complex", "is_conj", "is_inference", "is_neg", "is_same_size", "is_signed", "is_storage", "is_tensor",
    "result_type", "set_default_dtype",
]  # fmt: skip


def is_tensor(obj: Any, /) -> bool:
    """Return whether ``obj`` is a tensor.

    Example:
        >>> torch.is_tensor(torch.ones(1)), torch.is_tensor([1.0])
        (True, False)

    Mirrors torch/__init__.py, ``is_tensor``.
    """
    return isinstance(obj, Tensor)


@overridable_as_called
def imag(input: Tensor) -> Tensor:
    """Raise an error: no tensor here is complex, and in PyTorch too a real tensor has no imaginary part.

    Raises:
        RuntimeError: always.
    """
    raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")


def is_storage(obj: Any, /) -> bool:
    """Return whether ``obj`` is a tensor's storage."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


@overridable_as_called
def is_complex(input: Tensor) -> bool:
    """Return whether the elements are complex numbers: always False here."""
    return input.is_complex()


@overridable_as_called
def is_signed(input: Tensor) -> bool:
    """Return whether the dtype of ``input`` can hold negative numbers.

    Example:
        >>> torch.is_signed(torch.ones(1)), torch.is_signed(torch.ones(1, dtype=torch.uint8))
        (True, False)
    """
    return input.is_signed()


@overridable_as_called
def is_conj(input: Tensor) -> bool:
    """Return whether ``input`` is a conjugate view: always False, because there are no complex numbers."""
    return False


@overridable_as_called
def is_inference(input: Tensor) -> bool:
    """Return whether ``input`` is an inference tensor: one that was made in :class:`inference_mode`.

    Example:
        >>> with torch.inference_mode():
        ...     torch.is_inference(torch.ones(1))
        True
    """
    return input.is_inference()


@overridable_as_called
def is_neg(input: Tensor) -> bool:
    """Return whether ``input`` is a negated view: always False, because there are no complex numbers."""
    return False


@overridable_as_called
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether ``input`` and ``other`` have the same shape.

    Example:
        >>> torch.is_same_size(torch.ones(2, 3), torch.ones(3))
        False
    """
    return input.shape == other.shape


_RESULT_TYPE_NAMES = (("tensor", "other"), ("scalar", "tensor"), ("scalar1", "scalar2"))


@overridable_as_called
def result_type(*args: Any, **kwargs: Any) -> Any:
    """Return the dtype of the result of an arithmetic op on two arguments.

    Args:
        args: two tensors or numbers.
        kwargs: the two by name: ``tensor`` and ``other``, ``scalar`` and ``tensor``, or ``scalar1`` and ``scalar2``.

    Example:
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
    """Set the dtype of floating-point tensors for which no dtype is given.

    Args:
        d: a floating-point dtype. The default is float32 until this function is called.

    Raises:
        TypeError: ``d`` is not a floating-point dtype.

    Example:
        >>> torch.set_default_dtype(torch.float64)
        >>> torch.tensor(1.5).dtype
        torch.float64
        >>> torch.set_default_dtype(torch.float32)

    Mirrors torch/__init__.py, ``set_default_dtype``.
    """
    _C._set_default_dtype(d)
