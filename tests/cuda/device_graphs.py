"""CUDA graphs on simulated devices or a GPU: run by test_devices.py, with and without blocking launches.

The file is more than 500 lines long, because a process for each part would take longer than the tests.

Mirrors: test/test_cuda.py (test_graph_*, test_mempool_*)
"""

import gc
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import reftorch as torch
from reftorch import cuda, nn

NOT_PERMITTED = "operation not permitted when stream is capturing"
FAILED = "operation failed due to a previous error during capture"


@pytest.fixture(autouse=True)
def nothing_captures() -> Iterator[None]:
    torch.manual_seed(0)
    yield
    assert not cuda.is_current_stream_capturing() and cuda.current_stream() == cuda.default_stream()
    cuda.synchronize()  # no test leaves a stream that captures


def captured(work: Callable[[], Any], g: cuda.CUDAGraph | None = None, **options: Any) -> tuple[cuda.CUDAGraph, Any]:
    g = cuda.CUDAGraph() if g is None else g
    with cuda.graph(g, **options):
        y = work()
    return g, y


# ---- capture and replay ----------------------------------------------------------------------------------------------


def test_work_is_recorded_and_not_run_and_a_replay_reads_the_new_inputs() -> None:
    x, total = torch.ones(1000, device="cuda"), torch.zeros((), device="cuda")

    def work() -> torch.Tensor:
        assert cuda.is_current_stream_capturing()
        y = x * 2 + 1
        total.add_(y.sum())
        return y

    g, y = captured(work)
    assert not cuda.is_current_stream_capturing() and total.item() == 0
    for value in (1.0, 5.0):
        x.fill_(value)
        g.replay()
        assert y.eq(2 * value + 1).all().item()
    assert total.item() == 1000 * (3 + 11)


def test_copies_and_products_are_captured() -> None:
    a, b = torch.rand(8, 8, device="cuda"), torch.rand(8, 8, device="cuda")
    host = torch.zeros(8, 8).pin_memory()

    def work() -> torch.Tensor:
        c = torch.zeros_like(a)
        c.copy_(a @ b)
        host.copy_(c.t(), non_blocking=True)
        return c

    g, c = captured(work)
    a.mul_(3)
    g.replay()
    cuda.synchronize()
    assert torch.allclose(c, a @ b) and torch.allclose(host, (a @ b).t().cpu())


@pytest.mark.parametrize("device", ["cuda:0", "cuda:1"])
def test_streams_that_events_fork_and_join(device: str) -> None:
    if int(device[-1]) >= cuda.device_count():
        pytest.skip("one device")
    x = torch.zeros(1 << 12, device="cuda:0")
    other = torch.zeros(1 << 12, device=device)
    side = cuda.Stream(device)
    cuda.synchronize(device)

    def work() -> torch.Tensor:
        main = cuda.current_stream()
        cuda._sleep(5_000_000)
        x.add_(1)
        side.wait_stream(main)
        with cuda.stream(side):
            cuda._sleep(5_000_000)
            other.copy_(x, non_blocking=True)
            other.mul_(10)
        main.wait_stream(side)
        return other + 1 if device == "cuda:0" else x + 0

    g, y = captured(work)
    for times in (1, 2, 3):
        g.replay()
        assert x.eq(times).all().item() and other.eq(10 * times).all().item()
    assert y.eq(31 if device == "cuda:0" else 3).all().item()


def test_replays_on_two_streams_run_one_after_the_other() -> None:
    x, side = torch.zeros(1 << 12, device="cuda"), cuda.Stream()

    def work() -> None:
        y = x + 1
        cuda._sleep(10_000_000)
        x.copy_(y)

    g, _ = captured(work)
    with cuda.stream(side):
        g.replay()
    g.replay()
    cuda.synchronize()
    assert x.eq(2).all().item()


def test_a_graph_is_written_for_dot(tmp_path: Path) -> None:
    x = torch.zeros(4, device="cuda")
    g = cuda.CUDAGraph(keep_graph=True)
    with pytest.raises(RuntimeError, match=r"capture_end\(\) must have been called before"):
        g.instantiate()
    with cuda.graph(g):
        x.add_(1)
        x.sum()
    g.debug_dump(str(tmp_path / "graph.dot"))
    text = (tmp_path / "graph.dot").read_text()
    assert text.startswith("digraph") and "->" in text
    assert g.raw_cuda_graph() != 0
    with pytest.raises(RuntimeError, match=r"until instantiate\(\) has been called"):
        g.raw_cuda_graph_exec()
    g.replay()
    assert x.eq(1).all().item() and g.raw_cuda_graph_exec() != 0
    plain, _ = captured(lambda: x.add_(1))
    with pytest.raises(RuntimeError, match="initialized with keep_graph=true"):
        plain.raw_cuda_graph()
    with pytest.warns(UserWarning, match="CUDA Graphs debug not enabled"):
        plain.debug_dump(str(tmp_path / "other.dot"))


