"""Averages gradients over the ranks of a group, bucket by bucket, while backward still runs.

Mirrors: torch/csrc/distributed/c10d/reducer.cpp, torch/csrc/distributed/c10d/comm.cpp
Leaves out: sparse gradients. Statistics are in ``_logger.py``, the words of errors in ``_ddp_messages.py``.

PyTorch's reducer is C++. This one is Python: a debugger that steps into ``backward()`` arrives here from the engine.
The file is more than 500 lines long, because it mirrors one file of PyTorch.

Note [Buckets]
Problem: to reduce each gradient by itself costs the latency of a message for each parameter, and to reduce all of them
after backward means that the network and the processor wait for each other. Trick: gradients share flat buffers, the
buckets, of some megabytes. A bucket whose gradients have all arrived is reduced by the group's own thread while the
engine computes the next gradients. Buckets are filled in the reverse order of the parameters, because backward reaches
the last layers first. Every rank must start the same collectives in the same order, so a bucket that is ready early
waits for the buckets before it. After the first pass the buckets are built again, in the order in which the gradients
of rank 0 really arrived. Until then there is only one bucket for each dtype, unless unused parameters are searched.

Note [Unused parameters]
Problem: a bucket waits for the gradient of each of its parameters. If a branch of the model was not taken, a gradient
never arrives, and all ranks would wait. Trick, with ``find_unused_parameters``: before backward, the graph is walked
from the outputs. A parameter whose AccumulateGrad node is not reached counts as ready at once. Another rank may have
used the parameter, so the bucket is reduced all the same; a second, small all-reduce counts the ranks that used each
parameter. The gradient of a parameter that no rank used is left alone: None stays None, and the optimizer skips the
parameter. With ``skip_all_reduce_unused_params`` a bucket of nothing but unused parameters is not reduced at all; all
ranks must then have the same unused parameters, in each pass. Limits: the walk costs time in each pass, and an output
that is not part of the loss must be found in the return value.

Note [Static graph]
With ``static_graph`` the program promises that each pass is like the first one. The first pass only counts how often
the hook of each parameter is called, and everything is reduced when backward has ended. Later passes know which
parameters are unused, and after how many calls a gradient is complete, for example where checkpointing runs backward
several times. No pass walks the graph. A pass is one backward: it may follow several forwards.
"""

from __future__ import annotations

import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from reftorch import _C, _VF
from reftorch._utils import _flatten_dense_tensors, _take_tensors, _unflatten_dense_tensors
from reftorch.autograd import Variable
from reftorch.autograd.grad_mode import no_grad
from reftorch.autograd.graph import get_gradient_edge
from reftorch.distributed import _ddp_messages as _messages
from reftorch.distributed import distributed_c10d as c10d
from reftorch.distributed._grad_bucket import GradBucket

__all__ = ["Reducer"]

_DEFAULT_FIRST_BUCKET_BYTES = 1024 * 1024  # a small bucket, so that the first transfer begins early


def _compute_bucket_assignment_by_size(
    tensors: Sequence[Any], bucket_size_limits: Sequence[int], tensor_indices: Sequence[int] = ()
) -> list[list[int]]:
    """Return buckets as lists of indices. A bucket has one dtype and one device, and ends when it reaches its limit.

    Args:
        tensors: the tensors, in the order in which they enter buckets.
        bucket_size_limits: bytes of the first bucket, the second one, and so on; the last limit holds for the rest.
        tensor_indices: the numbers of the tensors, by default 0, 1, 2 and so on.

    Example:
        >>> from reftorch.distributed._reducer import _compute_bucket_assignment_by_size
        >>> _compute_bucket_assignment_by_size([torch.ones(4), torch.ones(1), torch.ones(3)], [16, 32])
        [[0], [1, 2]]

    Mirrors torch/csrc/distributed/c10d/reducer.cpp, ``compute_bucket_assignment_by_size``.
    """
    buckets: list[list[int]] = []
    open_buckets: dict[Any, tuple[list[int], int]] = {}
    limits: dict[Any, list[int]] = {}
    for place, tensor in enumerate(tensors):
        key = (tensor.dtype, tensor.device)
        indices, size = open_buckets.get(key, ([], 0))
        indices.append(tensor_indices[place] if tensor_indices else place)
        size += tensor.numel() * tensor.element_size()
        limit = limits.setdefault(key, list(bucket_size_limits))
        if size >= limit[0]:
            buckets.append(indices)
            indices, size = [], 0
            if len(limit) > 1:
                limit.pop(0)
        open_buckets[key] = (indices, size)
    buckets += [indices for indices, _ in open_buckets.values() if indices]
    # Where no indices are given, the tensors are in the order of the model. The buckets then get this order, too.
    return buckets if tensor_indices else sorted(buckets, key=min)


