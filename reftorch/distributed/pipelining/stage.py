"""One stage of a pipeline: some layers on one rank, and its messages from and to its neighbours.

Mirrors: torch/distributed/pipelining/stage.py
Leaves out: shapes that the program says in advance, tensors that skip a stage, a backward pass in two halves.
"""

from __future__ import annotations

from typing import Any

from reftorch import _VF, autograd
from reftorch.distributed import distributed_c10d as c10d

__all__ = ["PipelineStage"]


class PipelineStage:
    """The layers of one rank. Rank ``stage_index`` of the group has this stage.

    A stage receives the tensors that the stage before it has computed, calls its module with them, and sends the
    results on; its gradients go back the same way. Shapes and dtypes of the tensors travel once, before the first
    ones, so all parts of a batch must be equally large.

    Args:
        submodule: the layers. Called with the tensors of the stage before it; returns a tensor or a tuple of tensors.
        stage_index: the number of this stage, from 0.
        num_stages: the number of stages.
        device: where the layers are; ``submodule`` is moved there.
        input_args, output_args, output_grads, input_grads: are ignored, because the shapes travel.
        group: the ranks; the default group if None. It has ``num_stages`` ranks.
        dw_builder, get_mesh: only None.

    Attributes:
        submod: the layers.
        is_first, is_last: whether this is the first or last stage.

    Raises:
        ValueError: the stage is not that of this rank.
        NotImplementedError: an argument that is left out here.

    Example:
        >>> import reftorch.distributed as dist
        >>> from reftorch.distributed.pipelining import PipelineStage, ScheduleGPipe
        >>> from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
        >>> @spawn_threads_and_init_comms(world_size=2)
        ... def program():
        ...     stage = PipelineStage(torch.nn.Softplus(), dist.get_rank(), 2, torch.device("cpu"))
        ...     schedule = ScheduleGPipe(stage, n_microbatches=2)
        ...     return schedule.step(torch.zeros(4, 1)) if stage.is_first else schedule.step()
        >>> [None if output is None else tuple(output.shape) for output in program()]
        [None, (4, 1)]

    Mirrors torch/distributed/pipelining/stage.py, ``PipelineStage``.
    """

    def __init__(
        self,
        submodule: Any,
        stage_index: int,
        num_stages: int,
        device: Any,
        input_args: Any = None,
        output_args: Any = None,
        output_grads: Any = None,
        input_grads: Any = None,
        group: Any = None,
        dw_builder: Any = None,
        get_mesh: Any = None,
    ) -> None:
        if dw_builder is not None or get_mesh is not None:
            raise NotImplementedError("PipelineStage: dw_builder and get_mesh must be None")
        self.group = c10d._group_or_default_group(group)
        if (self.group.rank(), self.group.size()) != (stage_index, num_stages):
            raise ValueError(
                f"Stage {stage_index} of {num_stages} cannot be on rank {self.group.rank()} of {self.group.size()}: "
                "each rank has the stage of its number here"
            )
        self.submod = submodule.to(device)
        self.stage_index, self.num_stages, self.device = stage_index, num_stages, device
        self.is_first, self.is_last = stage_index == 0, stage_index == num_stages - 1
        self._chunks: dict[int, tuple[tuple[Any, ...], tuple[Any, ...]]] = {}  # inputs and outputs, until backward
        self._sent: list[Any] = []  # messages that may still be on their way
        self._input_meta: list[tuple[Any, Any]] | None = None  # shapes and dtypes
        self._output_meta: list[tuple[Any, Any]] | None = None

    def _send(self, tensors: list[Any], to: int, chunk: int) -> None:
        for tensor in tensors:
            work = c10d.isend(tensor.detach().contiguous(), group=self.group, group_dst=to, tag=chunk)
            self._sent.append(work)

    def _receive(self, meta: list[tuple[Any, Any]], source: int, chunk: int) -> list[Any]:
        tensors = [_VF.empty(shape, dtype=dtype, device=self.device) for shape, dtype in meta]
        for tensor in tensors:
            c10d.recv(tensor, group=self.group, group_src=source, tag=chunk)
        return tensors

    def forward_one_chunk(self, chunk: int, args: tuple[Any, ...], kwargs: dict[str, Any], backward: bool) -> Any:
        """Compute a part of the batch, and send the result to the next stage.

        Args:
            chunk: the number of the part.
            args: the inputs, if this is the first stage.
            kwargs: keyword arguments of the module.
            backward: whether a backward pass will follow.

        Returns:
            What the module has returned.

        Raises:
            RuntimeError: the result has another shape or dtype than that of an earlier part.
        """
        inputs = args
        if not self.is_first:
            if self._input_meta is None:
                said: list[Any] = [None]
                c10d.recv_object_list(said, group=self.group, group_src=self.stage_index - 1)
                self._input_meta = said[0]
            received = self._receive(self._input_meta, self.stage_index - 1, chunk)
            inputs = tuple(x.requires_grad_() if backward and x.is_floating_point() else x for x in received)
        result = self.submod(*inputs, **kwargs)
        outputs = result if isinstance(result, tuple) else (result,)
        if not self.is_last:
            meta = [(tuple(x.shape), x.dtype) for x in outputs]
            if self._output_meta is None:
                c10d.send_object_list([meta], group=self.group, group_dst=self.stage_index + 1)
                self._output_meta = meta
            if meta != self._output_meta:
                raise RuntimeError(
                    f"stage {self.stage_index}, part {chunk} of the batch: the next stage expects {self._output_meta}, "
                    f"but the module has returned {meta}. Hint: the batch must be divisible by n_microbatches, and "
                    "batches must have equal shapes"
                )
            self._send(list(outputs), self.stage_index + 1, chunk)
        if backward:
            self._chunks[chunk] = inputs, outputs
        return result

    def backward_one_chunk(self, chunk: int, loss: Any = None) -> None:
        """Compute the gradients of a part of the batch, and send those of the inputs to the stage before this one.

        Args:
            chunk: the number of the part.
            loss: the loss of the part, if this is the last stage.
        """
        inputs, outputs = self._chunks.pop(chunk)
        if self.is_last:
            loss.backward()
        else:
            wanted = [x for x in outputs if x.is_floating_point()]
            grads = self._receive([(x.shape, x.dtype) for x in wanted], self.stage_index + 1, chunk)
            pairs = [(x, grad) for x, grad in zip(wanted, grads, strict=True) if x.requires_grad]
            autograd.backward([x for x, _ in pairs], [grad for _, grad in pairs])
        if not self.is_first:
            back = [x for x in inputs if x.is_floating_point()]
            zeros = [_VF.zeros_like(x) if x.grad is None else x.grad for x in back]
            self._send(zeros, self.stage_index - 1, chunk)

    def finish(self) -> None:
        """Wait until all messages of this stage have left."""
        for work in self._sent:
            work.wait()
        self._sent.clear()