def test_a_graph_of_the_accelerator(tmp_path: Path) -> None:
    x, stream = torch.zeros(3, device="cuda"), torch.Stream()
    graph = torch.accelerator.Graph(keep_graph=True, capture_error_mode="thread_local")
    with stream, graph:
        x += 1
    other = torch.accelerator.Graph(pool=graph.pool())
    with stream, other:
        x *= 2
    for each in (graph, other, graph, other):
        each.replay()
    assert x.tolist() == [6, 6, 6] and other.pool() == graph.pool()
    graph.debug_dump(str(tmp_path / "graph.dot"))
    assert (tmp_path / "graph.dot").read_text().startswith("digraph")
    graph.reset()
    with stream, graph:
        x -= 1
    graph.replay()
    assert x.tolist() == [5, 5, 5]


# ---- what a capture forbids ------------------------------------------------------------------------------------------

WAITS: dict[str, Callable[[torch.Tensor], object]] = {
    "item": lambda x: x[0].item(),
    "stream": lambda x: cuda.current_stream().synchronize(),
    "query": lambda x: cuda.current_stream().query(),
    "device": lambda x: cuda.synchronize(),
    "another event": lambda x: cuda.default_stream().record_event().synchronize(),
    "nested": lambda x: cuda.graph(cuda.CUDAGraph()).__enter__(),
}


@pytest.mark.parametrize("what", WAITS)
def test_a_wait_makes_the_capture_invalid_and_the_stream_is_usable_afterwards(what: str) -> None:
    x, g, stream = torch.ones(3, device="cuda"), cuda.CUDAGraph(), cuda.Stream()

    def work() -> object:
        x.add_(1)
        return WAITS[what](x)

    with pytest.raises(RuntimeError, match=FAILED) as caught:
        captured(work, g, stream=stream)
    assert NOT_PERMITTED in str(caught.value.__context__)
    with pytest.raises(RuntimeError, match="replay without a preceding successful capture"):
        g.replay()
    with cuda.stream(stream):
        assert (x + 1).tolist() == [2, 2, 2]
    with cuda.graph(g, stream=stream):  # nothing was captured, so the graph may try again
        x.add_(1)
    g.replay()
    assert x.tolist() == [2, 2, 2]


def test_an_event_of_the_capture_cannot_be_waited_for() -> None:
    with pytest.raises(RuntimeError, match=FAILED) as caught, cuda.graph(cuda.CUDAGraph()):
        cuda.current_stream().record_event().synchronize()
    assert "operation not permitted on an event last recorded in a capturing stream" in str(caught.value.__context__)


def test_streams_must_be_joined_and_must_not_wait_for_work_outside() -> None:
    x, side = torch.ones(3, device="cuda"), cuda.Stream()

    def fork() -> None:
        side.wait_stream(cuda.current_stream())
        with cuda.stream(side):
            x.add_(1)

    with pytest.raises(RuntimeError, match="capturing stream has unjoined work"):
        captured(fork)
    outside = cuda.default_stream().record_event()
    with pytest.raises(RuntimeError, match=FAILED) as caught, cuda.graph(cuda.CUDAGraph()):
        cuda.current_stream().wait_event(outside)
    assert "dependency created on uncaptured work in another stream" in str(caught.value.__context__)
    assert x.tolist() == [1, 1, 1]


def test_external_events_are_recorded_and_waited_for_at_each_replay() -> None:
    x, begun, ended = torch.ones(3, device="cuda"), *(cuda.Event(enable_timing=True, external=True) for _ in range(2))
    gate = cuda.default_stream().record_event(cuda.Event(external=True))

    def work() -> None:
        cuda.current_stream().wait_event(gate)  # an event that is not external may not come from outside
        begun.record()
        x.mul_(2)
        ended.record()

    g, _ = captured(work)
    assert ended.query() and x.tolist() == [1, 1, 1]
    for value in (2, 4):
        g.replay()
        ended.synchronize()
        assert begun.elapsed_time(ended) >= 0 and x.tolist() == [value] * 3
    cuda._sleep(20_000_000)
    gate.record()
    side = cuda.Stream()
    with cuda.stream(side):
        g.replay()
    assert not ended.query() or gate.query()  # the replay waits for the gate
    side.synchronize()
    assert gate.query() and x.tolist() == [8, 8, 8]


