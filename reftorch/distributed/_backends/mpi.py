"""Collectives by an MPI library, through the package mpi4py: for clusters whose network MPI knows better than TCP does.

Mirrors: torch/csrc/distributed/c10d/ProcessGroupMPI.cpp
Leaves out: MPI that reaches the memory of GPUs, 16-bit floats, which MPI has not, and processes that mpiexec did not
start. A job that ends badly leaves a file of MPICH under /dev/shm, named mpich_shm_*.

MPI waits by spinning, which takes a whole processor, and it has no timeouts. So a thread of the group starts the calls
in their order and asks with growing pauses whether they have ended (``Test``); it gives up at a deadline. Calls may run
at the same time, because MPI orders collectives by their starts. The thread is a Python thread: a breakpoint in a rank
stops it, too, and the other ranks wait.
"""

# mypy: disable-error-code="override"
from __future__ import annotations

import queue
import socket
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from reftorch import _C, _VF
from reftorch._C._distributed_c10d import ProcessGroup, ReduceOp, Store, TCPStore, Work, _CoalescedWork
from reftorch.autograd.grad_mode import no_grad

__all__ = ["ProcessGroupMPI"]

_LONGEST_PAUSE = 5e-4  # seconds between two questions, after a while
_UNBOUND = timedelta(0)  # a timeout that stands for the group's is negative


def _mpi() -> Any:
    """Return mpi4py's module, which starts MPI when it is imported for the first time.

    Raises:
        RuntimeError: the package or the library is missing.
    """
    try:
        from mpi4py import MPI
    except ImportError as error:  # mpi4py says so, too, where it finds no library
        raise RuntimeError(
            f"init_process_group: the backend mpi needs mpi4py and an MPI library: {error}. Hint: pip install mpi4py "
            "mpich, and start the program with mpiexec -n 2 python program.py"
        ) from error
    return MPI


def _install_excepthook(MPI: Any) -> None:
    """Let an uncaught exception end the whole job: the other ranks would wait in MPI_Finalize for this one."""
    before = sys.excepthook
    if getattr(before, "_ends_the_mpi_job", False):
        return

    def hook(kind: Any, value: Any, trace: Any) -> None:
        before(kind, value, trace)
        sys.stdout.flush()
        sys.stderr.flush()
        MPI.COMM_WORLD.Abort(1)

    hook._ends_the_mpi_job = True  # type: ignore[attr-defined]
    sys.excepthook = hook


class _Job:
    """A call that MPI runs, and what is to be done after its end."""

    def __init__(self, text: str, start: Callable[[], Any], work: Work, limit: timedelta, status: Any) -> None:
        self.text, self.start, self.work, self.limit, self.status = text, start, work, limit, status
        self.deadline = time.monotonic() + limit.total_seconds()
        self.ended = False

    def begin(self) -> bool:
        self.request, self.finish = self.start()
        return True

    def test(self) -> bool:
        """Return whether the call still runs."""
        if not self.request.Test(self.status):
            if time.monotonic() > self.deadline:
                raise RuntimeError(
                    f"timed out after {self.limit.total_seconds():g} s. Hint: a rank does not take part, or comes later"
                )
            return True
        self.ended = True
        self.finish()
        return False


