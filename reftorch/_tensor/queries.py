"""Methods of a tensor that need no op: Python functions over its elements, and questions of which the answer is fixed.

Mirrors: torch/_tensor.py (dim_order, resize), torch/csrc/autograd/python_variable.cpp (is_sparse, is_quantized, ...),
tools/autograd/templates/python_variable_methods.cpp (apply_, map_, map2_, get_device)
Leaves out: pinned memory, shared memory: the questions about them say no.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from reftorch import _C
from reftorch._tensor.types import legacy_new
from reftorch._utils import typename
from reftorch._warnings import warn


class _TensorQueries:
    """What :class:`reftorch.Tensor` has from here."""

    def apply_(self: Any, callable: Callable[[Any], Any]) -> Any:
        """Replace each element by what ``callable`` makes of it, in Python: slow.

        Raises:
            RuntimeError: the tensor requires a gradient, of which Python functions have none.
        """
        _refuse_gradient("apply_", self)
        values = [callable(value) for value in self.reshape(-1).tolist()]
        return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))

    def map_(self: Any, tensor: Any, callable: Callable[[Any, Any], Any]) -> Any:
        """Replace each element by what ``callable`` makes of it and of ``tensor``'s, in Python: slow.

        Raises:
            RuntimeError: a tensor requires a gradient, or ``tensor`` does not broadcast to this one's shape.
            TypeError: they differ in dtype.
        """
        return _map("map_", self, {"'other'": tensor}, callable)

    def map2_(self: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
        """Replace each element by what ``callable`` makes of it and of those of ``x`` and ``y``, in Python: slow.

        Raises:
            RuntimeError: a tensor requires a gradient, or ``x`` or ``y`` does not broadcast to this one's shape.
            TypeError: they differ in dtype.

        Example:
            >>> import reftorch as torch
            >>> torch.zeros(2).map2_(torch.ones(2), torch.tensor([3.0, 4.0]), lambda a, b, c: b + c)
            tensor([4., 5.])

        Mirrors torch/csrc/utils/tensor_apply.cpp, ``map2_``.
        """
        return _map("map2_", self, {"argument 'x'": x, "argument 'y'": y}, callable)

    def dim_order(self: Any, *, ambiguity_check: bool | Sequence[Any] = False) -> tuple[int, ...]:
        """The dimensions in the order in which they lie in memory, the slowest first.

        Args:
            ambiguity_check: refuse a tensor that could be read in several orders, because of dimensions of size 1 or
                steps of 0; or a list of memory formats, of which just one must fit.

        Raises:
            RuntimeError: the check failed.

        Example:
            >>> import reftorch as torch
            >>> torch.zeros(2, 3).dim_order(), torch.zeros(2, 3).t().dim_order()
            ((0, 1), (1, 0))

        Mirrors torch/_tensor.py, ``Tensor.dim_order``.
        """
        sizes, strides = self.shape, self.stride()
        if ambiguity_check and self.dim() > 0:
            if ambiguity_check is True:
                steps = [stride for size, stride in zip(sizes, strides, strict=True) if size != 1]
                clear = 1 not in sizes and 0 not in steps and len(set(steps)) == len(steps)
            else:
                clear = sum(self.is_contiguous(memory_format=each) for each in ambiguity_check) == 1
            if not clear:
                raise RuntimeError(
                    "The tensor does not have unique dim order, or cannot map to exact one of the given memory formats."
                )
        order = list(range(self.dim()))
        for i in range(1, len(order)):  # insertion sort, in which a dimension of size 1 stands where it was
            at = i
            for before in range(i - 1, -1, -1):
                slow, fast = order[before], order[at]
                if 0 in (strides[slow], strides[fast]) or strides[slow] == strides[fast]:
                    continue
                if strides[slow] > strides[fast]:
                    break
                order[before], order[at] = fast, slow
                at = before
        return tuple(order)

    def get_device(self: Any) -> int:
        """The number of the CUDA device, -1 on the CPU."""
        return -1 if self.device.index is None else self.device.index

    def is_pinned(self) -> bool:
        """Whether the memory is pinned: never."""
        return False

    def is_shared(self: Any) -> bool:
        """Whether the memory goes on being shared with processes that are forked: see :meth:`Tensor.share_memory_`."""
        return self.untyped_storage().is_shared()

    @property
    def is_sparse(self) -> bool:
        """Whether only elements other than zero are stored: never."""
        return False

    @property
    def is_quantized(self) -> bool:
        """Whether the elements are quantized: never."""
        return False

    @property
    def is_sparse_csr(self) -> bool:
        """Whether only elements other than zero are stored, row by row: never."""
        return False

    @property
    def is_nested(self) -> bool:
        """Whether this is a list of tensors of several shapes: never."""
        return False

    @property
    def is_mkldnn(self) -> bool:
        """Whether the memory is laid out for oneDNN: never."""
        return False

    @property
    def is_mps(self) -> bool:
        """Whether this lies on an Apple GPU: never."""
        return False

    @property
    def is_xpu(self) -> bool:
        """Whether this lies on an Intel GPU: never."""
        return False

    @property
    def is_xla(self) -> bool:
        """Whether this belongs to XLA: never."""
        return False

    @property
    def is_vulkan(self) -> bool:
        """Whether this lies with Vulkan: never."""
        return False

    @property
    def is_ipu(self) -> bool:
        """Whether this lies on a Graphcore IPU: never."""
        return False

    @property
    def is_maia(self) -> bool:
        """Whether this lies on a Maia accelerator: never."""
        return False

    @property
    def is_mtia(self) -> bool:
        """Whether this lies on an MTIA accelerator: never."""
        return False

    @property
    def name(self) -> None:
        """A name that the tensor was given: none can be."""
        return None

    @property
    def volatile(self) -> bool:
        """Whether no gradients are recorded, as PyTorch once asked; removed there, and always False."""
        warn("volatile was removed (Variable.volatile is always False)")
        return False

    def is_distributed(self) -> bool:
        """Whether parts lie with several processes: never."""
        return False

    def dense_dim(self: Any) -> int:
        """How many dimensions are stored whole: all."""
        return self.dim()

    def sparse_dim(self) -> int:
        """How many dimensions are stored by their coordinates: none."""
        return 0

    def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
        """This tensor itself, or as ``dtype``: all its elements are stored already."""
        return self if dtype is None else self.to(dtype)

    # ---- old names

    def new(self: Any, *args: Any, device: Any = None) -> Any:
        """A tensor of this one's dtype: of sizes, without values; or from data. Older than :meth:`new_empty` and
        :meth:`new_tensor`, which say which of the two is meant.

        Raises:
            TypeError: the argument is neither a sequence nor sizes, or a tensor of another dtype.

        Example:
            >>> import reftorch as torch
            >>> torch.ones(2).new([1, 2]), torch.ones(2).new(1, 3).shape
            (tensor([1., 2.]), torch.Size([1, 3]))

        Mirrors torch/csrc/utils/tensor_new.cpp, ``legacy_tensor_new``.
        """
        return legacy_new(self.dtype, *args, device=device)

    def resize(self: Any, *sizes: Any) -> Any:
        """This tensor in another shape, as :meth:`reshape` gives it. Deprecated, as in PyTorch.

        Raises:
            RuntimeError: the shape has another number of elements.
        """
        warn("non-inplace resize is deprecated")
        return _resized(self, sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)

    def resize_as(self: Any, tensor: Any) -> Any:
        """This tensor in the shape of another one. Deprecated, as in PyTorch: use :meth:`view_as`.

        Raises:
            RuntimeError: the other has another number of elements.
        """
        warn("non-inplace resize_as is deprecated")
        return _resized(self, tensor.shape)


def _map(name: str, self: Any, others: dict[str, Any], callable: Callable[..., Any]) -> Any:
    """Write what ``callable`` makes of the elements at each place."""
    _refuse_gradient(name, self, *others.values())
    for argument, tensor in others.items():
        if tensor.dtype != self.dtype:
            raise TypeError(
                f"{name}: expected {typename(self)} for {argument} (got {typename(tensor)}). Hint: convert it."
            )
    columns = [t.expand(self.shape).reshape(-1).tolist() for t in (self, *others.values())]
    values = [callable(*row) for row in zip(*columns, strict=True)]
    return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))


def _refuse_gradient(name: str, *tensors: Any) -> None:
    if any(tensor.requires_grad for tensor in tensors):
        raise RuntimeError(f"Can't call {name}() on Variable that requires grad. Use var.detach().{name}() instead.")


def _resized(tensor: Any, sizes: Sequence[int]) -> Any:
    count = math.prod(sizes)
    if count != tensor.numel():
        raise RuntimeError(
            f"requested resize to {'x'.join(map(str, sizes))} ({count} elements in total), but the given tensor has a "
            f"size of {'x'.join(map(str, tensor.shape))} ({tensor.numel()} elements). autograd's resize can only "
            "change the shape of a given tensor, while preserving the number of elements."
        )
    return tensor.contiguous().view(sizes)