def test_pageable_memory_is_refused_and_the_capture_goes_on() -> None:
    x = torch.ones(3, device="cuda")
    g = cuda.CUDAGraph()
    with cuda.graph(g):
        for copy in (x.cpu, lambda: x.copy_(torch.zeros(3), non_blocking=True)):
            with pytest.raises(RuntimeError, match="unless the CPU tensor is pinned"):
                copy()
        x.add_(1)
    g.replay()
    assert x.tolist() == [2, 2, 2]


@pytest.mark.parametrize(("mode", "permitted"), [("global", False), ("thread_local", True), ("relaxed", True)])
def test_what_other_threads_may_do(mode: str, permitted: bool) -> None:
    x, event = torch.ones(3, device="cuda"), cuda.default_stream().record_event()
    errors: list[str] = []

    def ask() -> None:
        try:
            event.query()
        except RuntimeError as error:
            errors.append(str(error))

    def capture() -> None:
        with cuda.graph(cuda.CUDAGraph(), capture_error_mode=mode):
            x.add_(1)
            thread = threading.Thread(target=ask)
            thread.start()
            thread.join()
            torch.empty(30 << 20, device="cuda")  # cudaMalloc is permitted to the allocator in each mode

    if permitted:
        capture()
    else:
        with pytest.raises(RuntimeError, match=FAILED):
            capture()
    assert len(errors) == (not permitted) and all(NOT_PERMITTED in error for error in errors)


def test_what_a_graph_refuses() -> None:
    x, g = torch.ones(3, device="cuda"), cuda.CUDAGraph()
    with pytest.raises(RuntimeError, match="must be captured on a non-default stream"):
        g.capture_begin()
    with pytest.raises(RuntimeError, match=r"Unknown capture error mode. Expected `global`, .* got fast"):
        cuda.graph(g, capture_error_mode="fast").__enter__()
    with pytest.raises(RuntimeError, match=r"pool\(\) without a preceding successful capture"):
        g.pool()
    with cuda.graph(g):
        x.add_(1)
    with pytest.raises(RuntimeError, match="already owns a captured graph"), cuda.graph(g):
        pass
    g.reset()
    with pytest.raises(RuntimeError, match="replay without a preceding successful capture"):
        g.replay()
    with pytest.warns(UserWarning, match="The CUDA Graph is empty"):
        captured(lambda: x)
    begun = cuda.CUDAGraph()
    with cuda.stream(cuda.Stream()):
        begun.capture_begin()
        del begun  # ends the capture
        gc.collect()
        assert not cuda.is_current_stream_capturing()


# ---- memory ----------------------------------------------------------------------------------------------------------


def pools() -> set[tuple[int, int]]:
    return {segment["segment_pool_id"] for segment in cuda.memory_snapshot()} - {(0, 0)}


def test_the_memory_of_a_graph_lives_as_long_as_the_graph() -> None:
    gc.collect()
    cuda.empty_cache()
    x, before = torch.ones(1 << 20, device="cuda"), cuda.memory_reserved()
    g, y = captured(lambda: (x + 1) * 2)
    place = y.data_ptr()
    assert pools() == {g.pool()} and cuda.memory_reserved() > before
    del y
    cuda.empty_cache()
    z = torch.empty(1 << 20, device="cuda")
    assert z.data_ptr() != place and pools() == {g.pool()}, "the memory is the graph's, although the tensor has gone"
    g.replay()
    h, y = captured(lambda: x + 1, pool=g.pool())
    assert h.pool() == g.pool() and len(pools()) == 1
    g.reset()
    cuda.empty_cache()
    assert pools() == {h.pool()}
    del z, g, h
    gc.collect()
    cuda.empty_cache()
    assert len(pools()) == 1, "a tensor lives in the pool"
    allocated = cuda.memory_allocated()
    del y
    assert cuda.memory_allocated() == allocated - (4 << 20)
    cuda.empty_cache()
    assert pools() == set() and cuda.memory_reserved() == before