class ProcessGroupMPI(ProcessGroup):
    """The backend of CPU tensors over an MPI library.

    Args:
        store: through which the members learn each other's ranks in MPI's world.
        rank: of this process in the group.
        size: the number of processes in the group.
        timeout: of each operation.

    Raises:
        RuntimeError: mpi4py or an MPI library is missing.

    Mirrors torch/csrc/distributed/c10d/ProcessGroupMPI.hpp, ``ProcessGroupMPI``.
    """

    def __init__(self, store: Store, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size, "mpi", ["cpu"])
        MPI = self._MPI = _mpi()
        self._limit = timeout
        world = MPI.COMM_WORLD
        store.set(f"mpi/{rank}", str(world.rank))
        members = [int(store.get(f"mpi/{member}")) for member in range(size)]
        if len(set(members)) != size:
            raise RuntimeError(
                f"init_process_group: MPI knows {world.size} processes, and the group has {size}. Hint: start the "
                f"program with mpiexec -n {size} python program.py"
            )
        _install_excepthook(MPI)
        self._comm = world.Create_group(world.group.Incl(members))
        self._types = {
            _C.float32: MPI.FLOAT, _C.float64: MPI.DOUBLE, _C.int64: MPI.INT64_T, _C.int32: MPI.INT32_T,
            _C.int16: MPI.INT16_T, _C.int8: MPI.INT8_T, _C.uint8: MPI.UINT8_T, _C.bool: MPI.UINT8_T,
        }  # fmt: skip
        self._ops = {
            ReduceOp.SUM: MPI.SUM, ReduceOp.AVG: MPI.SUM, ReduceOp.PRODUCT: MPI.PROD, ReduceOp.MIN: MPI.MIN,
            ReduceOp.MAX: MPI.MAX, ReduceOp.BAND: MPI.BAND, ReduceOp.BOR: MPI.BOR, ReduceOp.BXOR: MPI.BXOR,
        }  # fmt: skip
        self._failed = ""
        self._jobs: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run_jobs, daemon=True, name="ProcessGroupMPI")
        self._thread.start()

    @staticmethod
    def _world() -> tuple[Store, int, int]:
        """Return a store of all processes that mpiexec started, the rank of this one, and their number."""
        MPI = _mpi()
        world = MPI.COMM_WORLD
        on_one_machine = world.Split_type(MPI.COMM_TYPE_SHARED).size == world.size
        host = "127.0.0.1" if on_one_machine else socket.gethostname()
        store = TCPStore(host, 0, is_master=True, wait_for_workers=False) if world.rank == 0 else None
        host, port = world.bcast((host, store.port) if store is not None else None)
        return store or TCPStore(host, port), world.rank, world.size

    # --- the thread

    def _run_jobs(self) -> None:
        """Start jobs in their order, which is that of all ranks, and complete each when MPI says that it has ended."""
        running: list[_Job] = []
        pause, ends = 0.0, False
        with no_grad():
            while not ends or running:
                if pause > 0.0:
                    time.sleep(pause)
                try:
                    job = self._jobs.get(block=not running)  # a timeout of microseconds waits for ever in CPython 3.11
                except queue.Empty:
                    job = None
                else:
                    pause, ends = 0.0, ends or job is None
                if job is not None and self._goes_on(job, job.begin):
                    running.append(job)
                still = [each for each in running if self._goes_on(each, each.test)]
                pause = min(pause + 2e-6, _LONGEST_PAUSE) if len(still) == len(running) else 0.0
                running = still

    def _goes_on(self, job: _Job, step: Callable[[], bool]) -> bool:
        """Do a step of a job. Return whether it runs on; otherwise its work has been completed."""
        error = ""
        try:
            if self._failed:
                raise RuntimeError(f"the process group has failed before: {self._failed}")
            if step():
                return True
        except Exception as reason:  # given to whoever waits
            error = f"[rank {self.rank()}] {job.text}: {reason}"
            self._failed = self._failed or error
        job.work._finish(error, job.status.Get_source() if job.ended else -1)
        return False

    def _enqueue(self, text: str, start: Any, result: list[Any], opts: Any = None) -> Work:
        """Let the thread call ``start``, which returns a request of MPI and what to do after its end."""
        limit = getattr(opts, "timeout", None)
        limit = self._limit if limit is None or limit < _UNBOUND else limit
        job = _Job(text, start, Work(result), limit, self._MPI.Status())
        self._jobs.put(job)
        return job.work

    # --- tensors as MPI sees them

    def _buffer(self, tensor: Any) -> list[Any]:
        """Return memory and type. mpi4py finds the count, and divides it among the ranks where MPI wants that."""
        memory = self._MPI.memory.fromaddress(tensor.data_ptr(), tensor.numel() * tensor.element_size())
        return [memory, self._types[tensor.dtype]]

    def _check(self, tensors: list[Any], op: str) -> None:
        for tensor in tensors:
            if tensor.device.type != "cpu":
                raise RuntimeError(f"{op}: expected tensors on the CPU, but got one on {tensor.device}")
            if tensor.dtype not in self._types:
                raise RuntimeError(f"{op}: MPI has no numbers of type {tensor.dtype}. Hint: gloo has them")

    def _op(self, op: ReduceOp, dtype: Any) -> Any:
        if dtype == _C.bool and op in (ReduceOp.SUM, ReduceOp.PRODUCT):  # whether one is true, whether all are
            return self._MPI.MAX if op == ReduceOp.SUM else self._MPI.MIN
        if op == ReduceOp.AVG and not dtype.is_floating_point:
            raise RuntimeError("Cannot use ReduceOp.AVG with integers. Hint: use ReduceOp.SUM")
        if dtype.is_floating_point and op in (ReduceOp.BAND, ReduceOp.BOR, ReduceOp.BXOR):
            raise RuntimeError(f"Cannot use ReduceOp.{op.name} with non-integral dtype")
        return self._ops[op]

    def _divide(self, tensor: Any, op: ReduceOp) -> None:
        if op == ReduceOp.AVG:
            tensor.div_(self.size())

    # --- one tensor for each rank

    def allreduce(self, tensors: Any, opts: Any = ReduceOp.SUM, timeout: Any = None) -> Work:
        [tensor] = tensors if isinstance(tensors, list) else [tensors]
        self._check([tensor], "all_reduce")
        op = getattr(opts, "reduceOp", opts)
        mpi_op, dense = self._op(op, tensor.dtype), tensor.detach().contiguous()

        def finish() -> None:
            self._divide(dense, op)
            tensor.detach().copy_(dense)

        def start() -> Any:
            return self._comm.Iallreduce(self._MPI.IN_PLACE, self._buffer(dense), mpi_op), finish

        return self._enqueue("all_reduce", start, [tensor], opts)

    def allreduce_coalesced(self, tensors: list[Any], opts: Any = ReduceOp.SUM) -> Work:
        return _CoalescedWork([self.allreduce([tensor], opts) for tensor in tensors])

    def broadcast(self, tensors: Any, opts: Any, timeout: Any = None) -> Work:
        [tensor] = tensors if isinstance(tensors, list) else [tensors]
        self._check([tensor], "broadcast")
        root, dense = getattr(opts, "rootRank", opts), tensor.detach().contiguous()

        def start() -> Any:
            return self._comm.Ibcast(self._buffer(dense), root), lambda: tensor.detach().copy_(dense)

        return self._enqueue("broadcast", start, [tensor], opts)

    def reduce(self, tensors: list[Any], opts: Any) -> Work:
        [tensor] = tensors
        self._check([tensor], "reduce")
        mpi_op, dense = self._op(opts.reduceOp, tensor.dtype), tensor.detach().contiguous()
        is_root = opts.rootRank == self.rank()
        op, root = opts.reduceOp, opts.rootRank

        def finish() -> None:
            if is_root:
                self._divide(dense, op)
                tensor.detach().copy_(dense)

        def start() -> Any:
            ours = [self._MPI.IN_PLACE, self._buffer(dense)] if is_root else [self._buffer(dense), None]
            return self._comm.Ireduce(*ours, mpi_op, root), finish

        return self._enqueue("reduce", start, [tensor], opts)

    # --- lists: MPI wants one block where the caller has a list, so blocks are copied there and back

    def _through(self, op: str, call: Any, outputs: list[Any], inputs: list[Any], opts: Any) -> Work:
        self._check([*outputs, *inputs], op)
        source = _VF.cat([each.detach().reshape(-1) for each in inputs]) if inputs else None
        count = sum(each.numel() for each in outputs)
        block: Any = _VF.empty(count, dtype=outputs[0].dtype) if outputs else None

        def finish() -> None:
            begin = 0
            for each in outputs:
                each.detach().copy_(block[begin : begin + each.numel()].view_as(each))
                begin += each.numel()

        def start() -> Any:
            return call(*(None if each is None else self._buffer(each) for each in (source, block))), finish

        return self._enqueue(op, start, outputs, opts)

    def _check_list(self, tensors: list[Any], like: Any, op: str) -> None:
        if len(tensors) != self.size():
            raise ValueError(f"{op}: expected a list of {self.size()} tensors, one for each rank, got {len(tensors)}")
        for i, tensor in enumerate(tensors):
            if tensor.dtype != like.dtype or tensor.numel() != like.numel():
                raise ValueError(f"{op}: invalid tensor type or size at index {i}")

    def allgather(self, output_lists: list[list[Any]], inputs: list[Any], opts: Any = None) -> Work:
        [outputs], [tensor] = output_lists, inputs
        self._check_list(outputs, tensor, "all_gather")
        return self._through("all_gather", self._comm.Iallgather, outputs, [tensor], opts)

    def allgather_coalesced(self, output_lists: list[list[Any]], inputs: list[Any], opts: Any = None) -> Work:
        each = enumerate(inputs)
        return _CoalescedWork([self.allgather([[tensors[i] for tensors in output_lists]], [x], opts) for i, x in each])

    def _allgather_base(self, output: Any, tensor: Any, opts: Any = None) -> Work:
        self._check_list([tensor] * self.size(), tensor, "all_gather_into_tensor")
        if output.numel() != tensor.numel() * self.size():
            raise ValueError("output tensor size must be equal to world_size times input tensor size")
        return self._through("all_gather_into_tensor", self._comm.Iallgather, [output], [tensor], opts)

    def reduce_scatter(self, outputs: list[Any], input_lists: list[list[Any]], opts: Any) -> Work:
        [output], [inputs] = outputs, input_lists
        self._check_list(inputs, output, "reduce_scatter")
        return self._reduce_scatter(output, inputs, opts)

    def _reduce_scatter_base(self, output: Any, tensor: Any, opts: Any) -> Work:
        if tensor.numel() != output.numel() * self.size():
            raise ValueError("input tensor must be the same size as output size times world size")
        return self._reduce_scatter(output, [tensor], opts)

    def _reduce_scatter(self, output: Any, inputs: list[Any], opts: Any) -> Work:
        mpi_op, op = self._op(opts.reduceOp, output.dtype), opts.reduceOp
        self._check([output, *inputs], "reduce_scatter")
        source = _VF.cat([each.detach().reshape(-1) for each in inputs])
        block = _VF.empty(output.numel(), dtype=output.dtype)

        def finish() -> None:
            self._divide(block, op)
            output.detach().copy_(block.view_as(output))

        def start() -> Any:
            return self._comm.Ireduce_scatter_block(self._buffer(source), self._buffer(block), mpi_op), finish

        return self._enqueue("reduce_scatter", start, [output], opts)

    def gather(self, output_lists: list[list[Any]], inputs: list[Any], opts: Any) -> Work:
        outputs, root = output_lists[0] if output_lists else [], opts.rootRank
        if root == self.rank():
            self._check_list(outputs, inputs[0], "gather")
        return self._through("gather", lambda i, o: self._comm.Igather(i, o, root), outputs, inputs, opts)

    def scatter(self, outputs: list[Any], input_lists: list[list[Any]], opts: Any) -> Work:
        inputs, root = input_lists[0] if input_lists else [], opts.rootRank
        if root == self.rank():
            self._check_list(inputs, outputs[0], "scatter")
        return self._through("scatter", lambda i, o: self._comm.Iscatter(i, o, root), outputs, inputs, opts)

    def alltoall(self, outputs: list[Any], inputs: list[Any], opts: Any = None) -> Work:
        to = [each.numel() for each in inputs]
        come = [each.numel() for each in outputs]

        def call(source: Any, block: Any) -> Any:
            return self._comm.Ialltoallv([source[0], to, source[1]], [block[0], come, block[1]])

        return self._through("all_to_all", call, outputs, inputs, opts)

    def alltoall_base(self, output: Any, tensor: Any, come: list[int], to: list[int], opts: Any = None) -> Work:
        def parts(whole: Any, sizes: list[int]) -> list[Any]:
            rows = whole.size(0)
            if not sizes and rows % self.size() != 0:
                raise ValueError("Tensor's dim 0 does not divide equally across group size")
            if sizes and (len(sizes) != self.size() or sum(sizes) != rows):
                raise ValueError("Split sizes doesn't match total dim 0 size")
            return list(whole.detach().split(sizes or [rows // self.size()] * self.size()))

        return self.alltoall(parts(output, come), parts(tensor, to), opts)

    def barrier(self, opts: Any = None) -> Work:
        return self._enqueue("barrier", lambda: (self._comm.Ibarrier(), lambda: None), [], opts)

    # --- messages

    def send(self, tensors: list[Any], to: int, tag: int) -> Work:
        [tensor] = tensors
        self._check([tensor], "send")
        dense = tensor.detach().contiguous()
        return self._enqueue("send", lambda: (self._comm.Isend(self._buffer(dense), to, tag), lambda: None), [tensor])

    def recv(self, tensors: list[Any], source: int, tag: int) -> Work:
        [tensor] = tensors
        self._check([tensor], "recv")
        dense = tensor.detach().contiguous()

        def start() -> Any:
            return self._comm.Irecv(self._buffer(dense), source, tag), lambda: tensor.detach().copy_(dense)

        return self._enqueue("recv", start, [tensor])

    def recv_anysource(self, tensors: list[Any], tag: int) -> Work:
        return self.recv(tensors, self._MPI.ANY_SOURCE, tag)

    # --- the end

    def set_timeout(self, timeout: timedelta) -> None:
        self._limit = timeout

    _set_default_timeout = set_timeout

    def shutdown(self) -> None:
        self._jobs.put(None)
        self._thread.join()

    def abort(self) -> None:
        self._failed = self._failed or "the process group was aborted"