def _broadcast_coalesced(process_group: Any, tensors: Sequence[Any], buffer_size: int, src: int = 0) -> None:
    """Give all ranks the values of rank ``src``; tensors of one dtype travel as few messages.

    Args:
        process_group: the group.
        tensors: the tensors, with equal shapes on all ranks. They are overwritten.
        buffer_size: the most bytes of a message, unless one tensor alone is larger.
        src: the rank in the group.

    Mirrors torch/csrc/distributed/c10d/comm.cpp, ``broadcast_coalesced``.
    """
    with no_grad():
        for chunk in _take_tensors(tensors, buffer_size):
            flat = _flatten_dense_tensors(chunk)
            c10d.broadcast(flat, group=process_group, group_src=src)
            for tensor, received in zip(chunk, _unflatten_dense_tensors(flat, chunk), strict=True):
                tensor.copy_(received)


def _verify_params_across_processes(process_group: Any, named: dict[str, Any]) -> None:
    """Check that all ranks have the same parameters, because otherwise the bytes of different parameters would mix.

    Args:
        process_group: the group.
        named: the parameters by name.

    Raises:
        RuntimeError: (on all ranks) a number, name, shape, stride or dtype differs from that of rank 0.

    Mirrors torch/csrc/distributed/c10d/reducer.cpp, ``verify_params_across_processes``.
    """
    ours = [(name, tuple(p.shape), p.stride(), str(p.dtype)) for name, p in named.items()]
    everyone: list[Any] = [None] * process_group.size()
    c10d.all_gather_object(everyone, ours, group=process_group)
    for rank, theirs in enumerate(everyone):
        if len(theirs) != len(everyone[0]):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank {rank} has {len(theirs)} params, while rank 0 has "
                f"inconsistent {len(everyone[0])} params."
            )
        for i, (here, there) in enumerate(zip(theirs, everyone[0], strict=True)):
            if here != there:
                what = next(word for word, a, b in zip(_FACTS, here, there, strict=True) if a != b)
                raise RuntimeError(
                    f"DDP expects same model across all ranks, but the {what} of params[{i}] of Rank {rank} appears "
                    f"not to match that of the same param in rank 0: {_described(*here)}, and rank 0 has "
                    f"{_described(*there)}."
                )


_FACTS = ("name", "sizes", "strides", "dtype")


def _described(name: str, shape: tuple[int, ...], stride: tuple[int, ...], dtype: str) -> str:
    return f"{name} with sizes {list(shape)}, strides {list(stride)} and {dtype}"


