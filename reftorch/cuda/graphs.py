"""CUDA graphs: work that is recorded once and then replayed with one call, as often as the program wants.

A recording is a *capture*. While a stream captures, ops put their kernels into the graph instead of running them, so
the tensors that they return hold no values until the first replay. A replay runs the same kernels on the same
addresses: new inputs are copied into the tensors that the kernels read, and the results are found in the tensors that
were made during the capture. Nothing in the captured work may wait for the device, so ``item()``, ``cpu()`` and
``print`` raise there.

Mirrors: torch/cuda/graphs.py
Leaves out: kernel annotations, checks whether inputs are alive, and the dict that describes a graph.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from reftorch import _C, _VF, _places
from reftorch._tensor import Tensor
from reftorch.amp.autocast_mode import is_autocast_cache_enabled, is_autocast_enabled
from reftorch.autograd import grad
from reftorch.autograd.function import Function, once_differentiable
from reftorch.cuda._device import init, is_initialized, synchronize
from reftorch.cuda.memory import empty_cache
from reftorch.cuda.streams import Stream
from reftorch.cuda.streams import stream as stream_context
from reftorch.utils import _pytree

__all__ = ["CUDAGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]


def is_current_stream_capturing() -> bool:
    """Return whether the current stream captures a graph. Starts no device.

    Example:
        >>> torch.cuda.is_current_stream_capturing()
        False

    Mirrors torch/cuda/graphs.py, ``is_current_stream_capturing``.
    """
    return is_initialized() and _C._cuda_isCurrentStreamCapturing()


def graph_pool_handle() -> tuple[int, int]:
    """Return the id of a pool of memory that several graphs can share.

    Graphs may share a pool if they are replayed in the order in which they were captured and never at the same time,
    because a later graph reuses memory of an earlier one.

    Raises:
        AssertionError: there is no CUDA device.

    Example:
        >>> if torch.cuda.is_available():
        ...     pool = torch.cuda.graph_pool_handle()
        ...     with torch.cuda.graph(torch.cuda.CUDAGraph(), pool=pool):
        ...         y = torch.ones(3, device="cuda")

    Mirrors torch/cuda/graphs.py, ``graph_pool_handle``.
    """
    init()
    return _C._graph_pool_handle()


class CUDAGraph:
    """Work of a stream that can be replayed. :class:`graph` records it.

    The graph owns the memory of the tensors that were made during the capture, also after the tensors have gone,
    because each replay writes to this memory. The memory is released when the graph is reset or deleted.

    Random ops draw new numbers in each replay: the same numbers that the ops would draw if they ran without a graph.

    Args:
        keep_graph: whether ``raw_cuda_graph`` and ``debug_dump`` work after the capture. The graph is then made ready
            by ``instantiate`` or by the first replay, instead of at the end of the capture.

    Raises:
        AssertionError: there is no CUDA device.

    Example:
        >>> if torch.cuda.is_available():
        ...     x = torch.zeros(3, device="cuda")
        ...     g = torch.cuda.CUDAGraph()
        ...     with torch.cuda.graph(g):
        ...         y = x + 1
        ...     x = x.fill_(5)
        ...     g.replay()
        ...     assert y.tolist() == [6, 6, 6]

    Mirrors torch/cuda/graphs.py, ``CUDAGraph``.
    """

    def __init__(self, keep_graph: bool = False) -> None:
        init()
        self._graph = _C._CUDAGraph(keep_graph)

    def capture_begin(
        self,
        pool: tuple[int, int] | None = None,
        capture_error_mode: str = "global",
        check_input_liveness: bool = False,
    ) -> None:
        """Begin to record the work of the current stream. :class:`graph` calls this.

        Args:
            pool: the id of a pool of memory, from :func:`graph_pool_handle` or from the ``pool`` of another graph.
            capture_error_mode: which threads may not call functions that are unsafe during a capture, such as a wait
                for an event: ``"global"``: no thread may; ``"thread_local"``: this thread may not; ``"relaxed"``: all
                may.
            check_input_liveness: must be False.

        Raises:
            RuntimeError: the graph has been captured before, the current stream is a default stream or captures
                already, or the mode is none of the three.
            NotImplementedError: ``check_input_liveness`` is True.
        """
        if check_input_liveness:
            raise NotImplementedError("capture_begin: check_input_liveness=True: the inputs of graphs are not followed")
        self._graph.capture_begin(pool, capture_error_mode)

    def capture_end(self) -> None:
        """End the recording. :class:`graph` calls this.

        Raises:
            RuntimeError: the current stream is another one, or something during the capture was not permitted; nothing
                is then recorded.
        """
        self._graph.capture_end()

    def register_generator_state(self, generator: _C.Generator) -> None:
        """Let the captured ops draw from a generator, before the capture. The default generator is always known."""
        self._graph.register_generator_state(generator)

    def instantiate(self) -> None:
        """Make a graph with ``keep_graph=True`` ready for replays.

        Raises:
            RuntimeError: nothing was captured, or ``keep_graph`` is False.
        """
        self._graph.instantiate()

    def replay(self) -> None:
        """Start the recorded work on the current stream.

        Raises:
            RuntimeError: nothing was captured, or the graph was reset.
        """
        self._graph.replay()

    def reset(self) -> None:
        """Destroy the recorded work and release its memory."""
        self._graph.reset()

    def pool(self) -> tuple[int, int]:
        """Return the id of the graph's pool of memory, for another graph to share.

        Raises:
            RuntimeError: nothing was captured.
        """
        return self._graph.pool()

    def enable_debug_mode(self) -> None:
        """Keep the graph after the capture for one ``debug_dump``."""
        self._graph.enable_debug_mode()

    def debug_dump(self, debug_path: str) -> None:
        """Write the graph to a file for the program dot. Warns if neither debug mode nor ``keep_graph`` is set.

        Raises:
            RuntimeError: the file cannot be written.
        """
        self._graph.debug_dump(debug_path)

    def raw_cuda_graph(self) -> int:
        """Return the ``cudaGraph_t`` as a number.

        Raises:
            RuntimeError: ``keep_graph`` is False, or nothing was captured.
        """
        return self._graph.raw_cuda_graph()

    def raw_cuda_graph_exec(self) -> int:
        """Return the ``cudaGraphExec_t`` as a number.

        Raises:
            RuntimeError: the graph is not ready for replays.
        """
        return self._graph.raw_cuda_graph_exec()

    def get_graph_data(self) -> dict[str, Any]:
        """Raise, because PyTorch asks the package ``cuda.bindings``; ``debug_dump`` writes nodes and edges.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("get_graph_data requires the cuda.bindings package; debug_dump(path) shows nodes and edges")


