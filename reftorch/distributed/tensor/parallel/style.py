"""How the matrix of a layer is divided among the ranks, and how its inputs and outputs lie.

Mirrors: torch/distributed/tensor/parallel/style.py
Leaves out: SequenceParallel and the styles that prepare inputs and outputs of other modules.

Note [Columns, then rows]
Problem: a matrix is too large for one rank. Trick: in ``y = x W^T``, rank r takes some columns of ``W^T``, which are
rows of ``weight``. It needs all of ``x``, and computes some features of ``y``. An activation such as ReLU works on
these features alone. The next layer takes the rows of its ``W^T`` that belong to these features, and computes a
summand of its output; one all_reduce adds up the summands. So two layers cost one all_reduce in the forward pass. In
the backward pass it is the other way round: the gradient of the first layer's input is a sum over the ranks. Nothing
of this is written here: the layers call ``linear`` as always, and Note [Ops on pieces] says what becomes of it.
Limits: features in the middle are never together on one rank, so nothing between the two layers may mix them, as a
normalization does.
Paper: M. Shoeybi et al.: Megatron-LM, https://arxiv.org/abs/1909.08053
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from reftorch.distributed.device_mesh import DeviceMesh
from reftorch.distributed.tensor._api import DTensor, replace_parameters
from reftorch.distributed.tensor.placement_types import Placement, Replicate, Shard

__all__ = ["ColwiseParallel", "ParallelStyle", "RowwiseParallel"]


class ParallelStyle(ABC):
    """A way to divide a module. A class of your own defines ``_apply(module, device_mesh)``.

    Mirrors torch/distributed/tensor/parallel/style.py, ``ParallelStyle``.
    """

    src_data_rank: int | None = 0

    @abstractmethod
    def _apply(self, module: Any, device_mesh: DeviceMesh) -> Any:
        """Change the module, and return it."""


class _DividedMatrix(ParallelStyle):
    """What the two styles have in common: parameters become DTensors, and hooks convert input and output."""

    linear: dict[str, Placement]
    embedding: dict[str, Placement] | None

    def __init__(self, inputs: Placement, wanted: Placement, outputs: Placement, use_local_output: bool) -> None:
        self.input_layouts, self.desired_input_layouts = (inputs,), (wanted,)
        self.output_layouts, self.use_local_output = (outputs,), use_local_output

    def _apply(self, module: Any, device_mesh: DeviceMesh) -> Any:
        if hasattr(module, "in_features") and hasattr(module, "out_features"):
            replace_parameters(module, device_mesh, self.linear, self.src_data_rank)
        elif hasattr(module, "num_embeddings") and self.embedding is not None:
            replace_parameters(module, device_mesh, self.embedding, self.src_data_rank)
        else:
            kinds = "nn.Linear" if self.embedding is None else "nn.Linear and nn.Embedding"
            raise NotImplementedError(
                f"{type(self).__name__} currently only support {kinds}, not {type(module).__name__}!"
            )

        def before(module: Any, args: Any) -> Any:
            return (self._divided(module, args[0], device_mesh), *args[1:])

        def after(module: Any, args: Any, output: Any) -> Any:
            output = output.redistribute(placements=self.output_layouts)
            return output.to_local() if self.use_local_output else output

        module.register_forward_pre_hook(before)
        module.register_forward_hook(after)
        return module

    def _divided(self, module: Any, x: Any, mesh: DeviceMesh) -> Any:
        """Return the input as the layer wants it."""
        if not isinstance(x, DTensor):
            shape = None
            if self.input_layouts == (Shard(-1),):  # the ranks may have unequal numbers of features
                shape = (*x.shape[:-1], module.weight.shape[-1])
            x = DTensor.from_local(x, mesh, self.input_layouts, shape=shape)
        return x.redistribute(placements=self.desired_input_layouts)


class ColwiseParallel(_DividedMatrix):
    """Each rank computes some of a layer's output features, from all of its input. See Note [Columns, then rows].

    Args:
        input_layouts: how the input lies that comes; Replicate if None, that is, each rank has all of it.
        output_layouts: how the output shall lie; Shard(-1) if None: each rank has its features.
        use_local_output: whether the layer returns this rank's part as a plain tensor, or the whole as a DTensor.

    Raises:
        NotImplementedError: the module is neither an ``nn.Linear`` nor an ``nn.Embedding``.

    Example:
        >>> from reftorch.distributed.tensor.parallel import ColwiseParallel
        >>> ColwiseParallel().output_layouts
        (Shard(dim=-1),)

    Mirrors torch/distributed/tensor/parallel/style.py, ``ColwiseParallel``.
    """

    linear = {"weight": Shard(0), "bias": Shard(0)}
    embedding = {"weight": Shard(1)}

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(input_layouts or Replicate(), Replicate(), output_layouts or Shard(-1), use_local_output)


class RowwiseParallel(_DividedMatrix):
    """Each rank computes a summand of a layer's output, from some of its input features. See Note [Columns, then rows].

    Args:
        input_layouts: how the input lies that comes; Shard(-1) if None: each rank has some features.
        output_layouts: how the output shall lie; Replicate if None: the summands are added up, on each rank.
        use_local_output: whether the layer returns this rank's part as a plain tensor, or the whole as a DTensor.

    Raises:
        NotImplementedError: the module is not an ``nn.Linear``. PyTorch divides the rows of an embedding, too.

    Example:
        >>> from reftorch.distributed.tensor.parallel import RowwiseParallel
        >>> RowwiseParallel().input_layouts
        (Shard(dim=-1),)

    Mirrors torch/distributed/tensor/parallel/style.py, ``RowwiseParallel``.
    """

    linear = {"weight": Shard(1), "bias": Replicate()}
    embedding = None

    def __init__(
        self,
        *,
        input_layouts: Placement | None = None,
        output_layouts: Placement | None = None,
        use_local_output: bool = True,
    ) -> None:
        super().__init__(input_layouts or Shard(-1), Shard(-1), output_layouts or Replicate(), use_local_output)
