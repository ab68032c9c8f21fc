"""Work on CUDA streams from several threads at once, for the thread sanitizer: ``make tsan``.

Each scenario runs its work on four threads that begin together and asserts the sums that must come out. The threads
enqueue, and the workers of the simulator's streams run the kernels beside them. tests/cuda/device_memory.py runs the
scenarios on the ordinary build.

Mirrors: test/test_cuda.py (test_streaming_backwards_device_transfer, test_stream_context, test_record_stream, the
tests of graphs)
"""

from __future__ import annotations

import sys
import threading

import reftorch as torch
from reftorch import cuda
from reftorch.profiler import ProfilerActivity, profile
from tests.scenarios import THREADS, by_name, main, on_threads

N = 3000  # some blocks of threads


def device_of(i: int) -> str:
    return f"cuda:{i % cuda.device_count()}"


def streams_of_their_own(rounds: int) -> None:
    def work(i: int) -> None:
        with cuda.device(device_of(i)):
            streams = [cuda.Stream(), cuda.Stream()]
            totals = []
            for stream in streams:
                with cuda.stream(stream):
                    x = torch.zeros(N, device="cuda")
                    for _ in range(rounds):
                        x.add_(i + 1)
                    totals.append(x.sum())
            for total, stream in zip(totals, streams, strict=True):
                stream.synchronize()
                assert total.item() == N * rounds * (i + 1)

    on_threads(work)


def one_stream_for_all(rounds: int) -> None:
    x = torch.zeros(N, device="cuda")

    def work(i: int) -> None:
        for _ in range(rounds):
            x.add_(1)

    on_threads(work)
    assert x.cpu().eq(rounds * THREADS).all()
    assert x._version == rounds * THREADS


def kernels_with_barriers(rounds: int) -> None:
    """Softmax, layer norm, sums and products: the threads of a block wait for each other, on fibers."""

    def work(i: int) -> None:
        with cuda.device(device_of(i)), cuda.stream(cuda.Stream()):
            rows = torch.arange(8 * 300, dtype=torch.float32, device="cuda").view(8, 300)
            for _ in range(rounds):
                ones = rows.softmax(1).sum(1)
                middle = torch.nn.functional.layer_norm(rows, (300,)).mean(1)
                product = torch.ones(4, 300, device="cuda") @ torch.ones(300, 5, device="cuda")
                assert torch.allclose(ones.cpu(), torch.ones(8))
                assert torch.allclose(middle.cpu(), torch.zeros(8), atol=1e-5)
                assert product.cpu().eq(300).all()

    on_threads(work)


def blocks_that_other_streams_use(rounds: int) -> None:
    """The allocator gives a block to somebody else only after the stream of record_stream has finished with it."""

    def work(i: int) -> None:
        with cuda.device(device_of(i)):
            maker, user = cuda.Stream(), cuda.Stream()
            total = torch.zeros((), device="cuda")
            user.wait_stream(cuda.current_stream())
            for step in range(rounds):
                with cuda.stream(maker):
                    x = torch.full((N,), float(step), device="cuda")
                    made = maker.record_event()
                with cuda.stream(user):
                    made.wait()
                    total.add_(x.sum())
                x.record_stream(user)
                del x
            user.synchronize()
            assert total.item() == N * sum(range(rounds))

    on_threads(work)


def the_allocator_is_asked_meanwhile(rounds: int) -> None:
    def work(i: int) -> None:
        for step in range(rounds):
            if i == 0:
                stats = cuda.memory_stats()
                assert stats["allocated_bytes.all.current"] <= stats["reserved_bytes.all.current"]
                cuda.memory_snapshot()
                cuda.empty_cache()
            else:
                x = torch.ones(N * (step % 5 + 1), device="cuda")
                assert x.sum().item() == x.numel()

    on_threads(work)