class graph:
    """A context that captures the CUDA work of its block into a graph.

    The block runs on a stream of its own. Before the capture, the context waits for the device and returns unused
    memory to it. Run the work a few times before the capture, on a stream that is not the default one, so that nothing
    in the block happens for the first time.

    Args:
        cuda_graph: the graph.
        pool: the id of a pool of memory that other graphs use, too; None means a pool of its own.
        stream: the stream that captures; None means one that all contexts share.
        capture_error_mode: ``"global"``, ``"thread_local"`` or ``"relaxed"``, see :meth:`CUDAGraph.capture_begin`.
        enable_annotations: must be False.
        check_input_liveness: must be False.

    Raises:
        AssertionError: there is no CUDA device.
        NotImplementedError: ``enable_annotations`` or ``check_input_liveness`` is True.
        RuntimeError: work in the block waits for the device, or a stream that the block has forked was not joined.
            The message at the end of the block says that the capture failed; its ``__context__`` says why.

    Example:
        >>> if torch.cuda.is_available():
        ...     x, g = torch.ones(3, device="cuda"), torch.cuda.CUDAGraph()
        ...     with torch.cuda.graph(g):
        ...         x = x.mul_(2)
        ...     for _ in range(2):
        ...         g.replay()
        ...     assert x.tolist() == [4, 4, 4]

    Mirrors torch/cuda/graphs.py, ``graph``.
    """

    default_capture_stream: Stream | None = None

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: tuple[int, int] | None = None,
        stream: Stream | None = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        if enable_annotations:
            raise NotImplementedError("graph: enable_annotations=True needs the package cuda.bindings")
        if stream is None:
            if graph.default_capture_stream is None:
                graph.default_capture_stream = Stream()
            stream = graph.default_capture_stream
        self.pool = pool
        self.capture_stream = stream
        self.stream_ctx = stream_context(stream)
        self.cuda_graph = cuda_graph
        self.capture_error_mode = capture_error_mode
        self.check_input_liveness = check_input_liveness

    def __enter__(self) -> None:
        synchronize()
        empty_cache()
        self.stream_ctx.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.capture_error_mode, self.check_input_liveness)
        except BaseException:
            self.stream_ctx.__exit__()
            raise

    def __exit__(self, *exception: Any) -> None:
        try:
            self.cuda_graph.capture_end()
        finally:
            self.stream_ctx.__exit__(*exception)


