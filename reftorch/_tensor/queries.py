"""Methods of a tensor that need no op: Python functions over its elements, and questions with a fixed answer.

Mirrors: torch/_tensor.py (dim_order, resize), torch/csrc/autograd/python_variable.cpp (is_sparse, is_quantized, ...),
tools/autograd/templates/python_variable_methods.cpp (apply_, map_, map2_, get_device)
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
    """The methods of :class:`reftorch.Tensor` that this file defines."""

    def apply_(self: Any, callable: Callable[[Any], Any]) -> Any:
        """Replace each element x by ``callable(x)``. This runs in Python and is slow.

        Raises:
            RuntimeError: the tensor requires a gradient, and Python functions have no formula for one.
        """
        _refuse_gradient("apply_", self)
        values = [callable(value) for value in self.reshape(-1).tolist()]
        return self.copy_(_C.tensor(values, dtype=self.dtype).reshape(self.shape))

    def map_(self: Any, tensor: Any, callable: Callable[[Any, Any], Any]) -> Any:
        """Replace each element x by ``callable(x, y)``, where y is the element of ``tensor``. This is slow.

        Raises:
            RuntimeError: a tensor requires a gradient, or ``tensor`` does not broadcast to this one's shape.
            TypeError: the dtypes differ.
        """
        return _map("map_", self, {"'other'": tensor}, callable)

    def map2_(self: Any, x: Any, y: Any, callable: Callable[[Any, Any, Any], Any]) -> Any:
        """Replace each element by ``callable`` of that element and those of ``x`` and ``y``. This is slow.

        Raises:
            RuntimeError: a tensor requires a gradient, or ``x`` or ``y`` does not broadcast to this one's shape.
            TypeError: the dtypes differ.

        Example:
            >>> torch.zeros(2).map2_(torch.ones(2), torch.tensor([3.0, 4.0]), lambda a, b, c: b + c)
            tensor([4., 5.])

        Mirrors torch/csrc/utils/tensor_apply.cpp, ``map2_``.
        """
        return _map("map2_", self, {"argument 'x'": x, "argument 'y'": y}, callable)

    def dim_order(self: Any, *, ambiguity_check: bool | Sequence[Any] = False) -> tuple[int, ...]:
        """The dimensions in their order in memory: the one with the largest stride comes first.

        Args:
            ambiguity_check: True refuses a tensor whose order is ambiguous, because of dimensions of size 1 or stride
                0; a list of memory formats refuses a tensor unless exactly one of the formats fits.

        Raises:
            RuntimeError: the check failed.

        Example:
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
        for i in range(1, len(order)):  # insertion sort that keeps the place of dimensions of size 1
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
        """The index of the device that this tensor is on; -1 on the CPU and on meta."""
        return -1 if self.device.index is None else self.device.index

    def is_pinned(self: Any, device: Any = None) -> bool:
        """Whether the memory is pinned: see :meth:`Tensor.pin_memory`."""
        return _C._is_pinned(self)

    def is_shared(self: Any) -> bool:
        """Whether the memory is shared memory: see :meth:`Tensor.share_memory_`."""
        return self.untyped_storage().is_shared()

    @property
    def is_sparse(self) -> bool:
        """Whether only nonzero elements are stored: always False."""
        return False

    @property
    def is_quantized(self) -> bool:
        """Whether the elements are quantized: always False."""
        return False

    @property
    def is_sparse_csr(self) -> bool:
        """Whether only nonzero elements are stored, row by row: always False."""
        return False

    @property
    def is_nested(self) -> bool:
        """Whether this is a list of tensors of different shapes: always False."""
        return False

    @property
    def is_mkldnn(self) -> bool:
        """Whether the memory has a layout of oneDNN: always False."""
        return False

    @property
    def is_mps(self) -> bool:
        """Whether the tensor is on an Apple GPU: always False."""
        return False

    @property
    def is_xpu(self) -> bool:
        """Whether the tensor is on an Intel GPU: always False."""
        return False

    @property
    def is_xla(self) -> bool:
        """Whether the tensor is on an XLA device: always False."""
        return False

    @property
    def is_vulkan(self) -> bool:
        """Whether the tensor is on a Vulkan device: always False."""
        return False

    @property
    def is_ipu(self) -> bool:
        """Whether the tensor is on a Graphcore IPU: always False."""
        return False

    @property
    def is_maia(self) -> bool:
        """Whether the tensor is on a Maia accelerator: always False."""
        return False

    @property
    def is_mtia(self) -> bool:
        """Whether the tensor is on an MTIA accelerator: always False."""
        return False

    @property
    def name(self) -> None:
        """The name of the tensor: always None, because no op names a tensor."""
        return None

    @property
    def volatile(self) -> bool:
        """Whether no gradients are recorded: always False. PyTorch has removed this attribute too."""
        warn("volatile was removed (Variable.volatile is always False)")
        return False

    def is_distributed(self) -> bool:
        """Whether the tensor is spread over several processes: always False."""
        return False

    def dense_dim(self: Any) -> int:
        """The number of dense dimensions: all of them."""
        return self.dim()

    def sparse_dim(self) -> int:
        """The number of sparse dimensions: none."""
        return 0

    def to_dense(self: Any, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
        """This tensor itself, or converted to ``dtype``: tensors here are always dense."""
        return self if dtype is None else self.to(dtype)

    # ---- old names

    def new(self: Any, *args: Any, device: Any = None) -> Any:
        """A tensor of this tensor's dtype: sizes give uninitialized memory, data gives a tensor with that data.

        The methods :meth:`new_empty` and :meth:`new_tensor` are newer and tell the two cases apart.

        Raises:
            TypeError: the argument is neither a sequence nor sizes, or is a tensor of another dtype.

        Example:
            >>> torch.ones(2).new([1, 2]), torch.ones(2).new(1, 3).shape
            (tensor([1., 2.]), torch.Size([1, 3]))

        Mirrors torch/csrc/utils/tensor_new.cpp, ``legacy_tensor_new``.
        """
        return legacy_new(self.dtype, self.device, *args, device=device)

    def resize(self: Any, *sizes: Any) -> Any:
        """This tensor in another shape, as :meth:`reshape` gives it. Deprecated, as in PyTorch.

        Raises:
            RuntimeError: the shape has another number of elements.
        """
        warn("non-inplace resize is deprecated")
        return _resized(self, sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], int) else sizes)

    def resize_as(self: Any, tensor: Any) -> Any:
        """This tensor in the shape of ``tensor``. Deprecated, as in PyTorch: use :meth:`view_as`.

        Raises:
            RuntimeError: the tensors have different numbers of elements.
        """
        warn("non-inplace resize_as is deprecated")
        return _resized(self, tensor.shape)


def _map(name: str, self: Any, others: dict[str, Any], callable: Callable[..., Any]) -> Any:
    """Call ``callable`` with the elements at each place, and write its result there."""
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