def a_ring_of_events(rounds: int) -> None:
    """Each thread adds to what the thread before it made in the round before; events order the streams."""
    values = [torch.ones(N, device=device_of(i)) for i in range(THREADS)]
    cuda.synchronize(0)
    cuda.synchronize(cuda.device_count() - 1)
    events: list[cuda.Event] = [cuda.Event() for _ in range(THREADS)]
    barrier = threading.Barrier(THREADS)

    def work(i: int) -> None:
        before = (i - 1) % THREADS
        with cuda.device(device_of(i)):
            stream = cuda.Stream()
            for _ in range(rounds):
                barrier.wait()
                event, value = events[before], values[before]
                barrier.wait()
                with cuda.stream(stream):
                    stream.wait_event(event)
                    values[i] = value.to(device_of(i)) + 1
                    value.record_stream(cuda.current_stream(value.device))
                    events[i] = cuda.Event()
                    events[i].record(stream)
            stream.synchronize()

    on_threads(work)
    for value in values:
        assert value.cpu().eq(rounds + 1).all()


def graphs_of_their_own(rounds: int) -> None:
    """Captures at the same time, each only in the eyes of its own thread; then replays at the same time."""

    def work(i: int) -> None:
        with cuda.device(device_of(i)):
            x, total = torch.zeros(N, device="cuda"), torch.zeros((), device="cuda")
            cuda.current_stream().synchronize()
            graph, stream = cuda.CUDAGraph(), cuda.Stream()
            with cuda.graph(graph, stream=stream, capture_error_mode="thread_local"):
                x.add_(1)
                total.add_(x.sum())
            with cuda.stream(stream):
                for _ in range(rounds):
                    graph.replay()
            stream.synchronize()
            assert x.cpu().eq(rounds).all()
            assert total.item() == N * sum(range(1, rounds + 1))

    on_threads(work)


def copies_between_devices_and_pinned_memory(rounds: int) -> None:
    last = f"cuda:{cuda.device_count() - 1}"

    def work(i: int) -> None:
        host = torch.arange(N, dtype=torch.float32).pin_memory()
        back = torch.zeros(N).pin_memory()
        for _ in range(rounds):
            there = host.to("cuda:0", non_blocking=True).mul_(i + 1).to(last, non_blocking=True)
            back.copy_(there, non_blocking=True)
            cuda.synchronize(last)
            assert torch.equal(back, host * (i + 1))

    on_threads(work)


def backward_on_two_devices(rounds: int) -> None:
    """The engine runs each node on the stream of its forward, and adds into leaves that all threads share."""
    leaves = [torch.ones(N, device=device_of(i), requires_grad=True) for i in range(cuda.device_count())]

    def work(i: int) -> None:
        with cuda.device(device_of(i)), cuda.stream(cuda.Stream()):
            for _ in range(rounds):
                loss = sum((leaf * leaf).sum().to("cuda:0") for leaf in leaves)
                loss.backward()
            cuda.current_stream().synchronize()

    on_threads(work)
    for leaf in leaves:
        assert leaf.grad is not None
        assert leaf.grad.cpu().eq(2.0 * rounds * THREADS).all()


def one_generator(rounds: int) -> None:
    """Each thread draws from the generators of the devices; no two draw the same numbers."""
    cuda.manual_seed_all(0)
    drawn: list[float] = []

    def work(i: int) -> None:
        for _ in range(rounds):
            drawn.append(torch.rand(N, dtype=torch.float64, device="cuda:0").sum().item())

    on_threads(work)
    assert len(set(drawn)) == rounds * THREADS


def profiles_begin_and_end_meanwhile(rounds: int) -> None:
    def work(i: int) -> None:
        x = torch.ones(N, device="cuda")
        for _ in range(rounds):
            if i == 0:
                with profile(activities=[ProfilerActivity.CUDA]) as p:
                    assert x.mul(2).sum().item() == 2 * N
                    cuda.synchronize()
                assert len(p.events()) > 0
            else:
                assert x.add(1).sum().item() == 2 * N

    on_threads(work)


SCENARIOS = by_name(
    (
        streams_of_their_own,
        one_stream_for_all,
        kernels_with_barriers,
        blocks_that_other_streams_use,
        the_allocator_is_asked_meanwhile,
        a_ring_of_events,
        graphs_of_their_own,
        copies_between_devices_and_pinned_memory,
        backward_on_two_devices,
        one_generator,
        profiles_begin_and_end_meanwhile,
    )
)


if __name__ == "__main__":
    if not cuda.is_available():  # a build tree keeps its settings, and an older one has no simulator
        sys.exit("tests/cuda/threads.py: there are no devices: set REFTORCH_CUDA_SIM=2; remove build/Tsan if it is old")
    main(SCENARIOS, sys.argv[1:], rounds=10)
