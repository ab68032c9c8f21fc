"""In which order a stage computes the parts of a batch, forward and backward.

Mirrors: torch/distributed/pipelining/schedules.py
Leaves out: schedules with several stages on a rank, arguments that are split along other dimensions.

Note [Micro-batches]
Problem: a stage needs the result of the stage before it, so with one batch only one rank works at a time. Trick: the
batch is split into parts, called micro-batches. While the second stage computes the first part, the first stage
computes the second one. The loss is a mean over the batch, so each part counts by its share. Limits: at the beginning
and at the end ranks wait, with s stages and n parts for (s - 1) / (n + s - 1) of the time, and a stage keeps what its
graph has saved of each part whose backward pass has not run. ``ScheduleGPipe`` runs all parts forward before the first
one backward; ``Schedule1F1B`` begins as early as it can with the backward passes, so it keeps s parts at most. A batch
norm would see the parts and not the batch.
Papers: Y. Huang et al.: GPipe, https://arxiv.org/abs/1811.06965;
D. Narayanan et al.: PipeDream-Flush, https://arxiv.org/abs/2006.09503
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from reftorch import _VF
from reftorch._tensor import Tensor
from reftorch.autograd.grad_mode import set_grad_enabled
from reftorch.distributed.pipelining.stage import PipelineStage

__all__ = ["PipelineScheduleSingle", "Schedule1F1B", "ScheduleGPipe"]


class PipelineScheduleSingle:
    """The base of the schedules with one stage on each rank: a schedule is a list of actions.

    Args:
        stage: the stage of this rank.
        n_microbatches: into how many parts the batch is split.
        loss_fn: returns the loss of a part, given the output of the last stage and the target: a mean over the part.
            Without it, nothing runs backward.
        args_chunk_spec, kwargs_chunk_spec, output_merge_spec: only None: tensors are split along their first
            dimension.
        scale_grads: whether the gradients are those of the mean over the parts, and not of the sum.

    Raises:
        ValueError: there are fewer parts than stages.
        NotImplementedError: an argument that is left out here.

    Mirrors torch/distributed/pipelining/schedules.py, ``PipelineScheduleSingle``.
    """

    def __init__(
        self,
        stage: PipelineStage,
        n_microbatches: int,
        loss_fn: Callable[..., Any] | None = None,
        args_chunk_spec: Any = None,
        kwargs_chunk_spec: Any = None,
        output_merge_spec: Any = None,
        scale_grads: bool = True,
    ) -> None:
        if not (args_chunk_spec is None and kwargs_chunk_spec is None and output_merge_spec is None):
            raise NotImplementedError(f"{type(self).__name__}: tensors are split along their first dimension only")
        if n_microbatches < stage.num_stages:
            raise ValueError(
                f"Number of microbatches ({n_microbatches}) must be greater than or equal to the number of stages "
                f"({stage.num_stages})."
            )
        self._stage, self._n_microbatches = stage, n_microbatches
        self._loss_fn, self.scale_grads = loss_fn, scale_grads

    def actions(self) -> Iterator[tuple[str, int]]:
        """Return ``("F", part)`` and ``("B", part)`` in the order in which this stage computes them."""
        raise NotImplementedError

    def step(
        self,
        *args: Any,
        target: Any = None,
        losses: list[Any] | None = None,
        return_outputs: bool = True,
        loss_kwargs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        """Compute one batch forward and backward. All stages call this.

        Args:
            args: the batch, on the first stage.
            target: what ``loss_fn`` is given besides the output, on the last stage.
            losses: a list, which is overwritten with the losses of the parts on the last stage.
            return_outputs: whether to return the output.
            loss_kwargs: further arguments of ``loss_fn``.
            kwargs: keyword arguments of this stage's module; tensors are split.

        Returns:
            On the last stage, the output for the whole batch; None on all others.
        """
        return self._run(args, target, losses, return_outputs, loss_kwargs or {}, kwargs, self._loss_fn is not None)

    def eval(self, *args: Any, target: Any = None, losses: list[Any] | None = None, **kwargs: Any) -> Any:
        """Compute one batch forward, without a graph. See :meth:`step`."""
        with set_grad_enabled(False):
            return self._run(args, target, losses, True, {}, kwargs, False)

    def _run(
        self, args: Any, target: Any, losses: Any, wanted: bool, loss_kwargs: Any, kwargs: Any, backward: bool
    ) -> Any:
        n, stage = self._n_microbatches, self._stage
        parts = list(zip(*(_split(each, n) for each in args), strict=True)) or [()] * n
        keywords = {name: _split(each, n) for name, each in kwargs.items()}
        targets = _split(target, n)
        outputs: list[Any] = [None] * n
        part_losses: list[Any] = [None] * n
        for what, i in self.actions():
            if what == "F":
                own = {name: each[i] for name, each in keywords.items()}
                outputs[i] = stage.forward_one_chunk(i, parts[i], own, backward)
                if stage.is_last and self._loss_fn is not None and target is not None:
                    part_losses[i] = self._loss_fn(outputs[i], targets[i], **loss_kwargs)
            elif backward:
                loss = part_losses[i]
                stage.backward_one_chunk(i, loss / n if stage.is_last and self.scale_grads else loss)
        stage.finish()
        if not stage.is_last:
            return None
        if losses is not None:
            losses[:] = [loss.detach() for loss in part_losses if loss is not None]
        return _merge(outputs) if wanted else None


class ScheduleGPipe(PipelineScheduleSingle):
    """All parts forward, then all parts backward. See Note [Micro-batches], and the base class for the arguments.

    Mirrors torch/distributed/pipelining/schedules.py, ``ScheduleGPipe``.
    """

    def actions(self) -> Iterator[tuple[str, int]]:
        yield from (("F", i) for i in range(self._n_microbatches))
        yield from (("B", i) for i in range(self._n_microbatches))


class Schedule1F1B(PipelineScheduleSingle):
    """As many parts forward as there are stages behind, then one backward and one forward in turn.

    See Note [Micro-batches], and the base class for the arguments.

    Mirrors torch/distributed/pipelining/schedules.py, ``Schedule1F1B``.
    """

    def actions(self) -> Iterator[tuple[str, int]]:
        n, ahead = self._n_microbatches, self._stage.num_stages - self._stage.stage_index
        yield from (("F", i) for i in range(ahead))
        for i in range(n):
            yield "B", i
            if i + ahead < n:
                yield "F", i + ahead


def _split(value: Any, parts: int) -> list[Any]:
    """Return the parts of an argument; what is not a tensor goes to each part."""
    return list(value.tensor_split(parts)) if isinstance(value, Tensor) else [value] * parts


def _merge(outputs: list[Any]) -> Any:
    """Join the outputs of the parts."""
    if isinstance(outputs[0], tuple):
        return tuple(_VF.cat(list(column)) for column in zip(*outputs, strict=True))
    return _VF.cat(outputs)