def make_graphed_callables(
    callables: Any,
    sample_args: Any,
    num_warmup_iters: int = 3,
    allow_unused_input: bool = False,
    pool: tuple[int, int] | None = None,
) -> Any:
    """Return functions or modules whose forward and backward passes are replays of graphs.

    Each result is called as the original and takes part in autograd as one node. A call copies its arguments into the
    sample arguments; the backward pass copies the gradients of the outputs. The next call of the same result overwrites
    the outputs and gradients.

    Args:
        callables: a function or module, or a tuple of them in the order in which they will run.
        sample_args: a tuple of tensors, or a tuple of such tuples. Shape, dtype and ``requires_grad`` are those of the
            later arguments.
        num_warmup_iters: how often each callable runs before the capture.
        allow_unused_input: whether an output may be independent of an input that requires grad.
        pool: the id of a pool of memory, see :func:`graph_pool_handle`.

    Returns:
        One callable, or a tuple. A module is returned itself, with a new ``forward``, which runs the old code when the
        module's ``training`` differs from the capture.

    Raises:
        AssertionError: a module has hooks or a buffer that requires grad, a sample argument is not a tensor, or there
            is no CUDA device.
        RuntimeError: autocast with its cache is on, or the work cannot be captured.

    Example:
        >>> if torch.cuda.is_available():
        ...     layer = torch.nn.Linear(4, 2, device="cuda")
        ...     layer = torch.cuda.make_graphed_callables(layer, (torch.randn(3, 4, device="cuda"),))
        ...     layer(torch.randn(3, 4, device="cuda")).sum().backward()

    Mirrors torch/cuda/graphs.py, ``make_graphed_callables``.
    """
    if is_autocast_enabled() and is_autocast_cache_enabled():
        raise RuntimeError(
            "make_graphed_callables does not support the autocast caching. Please set `cache_enabled=False`."
        )
    if not isinstance(callables, tuple):
        return make_graphed_callables((callables,), (sample_args,), num_warmup_iters, allow_unused_input, pool)[0]

    parts = [_Part(func, args, allow_unused_input) for func, args in zip(callables, sample_args, strict=True)]
    pool = graph_pool_handle() if pool is None else pool
    synchronize()
    with stream_context(Stream()):
        for part in parts:
            for _ in range(num_warmup_iters):
                part.run_once()
    synchronize()
    # The parts share memory, so they are captured in the order in which they will run.
    for part in parts:
        part.capture_forward(pool)
    for part in reversed(parts):
        part.capture_backward(pool)
    return tuple(part.graphed() for part in parts)


def _is_module(func: Any) -> bool:
    """Return whether an object looks like a module. ``reftorch.nn`` uses this package, so it is not asked."""
    return hasattr(func, "named_parameters") and hasattr(func, "_forward_pre_hooks")