class _Bucket:
    """A flat buffer and the parameters whose gradients share it.

    Mirrors torch/csrc/distributed/c10d/reducer.hpp, ``Reducer::Bucket``.
    """

    def __init__(self, indices: list[int], parameters: Sequence[Any], dtype: Any = None) -> None:
        self.variable_indices = indices
        self.parameters = [parameters[i] for i in indices]
        first, size = self.parameters[0], sum(p.numel() for p in self.parameters)
        self.gradients = _VF.zeros(size, dtype=first.dtype if dtype is None else dtype, device=first.device)
        self.views = []
        offset = 0
        for p in self.parameters:
            # The view has the strides that a clone of the parameter would have, for example channels last. Then the
            # optimizer adds tensors of equal strides.
            stride = _VF.empty_like(p, device="meta").stride()
            self.views.append(self.gradients.as_strided(p.shape, stride, offset))
            offset += p.numel()
        self.pending = len(indices)
        self.work: Any = None  # of the collective that is under way: a Work, or the Future of a hook

    def views_of(self, tensor: Any) -> list[Any]:
        """Return the gradients in another flat tensor of the same size."""
        return [tensor.as_strided(v.shape, v.stride(), v.storage_offset()) for v in self.views]

    def reduced(self) -> Any:
        """Wait for the collective and return the flat result."""
        result = self.work.wait()
        self.work = None
        if isinstance(result, (list, tuple)):
            result = result[0]
        return self.gradients if result is None or isinstance(result, bool) else result


def _share_memory(a: Any, b: Any) -> bool:
    return a is b or a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr()