def test_blocks_that_wait_for_streams_are_freed_after_the_capture() -> None:
    x, side = torch.zeros(1 << 18, device="cuda"), cuda.Stream()
    x.record_stream(side)
    place = x.data_ptr()

    def work() -> torch.Tensor:
        nonlocal x
        del x  # an event that is recorded now would be the graph's
        return torch.ones(1 << 18, device="cuda") + 1

    g, y = captured(work, stream=side)

    def state() -> str:
        blocks = [block for segment in cuda.memory_snapshot() for block in segment["blocks"]]
        return max((b for b in blocks if b["address"] <= place), key=lambda b: b["address"])["state"]

    assert state() == "active_pending_free"
    torch.empty(1, device="cuda")  # records the event
    cuda.synchronize()
    torch.empty(1, device="cuda")  # sees that the event has passed
    assert state() == "inactive"
    g.replay()
    assert y.eq(2).all().item()


def test_a_pool_of_the_program() -> None:
    gc.collect()
    cuda.empty_cache()
    pool = cuda.MemPool()
    assert pool.use_count() == 1 and pool.device == 0 and pool.allocator is None
    with cuda.use_mem_pool(pool):
        x = torch.ones(1000, device="cuda")
        assert pool.use_count() == 2
        with pytest.raises(RuntimeError, match="already recording to mempool_id"), cuda.use_mem_pool(pool):
            pass
    outside = torch.ones(1000, device="cuda")
    (segment,) = pool.snapshot()
    assert segment["segment_pool_id"] == pool.id and 0 <= x.data_ptr() - segment["address"] < segment["total_size"]
    assert not 0 <= outside.data_ptr() - segment["address"] < segment["total_size"]
    g, y = captured(lambda x=x: x + 1, pool=pool.id)
    assert g.pool() == pool.id and pool.use_count() == 2
    g.replay()
    assert y.eq(2).all().item()
    del x, y, g
    gc.collect()
    assert pools() == {pool.id}
    del pool
    assert pools() == set()
    with pytest.raises(TypeError):
        cuda.MemPool(object())


# ---- random numbers --------------------------------------------------------------------------------------------------


def test_replays_draw_the_numbers_that_the_ops_draw_without_a_graph() -> None:
    def draw() -> torch.Tensor:
        return torch.cat([torch.rand(3, device="cuda"), nn.functional.dropout(torch.ones(5, device="cuda"))])

    g, y = captured(draw)
    for seed in (1, 2):
        torch.manual_seed(seed)
        expected = [draw().tolist() for _ in range(3)]
        torch.manual_seed(seed)
        got = [draw().tolist()]
        for _ in range(2):
            g.replay()
            got.append(y.tolist())
        assert got == expected and got[1] != got[2]


def test_generators_of_graphs() -> None:
    mine = torch.Generator("cuda").manual_seed(5)
    x = torch.empty(4, device="cuda")
    with cuda.graph(cuda.CUDAGraph()):
        with pytest.raises(RuntimeError, match="not in capture mode"):
            x.uniform_(generator=mine)
        x.add_(1)
    g = cuda.CUDAGraph()
    g.register_generator_state(mine)
    with cuda.graph(g):
        x.uniform_(generator=mine)
        for call in (mine.seed, mine.initial_seed, mine.get_offset):
            with pytest.raises(RuntimeError, match=r"during CUDA graph capture. If you need this call to be captured"):
                call()
        with pytest.raises(RuntimeError, match="only if new seed is the same as the original seed"):
            mine.manual_seed(6)
        mine.manual_seed(5)
    g.replay()
    first = x.tolist()
    assert first == torch.empty(4, device="cuda").uniform_(generator=mine.manual_seed(5)).tolist()


# ---- training --------------------------------------------------------------------------------------------------------

OPTIMIZERS: dict[str, Callable[[list[torch.Tensor]], torch.optim.Optimizer]] = {
    "SGD": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "Adam": lambda p: torch.optim.Adam(p, lr=0.05, capturable=True),
    "AdamW": lambda p: torch.optim.AdamW(p, lr=0.05, weight_decay=0.1, amsgrad=True, capturable=True),
    "fused Adam": lambda p: torch.optim.Adam(p, lr=0.05, capturable=True, fused=True),
}