class _Part:
    """One callable of :func:`make_graphed_callables`, its graphs, and the tensors that they read and write."""

    def __init__(self, func: Any, args: tuple[Any, ...], allow_unused_input: bool) -> None:
        self.func, self.args, self.allow_unused = func, args, allow_unused_input
        params: Sequence[Any] = ()
        if _is_module(func):
            if func._backward_hooks or func._forward_hooks or func._forward_pre_hooks:
                raise AssertionError(
                    "Modules must not have hooks registered at the time they are passed. However, registering hooks "
                    "on modules after passing them through make_graphed_callables is allowed."
                )
            if any(buffer.requires_grad for buffer in func.buffers()):
                raise AssertionError(
                    "In any :class:`~torch.nn.Module` passed to :func:`~make_graphed_callables`, only parameters may "
                    "be trainable. All buffers must have ``requires_grad=False``."
                )
            params = tuple(func.parameters())
        flat_args = _pytree.tree_leaves(args)
        if not all(isinstance(arg, Tensor) for arg in flat_args):
            raise AssertionError(
                "In the beta API, sample_args for each callable must contain only Tensors. Other types are not allowed."
            )
        self.params = params
        self.num_args = len(flat_args)
        self.inputs = (*flat_args, *params)
        self.forward_graph, self.backward_graph = CUDAGraph(), CUDAGraph()
        self.outputs: tuple[Any, ...] = ()
        self.output_grads: tuple[Any, ...] = ()
        self.input_grads: tuple[Any, ...] = ()
        self.structure: Any = None

    def gradients(self, outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Any]:
        """Return the gradient of each input, or None for one that does not require grad."""
        wanted = [each for each in self.inputs if each.requires_grad]
        pairs = [(o, g) for o, g in zip(outputs, output_grads, strict=True) if g is not None]
        if not pairs or not wanted:
            return [None] * len(self.inputs)
        found = iter(grad([o for o, _ in pairs], wanted, [g for _, g in pairs], allow_unused=self.allow_unused))
        return [next(found) if each.requires_grad else None for each in self.inputs]

    def run_once(self) -> None:
        outputs = _pytree.tree_leaves(self.func(*self.args))
        self.gradients(outputs, [_VF.empty_like(o) if o.requires_grad else None for o in outputs])

    def capture_forward(self, pool: tuple[int, int]) -> None:
        with graph(self.forward_graph, pool=pool):
            result = self.func(*self.args)
        outputs, self.structure = _pytree.tree_flatten(result)
        self.outputs = tuple(outputs)

    def capture_backward(self, pool: tuple[int, int]) -> None:
        self.output_grads = tuple(_VF.empty_like(o) if o.requires_grad else None for o in self.outputs)
        self.input_grads = (None,) * len(self.inputs)
        if any(o.requires_grad for o in self.outputs):
            with graph(self.backward_graph, pool=pool):
                self.input_grads = tuple(self.gradients(self.outputs, self.output_grads))
        self.outputs = tuple(o.detach() for o in self.outputs)

    def replay_forward(self, inputs: Sequence[Any]) -> tuple[Any, ...]:
        for mine, given in zip(self.inputs[: self.num_args], inputs, strict=False):
            if mine.data_ptr() != given.data_ptr():
                mine.copy_(given)
        self.forward_graph.replay()
        return tuple(o.detach() for o in self.outputs)

    def replay_backward(self, grads: Sequence[Any]) -> tuple[Any, ...]:
        for mine, given in zip(self.output_grads, grads, strict=True):
            if mine is not None and mine.data_ptr() != given.data_ptr():
                mine.copy_(given)
        self.backward_graph.replay()
        return tuple(g.detach() if g is not None else None for g in self.input_grads)

    def graphed(self) -> Any:
        """Return the function whose passes are replays, or the module with such a ``forward``."""
        node = _autograd_function(self)

        def run(*args: Any) -> Any:
            return _pytree.tree_unflatten(node.apply(*_pytree.tree_leaves(args), *self.params), self.structure)

        func = self.func
        if not _is_module(func):
            return run
        training, forward = func.training, func.forward

        def new_forward(*args: Any, **kwargs: Any) -> Any:
            return run(*args, **kwargs) if func.training == training else forward(*args, **kwargs)

        func.forward = new_forward
        return func


def _autograd_function(part: _Part) -> Any:
    """Return an autograd function whose two passes replay the graphs of a part."""

    class Graphed(Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Any) -> Any:
            return part.replay_forward(inputs)

        @staticmethod
        @once_differentiable
        def backward(ctx: Any, *grads: Any) -> Any:
            return part.replay_backward(grads)

    return Graphed


_places.adopt(__name__, __all__, globals())