class Reducer:
    """Averages the gradients of parameters over a group. See Note [Buckets], Note [Unused parameters].

    The reducer hooks onto the AccumulateGrad node of each parameter. DistributedDataParallel calls
    :meth:`prepare_for_backward` after each forward; the rest happens inside ``backward()``: the engine calls
    :meth:`autograd_hook` for each gradient, and :meth:`finalize_backward` at the end.

    Args:
        params: the parameters that require a gradient, without duplicates, in the same order on all ranks.
        bucket_indices: the first buckets, as lists of indices, in the order in which they are reduced.
        process_group: the group.
        bucket_bytes_cap: bytes of a bucket when buckets are built again.
        find_unused_parameters: whether to walk the graph before backward.
        gradient_as_bucket_view: whether ``.grad`` of a parameter becomes a view of a bucket, which saves a copy.
        param_to_name_mapping: the name of each parameter, for error messages.
        first_bucket_bytes_cap: bytes of the first bucket when buckets are built again.
        batched_grad_copy: whether the gradients of a bucket are copied at once, when the last of them has arrived.
        bucket_size_limits_for_rebuilding: bytes of each bucket, in place of the two caps.
        skip_all_reduce_unused_params: whether buckets of unused parameters are not reduced. See Note [Unused
            parameters].

    Raises:
        RuntimeError: (inside ``backward()``) a gradient arrives twice in one pass, or, of a static graph, the gradient
            of a parameter that the first pass did not use.

    Mirrors torch/csrc/distributed/c10d/reducer.cpp, ``Reducer``.
    """

    def __init__(
        self,
        params: Sequence[Any],
        bucket_indices: Sequence[Sequence[int]],
        process_group: Any,
        bucket_bytes_cap: int,
        find_unused_parameters: bool,
        gradient_as_bucket_view: bool,
        param_to_name_mapping: dict[int, str],
        first_bucket_bytes_cap: int,
        batched_grad_copy: bool = False,
        bucket_size_limits_for_rebuilding: Sequence[int] = (),
        skip_all_reduce_unused_params: bool = False,
    ) -> None:
        self.params = list(params)
        self.names = param_to_name_mapping
        self.process_group = process_group
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.batched_grad_copy = batched_grad_copy
        self.bucket_bytes_cap = bucket_bytes_cap
        self.size_limits = list(bucket_size_limits_for_rebuilding) or [first_bucket_bytes_cap, bucket_bytes_cap]
        self.static_graph = False
        self.comm_hook: tuple[Any, Callable[[Any, GradBucket], Any]] | None = None
        self.skip_all_reduce_unused_params = skip_all_reduce_unused_params
        self.num_iterations = 0  # forwards
        self.num_bwd_calls = 0  # backwards that have ended
        self.rebuilt_indices: list[int] = []  # the parameters in the order in which their gradients arrived
        self.has_rebuilt_buckets = False
        self.expect_autograd_hooks = False  # between forward and the end of backward, except in no_sync()
        self.require_finalize = False  # a gradient has arrived, and not all buckets are reduced
        self.has_marked_unused_parameters = False
        self.unused_parameters: list[int] = []
        self.ddp_graph_static = True  # whether all searches have found the same unused parameters
        self.ready: set[int] = set()
        self.next_bucket = 0
        self.num_buckets_reduced = 0
        self.divide_factor: float | None = None
        self.forward_pass_work: tuple[Any, Any] | None = None
        self.used_work: tuple[Any, Any] | None = None  # the all-reduce of local_used_map, and its tensor
        self.local_used_map = [0] * len(self.params)  # 1: this rank has used the parameter since the last reduction
        self.local_used_map_dev = _VF.zeros((len(self.params),), dtype=_C.int32, device=self.params[0].device)
        self.post_backward_futures: list[Any] = []
        self.times: dict[str, int] | None = None  # of a pass that the logger samples. See Note [Samples of run time]
        self.grad_ready_order: list[int] = []  # of the pass that is sampled
        self.runtime_logging_sample_rate = 100
        self._logger: Callable[[], Any] = lambda: None
        self.mixed_precision_param_dtype: Any = None
        self.restore_parameters: Callable[[], None] | None = None  # in mixed precision: called at the end of backward
        self.restore_is_queued = False
        self.optim_in_backward = False
        self.hooks_triggered = [0] * len(self.params)
        self.hooks_left = [0] * len(self.params)
        self._initialize_buckets([list(indices) for indices in bucket_indices])
        self._handles: list[Any] = []
        self._install_autograd_hooks()

    def _install_autograd_hooks(self) -> None:
        """Hook onto the AccumulateGrad nodes that the parameters have now.

        A parameter that is given numbers of another dtype gets another node, so mixed precision calls this method in
        each pass.
        """
        self._remove_autograd_hooks()
        # The reducer owns the nodes. A parameter holds its node weakly, and the hook would be lost with the node.
        self.grad_accumulators = [get_gradient_edge(p).node for p in self.params]
        self._handles = [node.register_hook(self._hook(i)) for i, node in enumerate(self.grad_accumulators)]

    def _hook(self, index: int) -> Callable[..., None]:
        reference = weakref.ref(self)  # a strong one would be a cycle: reducer, node, hook, reducer

        def hook(*_: Any) -> None:
            reducer = reference()
            if reducer is not None:
                reducer.autograd_hook(index)

        return hook

    def _initialize_buckets(self, bucket_indices: list[list[int]]) -> None:
        self.buckets = [_Bucket(each, self.params, self.mixed_precision_param_dtype) for each in bucket_indices]
        self.variable_locators = {
            i: (bucket, place) for bucket in self.buckets for place, i in enumerate(bucket.variable_indices)
        }

    def _searches_unused(self) -> bool:
        return self.find_unused_parameters and not self.static_graph

    def _is_static_first_pass(self) -> bool:
        return self.static_graph and self.num_bwd_calls == 0

    def _fail(self, message: str) -> NoReturn:
        """Raise an error that the logger remembers, too."""
        logger = self._logger()
        if logger is not None:
            logger.set_error_and_log(message)
        raise RuntimeError(message)

    # --- before backward

    def prepare_for_forward(self) -> None:
        """Count the passes in which gradients are reduced, and begin to take times, if the pass is sampled."""
        self.num_iterations += 1
        self.times = {"forward_compute_start": time.time_ns()} if self._should_collect_runtime_stats() else None

    def _should_collect_runtime_stats(self) -> bool:
        return self.num_iterations > 0 and (
            self.num_iterations <= 10 or self.num_iterations % self.runtime_logging_sample_rate == 0
        )

    def _record(self, event: str) -> None:
        if self.times is not None:
            self.times[event] = time.time_ns()

    def _should_rebuild_buckets(self) -> bool:
        return not self.has_rebuilt_buckets and not self._searches_unused()

    def _push_all_rebuilt_params(self) -> None:
        """Note an order of gradients for a rank that has no input left, while other ranks note their real order."""
        if self._should_rebuild_buckets() and not self.rebuilt_indices:
            self.rebuilt_indices = list(range(len(self.params)))

    def _rebuild_buckets(self) -> bool:
        """After the first pass, build the buckets in the order in which the gradients of rank 0 arrived.

        Returns:
            Whether the buckets were built again. This happens once, on all ranks before the same forward.
        """
        self._ensure_prior_reduction_finished()
        if not self._should_rebuild_buckets() or not self.rebuilt_indices:
            return False
        order = _C.tensor(self.rebuilt_indices, device=self.params[0].device)
        c10d.broadcast(order, group=self.process_group, group_src=0)
        indices = order.tolist()
        found = _compute_bucket_assignment_by_size([self.params[i] for i in indices], self.size_limits, indices)
        self._initialize_buckets(found)
        self.has_rebuilt_buckets = True
        self.rebuilt_indices = []
        return True

    def prepare_for_backward(self, outputs: Sequence[Any]) -> None:
        """Begin a pass, after forward.

        Args:
            outputs: the tensors that the module returned, if unused parameters are searched.

        Raises:
            RuntimeError: the pass before has not reduced all gradients; the message names the missing parameters.
        """
        self._record("backward_compute_start")
        self._ensure_prior_reduction_finished()
        self.expect_autograd_hooks = True
        self._reset_bucket_counting()
        self.grad_ready_order = []
        if self._searches_unused():
            found = self._search_unused_parameters(outputs)
            if self.num_bwd_calls > 0 and found != self.unused_parameters:
                self.ddp_graph_static = False
            self.unused_parameters = found

    def _reset_bucket_counting(self) -> None:
        self.next_bucket = self.num_buckets_reduced = 0
        self.ready = set()
        self.has_marked_unused_parameters = False
        for bucket in self.buckets:
            bucket.pending = len(bucket.variable_indices)
        if self.static_graph:
            self.hooks_left = list(self.hooks_triggered)

    def _search_unused_parameters(self, outputs: Sequence[Any]) -> list[int]:
        """Return the parameters that no path from the outputs reaches. See Note [Unused parameters]."""
        todo: list[Any] = [get_gradient_edge(t).node for t in outputs if t.requires_grad]
        # The dict keeps the nodes: the Python object of a node dies with its last reference, and another node could
        # then have the same id.
        seen: dict[int, Any] = {}
        while todo:
            node = todo.pop()
            if node is not None and id(node) not in seen:
                seen[id(node)] = node
                todo.extend(following for following, _ in node.next_functions)
        unused = [i for i, node in enumerate(self.grad_accumulators) if id(node) not in seen]
        if not unused:
            _messages.warn_that_all_are_used()
        return unused

    def _ensure_prior_reduction_finished(self) -> None:
        if not self.require_finalize:
            return
        missing = [i for i in range(len(self.params)) if i not in self.ready]
        self._fail(_messages.unfinished(self, missing))

    # --- during backward: called by the engine, after it has added to .grad

    def autograd_hook(self, index: int) -> None:
        """Note that the gradient of a parameter has arrived. The engine calls this after the AccumulateGrad node.

        A node that receives no gradient is called, too: the sink of DistributedDataParallel leads backward to all
        outputs of the module, also to those that the loss does not use.
        """
        if self.restore_parameters is not None and not self.restore_is_queued:
            self.restore_is_queued = True
            Variable._execution_engine.queue_callback(self._restore_parameters)
        if (self._searches_unused() or self._is_static_first_pass()) and self.params[index].grad is not None:
            self.local_used_map[index] = 1  # also in no_sync(): what it has added to .grad is reduced later
        if not self.expect_autograd_hooks:
            return
        if self._is_static_first_pass():
            self.hooks_triggered[index] += 1
            return
        if self.times is not None:
            self.grad_ready_order.append(index)
        if not self.has_marked_unused_parameters:
            self.has_marked_unused_parameters = True
            for unused in self.unused_parameters:
                self._mark_variable_ready(unused)
        if self.static_graph:
            if self.hooks_triggered[index] == 0:
                self._fail(_messages.used_for_the_first_time(self, index))
            self.hooks_left[index] -= 1
            if self.hooks_left[index] != 0:
                return
        self._mark_variable_ready(index)

    def _mark_variable_ready(self, index: int) -> None:
        if self._should_rebuild_buckets():
            self.rebuilt_indices.append(index)
        if index in self.ready:
            self._fail(_messages.marked_twice(self, index))
        self.ready.add(index)
        self.require_finalize = True
        self._set_divide_factor()
        bucket, place = self.variable_locators[index]
        if not self.batched_grad_copy:
            self._copy_to_bucket(bucket, place)
        bucket.pending -= 1
        if bucket.pending == 0:
            self._mark_bucket_ready()

    def _set_divide_factor(self) -> None:
        """Set by how much sums are divided: the size of the group, or the number of ranks that still have input."""
        if self.divide_factor is None:
            self.divide_factor = self.process_group.size()
            if self.forward_pass_work is not None:
                work, count = self.forward_pass_work
                work.wait()
                self.divide_factor = count.item()

    @no_grad()
    def _copy_to_bucket(self, bucket: _Bucket, place: int) -> None:
        """Copy a gradient to its bucket, divided by the number of ranks; a hook divides for itself.

        The copy is multiplied by the rounded reciprocal, as PyTorch does, so that all bits are equal.
        """
        parameter, view = bucket.parameters[place], bucket.views[place]
        assert self.divide_factor is not None
        if parameter.grad is None:
            view.zero_()
        elif _share_memory(parameter.grad, view):
            if self.comm_hook is None:
                view.div_(self.divide_factor)
        else:
            if self.comm_hook is None:
                _VF.mul(parameter.grad.detach(), 1 / self.divide_factor, out=view)
            else:
                view.copy_(parameter.grad)
            if self.gradient_as_bucket_view:
                parameter.grad = view

    def _mark_bucket_ready(self) -> None:
        """Reduce all buckets that are ready and have no bucket before them that is not."""
        while self.next_bucket < len(self.buckets) and self.buckets[self.next_bucket].pending == 0:
            bucket = self.buckets[self.next_bucket]
            if self.batched_grad_copy:
                for place in range(len(bucket.parameters)):
                    self._copy_to_bucket(bucket, place)
            if self.next_bucket == 0:
                self._record("backward_comm_start")
            if not self._should_skip(bucket):
                self._all_reduce_bucket(self.next_bucket)
                self.num_buckets_reduced += 1
            self.next_bucket += 1
        if self.next_bucket == len(self.buckets) and not self._is_static_first_pass():
            self.used_work = self._all_reduce_local_used_map() if self._searches_unused() else None
            Variable._execution_engine.queue_callback(self.finalize_backward)

    def _should_skip(self, bucket: _Bucket) -> bool:
        return self.skip_all_reduce_unused_params and set(bucket.variable_indices) <= set(self.unused_parameters)

    def _grad_bucket(self, number: int, tensor: Any = None) -> GradBucket:
        bucket = self.buckets[number]
        if tensor is None:
            return GradBucket(number, len(self.buckets), bucket.gradients, bucket.views, bucket.parameters)
        return GradBucket(number, len(self.buckets), tensor, bucket.views_of(tensor), bucket.parameters)

    def _all_reduce_bucket(self, number: int) -> None:
        self.buckets[number].work = self._run_comm_hook(self._grad_bucket(number))

    @no_grad()
    def _run_comm_hook(self, grad_bucket: GradBucket) -> Any:
        """Start the reduction of a bucket. Returns a Work or a Future, with a method ``wait``."""
        if self.comm_hook is None:
            return c10d.all_reduce(grad_bucket.buffer(), group=self.process_group, async_op=True)
        state, hook = self.comm_hook
        return hook(state, grad_bucket)

    def _run_allreduce_hook(self, grad_bucket: GradBucket) -> Any:
        """Start the sum of a bucket over all ranks, and return its Future: for hooks that go on with the sum."""
        work: Any = c10d.all_reduce(grad_bucket.buffer(), group=self.process_group, async_op=True)
        return work.get_future()

    def _get_local_used_map(self) -> Any:
        """Return how many ranks have used each parameter, after backward. See Note [Unused parameters]."""
        return self.local_used_map_dev

    def _all_reduce_local_used_map(self) -> tuple[Any, Any]:
        used = _C.tensor(self.local_used_map, dtype=_C.int32, device=self.params[0].device)
        self.local_used_map_dev = used
        return c10d.all_reduce(used, group=self.process_group, async_op=True), used

    # --- after backward: called by the engine at the end of the pass

    def _delay_all_reduce(self) -> None:
        """End the first pass of a static graph: reduce everything at once. See Note [Static graph]."""
        self.used_work = self._all_reduce_local_used_map()
        self.unused_parameters = [i for i, count in enumerate(self.hooks_triggered) if count == 0]
        for index in range(len(self.params)):
            self._mark_variable_ready(index)
        self.rebuilt_indices = []  # the second pass shows the order
        self.finalize_backward()

    @no_grad()
    def finalize_backward(self) -> None:
        """Wait for all buckets and write the averages to ``.grad``."""
        self._record("backward_compute_end")
        self._restore_parameters()
        self.expect_autograd_hooks = False
        self.require_finalize = False
        self._wait_for_used_map()
        for bucket in self.buckets:
            if self._should_skip(bucket):
                continue
            views = self._views_of_result(bucket, bucket.reduced())
            for index, parameter, view in zip(bucket.variable_indices, bucket.parameters, views, strict=True):
                self._copy_to_grad(index, parameter, view)
        if self._searches_unused():
            self.local_used_map = [0] * len(self.params)
        for future in self.post_backward_futures:
            future.wait()
        self.post_backward_futures = []
        self.divide_factor = None
        self.forward_pass_work = None
        self.num_bwd_calls += 1
        self._record("backward_comm_end")

    def _restore_parameters(self) -> None:
        """In mixed precision, give the parameters their own numbers back, after the last gradient was computed."""
        self.restore_is_queued = False
        if self.restore_parameters is not None:
            self.restore_parameters()

    def _views_of_result(self, bucket: _Bucket, result: Any) -> list[Any]:
        """Return the averages of a bucket. In mixed precision they keep the dtype in which the ranks added them."""
        if self.mixed_precision_param_dtype is not None:
            return bucket.views_of(result)
        if not _share_memory(result, bucket.gradients):
            bucket.gradients.copy_(result)
        return bucket.views

    def _wait_for_used_map(self) -> None:
        if self.used_work is not None:
            work, used = self.used_work
            work.wait()
            self.local_used_map = used.tolist()
            self.used_work = None

    def _copy_to_grad(self, index: int, parameter: Any, view: Any) -> None:
        if (self.static_graph or self.find_unused_parameters) and not self.local_used_map[index]:
            return  # no rank has used the parameter
        if self.optim_in_backward and hasattr(parameter, "_in_backward_optimizers"):
            return  # an optimizer has used the gradient, and let go of it
        is_view = self.gradient_as_bucket_view and self.mixed_precision_param_dtype is None
        if parameter.grad is None:
            parameter.grad = view if is_view else view.to(parameter.dtype, copy=True)
        elif not is_view:
            parameter.grad.copy_(view)
        elif not _share_memory(parameter.grad, view):
            self._fail(_messages.not_a_view(self, index))

    # --- for DistributedDataParallel

    def _register_comm_hook(self, state: Any, hook: Callable[[Any, GradBucket], Any]) -> None:
        """Let ``hook(state, bucket)`` reduce the buckets. Mirrors reducer.cpp, ``register_comm_hook``."""
        if self.comm_hook is not None:
            self._fail("register_comm_hook or register_builtin_comm_hook can only be called once.")
        self.comm_hook = (state, hook)

    def _set_static_graph(self) -> None:
        """Promise that all passes are alike. Mirrors reducer.cpp, ``set_static_graph``."""
        if self.num_iterations != 0:
            self._fail(
                "set_static_graph() should be called before training loop starts and after DistributedDataParallel is "
                "constructed."
            )
        self.static_graph = True

    def _set_mixed_precision_param_dtype(self, dtype: Any, restore_parameters: Callable[[], None]) -> None:
        """Take gradients of another dtype than that of the parameters. See Note [Mixed precision].

        Args:
            dtype: of the gradients.
            restore_parameters: gives the parameters their own numbers back; called at the end of each backward, and
                possibly twice.

        Mirrors torch/csrc/distributed/c10d/reducer.cpp, ``set_mixed_precision_param_dtype``.
        """
        self.mixed_precision_param_dtype, self.restore_parameters = dtype, restore_parameters
        self._initialize_buckets([bucket.variable_indices for bucket in self.buckets])

    def _set_optimizer_in_backward(self) -> None:
        """Leave the gradients of parameters that have optimizers inside backward to these. Mirrors reducer.cpp."""
        self.optim_in_backward = True

    def _update_process_group(self, process_group: Any) -> None:
        """Reduce over another group from now on. Mirrors reducer.cpp, ``update_process_group``."""
        self.process_group = process_group

    def _reset_state(self) -> None:
        """Forget a pass that was not finished, and build the buckets again after the next one.

        The buffers are new ones: a collective of the old group may still write to the old ones.

        Mirrors torch/csrc/distributed/c10d/reducer.cpp, ``reset_state``.
        """
        self.has_rebuilt_buckets = False
        self.rebuilt_indices = []
        self.expect_autograd_hooks = self.require_finalize = False
        self.divide_factor = None
        self.local_used_map = [0] * len(self.params)
        self._initialize_buckets([bucket.variable_indices for bucket in self.buckets])

    def _install_post_backward_futures(self, futures: Sequence[Any]) -> None:
        """Wait for these futures at the end of the next backward. Mirrors reducer.cpp, the method of this name."""
        self.post_backward_futures += futures

    def _ddp_graph_static(self) -> bool:
        """Return whether all passes had the same unused parameters. Mirrors reducer.cpp, ``ddp_graph_static``."""
        return self.ddp_graph_static

    def _set_logger(self, logger: Any) -> None:
        """Let a :class:`Logger` know of errors. It holds the reducer, so the reducer holds it weakly."""
        self._logger = weakref.ref(logger)

    def _set_forward_pass_work_handle(self, work: Any, count: Any, use_static_world_size: bool) -> None:
        """Take the all-reduce that counts the ranks with input. Mirrors reducer.cpp, the method of the same name."""
        self.forward_pass_work = None if use_static_world_size else (work, count)

    def _get_zeros_like_grad_buckets(self) -> list[GradBucket]:
        """Return buckets of zeros, for a rank that has no input left. Mirrors reducer.cpp, the method of this name."""
        needed = [(i, bucket) for i, bucket in enumerate(self.buckets) if not self._should_skip(bucket)]
        return [self._grad_bucket(i, _VF.zeros_like(bucket.gradients)) for i, bucket in needed]

    def _check_reducer_finalized(self) -> None:
        """Raise an error unless the last backward has reduced all gradients. Mirrors reducer.cpp, the same name."""
        self._ensure_prior_reduction_finished()

    def _remove_autograd_hooks(self) -> None:
        """Remove the hooks of all parameters. Mirrors reducer.cpp, ``remove_autograd_hooks``."""
        for handle in self._handles:
            handle.remove()