def perceptron() -> nn.Module:
    torch.manual_seed(3)
    return nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Dropout(0.2), nn.Linear(16, 3)).cuda()


def batches(n: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    torch.manual_seed(4)
    return [(torch.randn(8, 6), torch.randint(3, (8,))) for _ in range(n)]


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_a_captured_training_step_gives_the_losses_of_the_plain_one(optimizer: str) -> None:
    data = batches(8)
    losses: list[list[float]] = []
    for use_graph in (False, True):
        model, side = perceptron(), cuda.Stream()
        steps = OPTIMIZERS[optimizer](list(model.parameters()))
        x, y = torch.empty(8, 6, device="cuda"), torch.empty(8, dtype=torch.long, device="cuda")

        def step(
            model: nn.Module = model, steps: torch.optim.Optimizer = steps, x: torch.Tensor = x, y: torch.Tensor = y
        ) -> torch.Tensor:
            steps.zero_grad(set_to_none=True)
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            steps.step()
            return loss

        side.wait_stream(cuda.current_stream())
        losses.append([])
        torch.manual_seed(5)
        with cuda.stream(side):
            for inputs, targets in data[:3]:
                x.copy_(inputs)
                y.copy_(targets)
                losses[-1].append(step().item())
        cuda.current_stream().wait_stream(side)
        if use_graph:
            g, loss = captured(step)
        for inputs, targets in data[3:]:
            x.copy_(inputs)
            y.copy_(targets)
            if use_graph:
                g.replay()
            else:
                loss = step()
            losses[-1].append(loss.item())
    assert losses[0] == losses[1] and len(set(losses[0])) == len(data)


def test_a_step_that_reads_its_count_on_the_host_is_refused() -> None:
    model = perceptron()
    steps = torch.optim.Adam(model.parameters())
    model(torch.ones(8, 6, device="cuda")).sum().backward()
    with cuda.graph(cuda.CUDAGraph()):
        with pytest.raises(RuntimeError, match=r"for an instance of Adam but param_groups' capturable is False"):
            steps.step()
        torch.ones(1, device="cuda")
    saved = torch.optim.Adam(model.parameters(), capturable=True)
    saved.step()
    saved.load_state_dict(saved.state_dict())
    assert all(state["step"].is_cuda for state in saved.state.values())


def test_make_graphed_callables() -> None:
    data = [inputs.cuda() for inputs, _ in batches(3)]
    results: list[list[torch.Tensor]] = []
    for use_graph in (False, True):
        model = perceptron()
        model[2].p = 0.0
        first, rest = model[:2], model[2:]
        if use_graph:
            samples = torch.randn(8, 6, device="cuda"), torch.randn(8, 16, device="cuda", requires_grad=True)
            first, rest = cuda.make_graphed_callables((first, rest), tuple((sample,) for sample in samples))
        steps = torch.optim.SGD(model.parameters(), lr=0.1)
        results.append([])
        for x in data:
            steps.zero_grad()
            out = rest(first(x))
            out.pow(2).sum().backward()
            steps.step()
            results[-1].extend([out.detach().clone(), *(p.detach().clone() for p in model.parameters())])
        rest.eval()
        results[-1].append(rest(first(data[0])).detach())  # the old code, because `training` differs
    assert all(torch.equal(a, b) for a, b in zip(*results, strict=True))

    f = cuda.make_graphed_callables(lambda a, b: {"sum": a + b, "product": a * b}, (data[0] + 0, data[1] + 0))
    assert torch.equal(f(data[1], data[2])["product"], data[1] * data[2])


def test_what_make_graphed_callables_refuses() -> None:
    model, x = perceptron(), torch.ones(8, 6, device="cuda")
    with pytest.raises(AssertionError, match="must contain only Tensors"):
        cuda.make_graphed_callables(model, (x, 3))
    model.register_buffer("b", torch.ones(1, device="cuda", requires_grad=True))
    with pytest.raises(AssertionError, match="All buffers must have"):
        cuda.make_graphed_callables(model, (x,))
    model[0].register_forward_hook(lambda *args: None)
    with pytest.raises(AssertionError, match="must not have hooks"):
        cuda.make_graphed_callables(model[0], (x,))
    torch.set_autocast_enabled("cuda", True)
    try:
        with pytest.raises(RuntimeError, match="does not support the autocast caching"):
            cuda.make_graphed_callables(model, (x,))
    finally:
        torch.set_autocast_enabled("cuda", False)
