"""The tensor class of Python: ``_C.TensorBase``, and the methods that are easier to write in Python.

Mirrors: torch/_tensor.py
Leaves out: sparse and quantized methods. Numpy, DLPack and pickle are in reftorch/_tensor/interchange.py.
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from reftorch import _C, _places, autograd
from reftorch._tensor.interchange import _TensorInterchange
from reftorch._tensor.linalg import _TensorLinalg
from reftorch._tensor.queries import _TensorQueries
from reftorch._tensor.types import tensortype, type_named
from reftorch._torch_function import handle_torch_function, has_torch_function_unary, make_overridable
from reftorch._utils import _warn_once, typename
from reftorch._warnings import warn

if TYPE_CHECKING:
    from reftorch.utils.hooks import RemovableHandle

__all__ = ["Tensor"]

_bool = bool  # inside the class, the name `bool` is a method


class Tensor(_TensorInterchange, _TensorLinalg, _TensorQueries, _C.TensorBase):
    """An n-dimensional array of one dtype that can remember how it was made.

    Make one with :func:`reftorch.tensor`, a factory such as :func:`reftorch.zeros`, or an op.

    Example:
        >>> x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
        >>> (x * x).sum().backward()
        >>> x.grad
        tensor([[2., 4.],
                [6., 8.]])

    Mirrors torch/_tensor.py, ``Tensor``.
    """

    @classmethod
    def __torch_function__(
        cls, func: Callable[..., Any], types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Run ``func`` and convert its results to this class. Subclasses inherit this method.

        A subclass that overrides this method calls ``super()`` for the functions that it does not handle.

        Example:
            >>> class Length(torch.Tensor):
            ...     pass
            >>> type(torch.ones(2).as_subclass(Length) + 1).__name__
            'Length'

        Mirrors torch/_tensor.py, ``Tensor.__torch_function__``.
        """
        if not all(issubclass(cls, each) for each in types):
            return NotImplemented
        if _is_function_of_torch(func):
            name = getattr(func, "__name__", func)
            raise TypeError(
                f"{name}(): this is PyTorch's function, but a tensor of reftorch came in. Hint: the program uses torch "
                "and reftorch. Import one of them only, or convert tensors with torch.from_dlpack(x)"
            )
        with _C.DisableTorchFunctionSubclass():
            result = func(*args, **(kwargs or {}))
        return result if cls is Tensor or func in _nowrap_functions() else _convert(result, cls)

    # Subclasses inherit that they do not handle ops; see reftorch/utils/_python_dispatch.py.
    __torch_dispatch__ = _C._disabled_torch_dispatch_impl

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        if has_torch_function_unary(self):
            return handle_torch_function(Tensor.__repr__, (self,), self, tensor_contents=tensor_contents)
        from reftorch import _tensor_str

        return _tensor_str._str(self, tensor_contents=tensor_contents)

    def __format__(self, format_spec: str) -> str:
        if self.dim() == 0 and type(self) is Tensor:
            return self.item().__format__(format_spec)
        return object.__format__(self, format_spec)

    # ---- autograd

    def backward(
        self,
        gradient: Tensor | None = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        inputs: Sequence[Tensor] | Tensor | None = None,
    ) -> None:
        r"""Compute the gradient of this tensor with respect to the leaves of its graph, and add it to their ``grad``.

        The gradient of a leaf :math:`x` is the vector-Jacobian product :math:`v^\top \partial y / \partial x` with
        :math:`v` = ``gradient``.

        Args:
            gradient: tensor of this tensor's shape; a scalar needs none, because its gradient is 1.
            retain_graph: keep the tensors that the graph saved, so that the graph can be used again (default:
                ``create_graph``).
            create_graph: record the backward pass, so that gradients can be differentiated.
            inputs: accumulate into these tensors only.

        Raises:
            RuntimeError: the tensor has no graph, is not a scalar and has no ``gradient``, or its graph was freed.

        Example:
            >>> x = torch.ones(2, requires_grad=True)
            >>> (3 * x).backward(torch.tensor([1.0, 10.0]))
            >>> x.grad
            tensor([ 3., 30.])

        Mirrors torch/_tensor.py, ``Tensor.backward``.
        """
        if has_torch_function_unary(self):
            return handle_torch_function(
                Tensor.backward,
                (self,),
                self,
                gradient=gradient,
                retain_graph=retain_graph,
                create_graph=create_graph,
                inputs=inputs,
            )
        autograd.backward(self, gradient, retain_graph, create_graph, inputs=inputs)

    def register_hook(self, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
        """Call ``hook(grad)`` whenever a gradient with respect to this tensor has been computed.

        Args:
            hook: takes the gradient; if the hook returns a tensor, that tensor replaces the gradient.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Raises:
            RuntimeError: the tensor does not require a gradient.

        Example:
            >>> x = torch.ones(2, requires_grad=True)
            >>> handle = x.register_hook(lambda grad: 2 * grad)
            >>> x.sum().backward()
            >>> x.grad
            tensor([2., 2.])

        Mirrors torch/_tensor.py, ``Tensor.register_hook``.
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        return autograd.graph._register_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> RemovableHandle:
        """Call ``hook(tensor)`` after a gradient has been added to the ``grad`` of this leaf.

        Args:
            hook: takes the tensor.

        Returns:
            A handle whose ``remove()`` removes the hook.

        Raises:
            RuntimeError: the tensor does not require a gradient or is not a leaf.

        Example:
            >>> x = torch.ones(1, requires_grad=True)
            >>> _ = x.register_post_accumulate_grad_hook(lambda leaf: print(leaf.grad))
            >>> x.sum().backward()
            tensor([1.])

        Mirrors torch/_tensor.py, ``Tensor.register_post_accumulate_grad_hook``.
        """
        if not self.requires_grad:
            raise RuntimeError("cannot register a hook on a tensor that doesn't require gradient")
        if self.grad_fn is not None:
            raise RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")
        return autograd.graph._register_post_accumulate_grad_hook(self, hook)

    # ---- ops whose method takes its arguments in a different order than the function

    def polygamma(self, n: int) -> Tensor:
        """The ``n``-th derivative of :func:`reftorch.digamma`; see :func:`reftorch.polygamma`."""
        return _C._VariableFunctions.polygamma(n, self)

    # ---- names that programs call although Python's operators do not need them

    def __div__(self, other: Any) -> Tensor:
        return self / other

    def __idiv__(self, other: Any) -> Tensor:
        return self.div_(other)

    def __rdiv__(self, other: Any) -> Tensor:
        return other / self

    def __complex__(self) -> complex:
        return complex(self.item())

    def is_conj(self) -> _bool:
        """Whether this is a conjugate view: always False, because there are no complex numbers."""
        return False

    def is_neg(self) -> _bool:
        """Whether this is a negated view: always False, because there are no complex numbers."""
        return False

    def is_same_size(self, other: Tensor) -> _bool:
        """Whether ``other`` has this tensor's shape."""
        return self.shape == other.shape

    @property
    def real(self) -> Tensor:
        """The tensor itself, because its numbers are real."""
        return self

    @property
    def imag(self) -> Tensor:
        """Raise an error, as PyTorch does for real numbers.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")

    # ---- Python's protocols

    def __iter__(self) -> Iterator[Tensor]:
        if self.dim() == 0:
            raise TypeError("iteration over a 0-d tensor")
        return iter(self.unbind(0))

    def __reversed__(self) -> Tensor:
        return self if self.dim() == 0 else self.flip(0)

    def __contains__(self, element: Any) -> _bool:
        if isinstance(element, (Tensor, int, float, bool)):
            return _bool((self == element).any().item())
        raise RuntimeError(f"Tensor.__contains__ only supports Tensor or scalar, but you passed in a {type(element)}.")

    # ---- methods whose arguments a schema cannot describe

    def nonzero(self, *, as_tuple: builtins.bool = False) -> Any:  # type: ignore[override]
        """The coordinates of the elements that are not zero; see :func:`reftorch.nonzero`."""
        return _C._VariableFunctions.nonzero_numpy(self) if as_tuple else super().nonzero()

    def where(self, condition: Tensor, other: Any) -> Tensor:
        """This tensor's elements where ``condition`` is true, and ``other``'s elsewhere; see :func:`reftorch.where`."""
        return _C._VariableFunctions.where(condition, self, other)

    def norm(  # type: ignore[override]
        self,
        p: Any = "fro",
        dim: Any = None,
        keepdim: builtins.bool = False,
        dtype: Any = None,
    ) -> Any:
        """The p-norm of all elements, or along ``dim``; see :func:`reftorch.norm`."""
        dims = () if dim is None else dim if isinstance(dim, tuple | list) else (dim,)
        if isinstance(p, str):
            if p != "fro" or len(dims) > 2:
                dims = tuple(range(self.dim())) if dim is None else dims
                return _C._linalg.linalg_matrix_norm(self, p, dims, keepdim, dtype=dtype)
            p = 2
        norm = _C._VariableFunctions.norm
        p = 2.0 if p is None else p
        return norm(self, p, dims, keepdim) if dtype is None else norm(self, p, dims, keepdim, dtype=dtype)

    def unique(
        self,
        sorted: builtins.bool = True,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """The distinct elements; see :func:`reftorch.unique`."""
        if dim is None:
            results = _C._VariableFunctions._unique2(self, sorted, return_inverse, return_counts)
        else:
            results = _C._VariableFunctions.unique_dim(self, dim, sorted, return_inverse, return_counts)
        return _those_asked_for(results, return_inverse, return_counts)

    def unique_consecutive(
        self,
        return_inverse: builtins.bool = False,
        return_counts: builtins.bool = False,
        dim: builtins.int | None = None,
    ) -> Any:
        """This tensor without consecutive duplicates; see :func:`reftorch.unique_consecutive`."""
        results = _C._VariableFunctions.unique_consecutive(self, return_inverse, return_counts, dim)
        return _those_asked_for(results, return_inverse, return_counts)

    # ---- geometry

    @property
    def T(self) -> Tensor:
        """A view of the tensor with its dimensions reversed: the transpose of a matrix.

        For a tensor that is not a matrix, ``T`` is deprecated, as in PyTorch: ``mT`` transposes batches of matrices.
        """
        if self.dim() == 0:
            warn("Tensor.T is deprecated on 0-D tensors. This function is the identity in these cases.")
        elif self.dim() != 2:
            _warn_once(
                "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it "
                "will throw an error in a future release. Consider `x.mT` to transpose batches of matrices or "
                "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.",
            )
        return self.numpy_T()

    @property
    def mT(self) -> Tensor:  # type: ignore[override]
        """A view of the tensor with its last two dimensions swapped.

        Raises:
            RuntimeError: the tensor has one dimension.
        """
        if self.dim() == 0:
            warn("Tensor.mT is deprecated on 0-D tensors. This function is the identity in these cases.")
        return _C.TensorBase.mT(self)

    @property
    def H(self) -> Tensor:
        """A view of the conjugate transpose of a matrix, which is the transpose because there are no complex numbers.

        Raises:
            RuntimeError: the tensor is not a matrix.
        """
        return self.matrix_H()

    @property
    def mH(self) -> Tensor:  # type: ignore[override]
        """A view with the last two dimensions swapped: the conjugate transpose of real matrices.

        Raises:
            RuntimeError: the tensor has one dimension.
        """
        return _C.TensorBase.mH(self)

    # ---- conversions

    def float(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as float32; the tensor itself if it is float32."""
        return self.to(_C.float32, memory_format=memory_format)

    def double(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as float64; the tensor itself if it is float64."""
        return self.to(_C.float64, memory_format=memory_format)

    def half(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as float16; the tensor itself if it is float16."""
        return self.to(_C.float16, memory_format=memory_format)

    def bfloat16(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as bfloat16; the tensor itself if it is bfloat16."""
        return self.to(_C.bfloat16, memory_format=memory_format)

    def long(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as int64; the tensor itself if it is int64."""
        return self.to(_C.int64, memory_format=memory_format)

    def int(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as int32; the tensor itself if it is int32."""
        return self.to(_C.int32, memory_format=memory_format)

    def short(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as int16; the tensor itself if it is int16."""
        return self.to(_C.int16, memory_format=memory_format)

    def char(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as int8; the tensor itself if it is int8."""
        return self.to(_C.int8, memory_format=memory_format)

    def byte(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as uint8; the tensor itself if it is uint8."""
        return self.to(_C.uint8, memory_format=memory_format)

    def bool(self, memory_format: Any = _C.preserve_format) -> Tensor:
        """This tensor as bool; the tensor itself if it is bool."""
        return self.to(_C.bool, memory_format=memory_format)

    def cpu(self) -> Tensor:
        """This tensor in the memory of the host; the tensor itself if it is there."""
        return self.to("cpu")

    def cuda(self, device: Any = None, non_blocking: _bool = False) -> Tensor:
        """This tensor in the memory of a GPU; the tensor itself if it is there.

        Args:
            device: the GPU; None means the current one.
            non_blocking: whether to return before the copy from pinned memory is finished.

        Raises:
            AssertionError: the build has no CUDA.
        """
        if device is not None and not isinstance(device, int) and _C.device(device).type != "cuda":
            raise RuntimeError(f"Invalid device, must be cuda device: x.cuda() got {_C.device(device)}")
        return self.to("cuda" if device is None else device, non_blocking=non_blocking)

    def type(self, dtype: Any = None, non_blocking: _bool = False) -> Any:
        """The name of this tensor's type, or this tensor converted to another type.

        Args:
            dtype: a dtype, a type such as ``torch.IntTensor``, or the name of a type; None returns the name.
            non_blocking: has no effect; PyTorch has this argument.

        Raises:
            ValueError: there is no type of that name.
            TypeError: ``dtype`` is none of these.

        Example:
            >>> torch.ones(2).type()
            'torch.FloatTensor'
            >>> torch.ones(2).type("torch.IntTensor")
            tensor([1, 1], dtype=torch.int32)

        Mirrors torch/csrc/autograd/generated/python_variable_methods.cpp, ``THPVariable_type``.
        """
        if dtype is None:
            return typename(self)
        if isinstance(dtype, str):
            named = type_named(dtype)
            if named is None:
                raise ValueError(f"invalid type: '{dtype}'")
            dtype = named
        if isinstance(dtype, tensortype):
            return self.to(dtype.device, dtype.dtype)
        if isinstance(dtype, builtins.type):
            raise ValueError(f"invalid type: '{dtype.__name__}'")
        if not isinstance(dtype, _C.dtype):
            raise TypeError(f"dtype must be a type, str, or dtype object{_C._other_library_hint(dtype)}")
        return self.to(dtype)

    def new_tensor(self, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: _bool = False) -> Tensor:
        """A tensor from ``data``, with this tensor's dtype and device unless they are given."""
        return _C.tensor(data, dtype=dtype or self.dtype, device=device or self.device, requires_grad=requires_grad)


def _those_asked_for(results: Any, return_inverse: bool, return_counts: bool) -> Any:
    values, inverse, counts = results
    asked = [values, *([inverse] if return_inverse else []), *([counts] if return_counts else [])]
    return tuple(asked) if len(asked) > 1 else values


def _convert(result: Any, cls: type) -> Any:
    """Convert tensors, also those inside tuples and lists, to a subclass."""
    if isinstance(result, Tensor) and not isinstance(result, cls):
        return result.as_subclass(cls)
    if isinstance(result, (tuple, list)):
        return type(result)(_convert(each, cls) for each in result)
    return result


@functools.cache
def _nowrap_functions() -> set[Callable[..., Any]]:
    """The getters that return a tensor stored elsewhere: their caller gets that object, not a converted one."""
    return {getattr(Tensor, name).__get__ for name in ("_base", "grad", "_grad")}


def _is_function_of_torch(func: Callable[..., Any]) -> bool:
    """Whether PyTorch calls this library: its functions know a class of tensors by ``__torch_function__`` alone."""
    owner = getattr(func, "__self__", func)  # of a property's `__get__`: the property
    module = getattr(func, "__module__", None) or getattr(getattr(owner, "__objclass__", None), "__module__", None)
    return module is not None and module.partition(".")[0] == "torch" and not _places.is_ours(module)


_places.adopt("reftorch", ("Tensor",), globals())
_C._set_tensor_class(Tensor)
for _class in (Tensor, _TensorInterchange, _TensorLinalg, _TensorQueries):
    make_overridable(_class)

_places.split(__name__, Tensor)
