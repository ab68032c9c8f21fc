"""Stores, transfers and the Reducer, used by several threads at once, for the thread sanitizer: ``make tsan``.

Ranks are threads of one process, which meet in a store of this process. So the sanitizer sees both ends of each
connection, and the threads of the groups beside those that call them. tests/distributed/test_threads.py runs the
scenarios on the ordinary build.

Mirrors: nothing in PyTorch: its tests of ranks that are threads have no transfers, so a sanitizer finds little there.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

import reftorch as torch
import reftorch.distributed as dist
from reftorch import nn
from reftorch.nn.parallel import DistributedDataParallel
from reftorch.testing._internal.common_distributed import spawn_threads_and_init_comms
from tests.scenarios import THREADS, by_name, main, on_threads

RANKS = 3
LONG = timedelta(seconds=300)  # never reached, also not on the sanitizer's build
SMALL, LARGE = 7, 40_000  # elements: one message, and many


def few(rounds: int) -> int:
    """Return how often to make new servers, groups or models, which takes longer than to use them."""
    return max(1, rounds // 10)


# --- stores: the threads share one store, or have a client each -------------------------------------------------------


def use_stores(store_of: Callable[[int], Any], rounds: int) -> None:
    """Let each thread call everything that a store has; ``store_of(i)`` is the store of thread i."""
    last = (THREADS - 1, rounds - 1)
    counts: list[int] = []

    def work(i: int) -> None:
        store = store_of(i)
        for step in range(rounds):
            after = (i + 1) % THREADS
            counts.append(store.add("count", 1))
            store.set(f"{step} from {i}", bytes([i, 0, 255]))
            store.wait([f"{step} from {after}"], LONG)
            assert store.get(f"{step} from {after}") == bytes([after, 0, 255])
            store.multi_set([f"{step} a {i}", f"{step} b {i}"], ["x", "y" * 5000])
            assert store.multi_get([f"{step} a {after}", f"{step} b {after}"]) == [b"x", b"y" * 5000]
            store.append("text", "ab")
            store.compare_set(f"{step} first", "", str(i))
            assert int(store.get(f"{step} first")) in range(THREADS)
            store.queue_push(f"queue of {after}", str(step))
            assert store.queue_pop(f"queue of {i}") == str(step).encode()
            assert store.check(["count"]) and not store.check([f"{step} from nobody"])
            with pytest.raises(dist.DistStoreError, match="nobody"):
                store.wait([f"{step} from nobody"], timedelta(milliseconds=1))
            store.barrier(f"{step} all", THREADS, LONG)
            assert store.delete_key(f"{step} from {i}")
        store.barrier("end", THREADS, LONG)

    on_threads(work)
    store = store_of(0)
    assert sorted(counts) == list(range(1, rounds * THREADS + 1))
    assert store.get("text") == b"ab" * rounds * THREADS
    assert not store.check([f"{last[1]} from {last[0]}"])
    assert store.num_keys() > rounds


def a_hash_store_of_all_threads(rounds: int) -> None:
    store = dist.HashStore()
    use_stores(lambda i: store, rounds)


def prefix_stores_over_one_store(rounds: int) -> None:
    store = dist.HashStore()
    stores = [dist.PrefixStore("job", dist.PrefixStore("outer", store)) for _ in range(THREADS)]
    use_stores(lambda i: stores[i], rounds)


def clients_of_a_tcp_store(rounds: int) -> None:
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=LONG)
    clients = [server, *(dist.TCPStore("127.0.0.1", server.port, timeout=LONG) for _ in range(THREADS - 1))]
    use_stores(lambda i: clients[i], rounds)


def one_client_of_a_tcp_store(rounds: int) -> None:
    """The threads take turns at one connection, so none of them may wait for a key that another has not yet set."""
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=LONG)
    client = server.clone()

    def work(i: int) -> None:
        for step in range(rounds):
            client.set(f"{i}", f"{step}" * 3000)
            client.add("count", 1)
            assert client.get(f"{i}") == (f"{step}" * 3000).encode()
            server.queue_push("queue", f"{i}")
            assert int(client.queue_pop("queue")) in range(THREADS)

    on_threads(work)
    assert client.get("count") == str(rounds * THREADS).encode()


def clients_come_and_go(rounds: int) -> None:
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=LONG)

    def work(i: int) -> None:
        for _ in range(rounds):
            first = dist.TCPStore("127.0.0.1", server.port, timeout=LONG)
            second = first.clone()
            del first
            second.add("count", 1)

    on_threads(work)
    assert server.get("count") == str(rounds * THREADS).encode()


def a_server_that_ends_before_its_clients(rounds: int) -> None:
    """Each client waits for a key that never comes, or asks again and again; all must learn that the server is gone."""
    for _ in range(few(rounds)):
        servers = [dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=LONG)]
        clients = [dist.TCPStore("127.0.0.1", servers[0].port, timeout=LONG) for _ in range(THREADS)]
        outcomes: list[str] = []

        def work(i: int, servers: Any = servers, clients: Any = clients, outcomes: list[str] = outcomes) -> None:
            if i == 0:
                for each in range(1, THREADS):
                    servers[0].wait([f"{each} asks"])
                servers.clear()
                return
            clients[i].set(f"{i} asks", "")
            try:
                while True:
                    clients[i].wait(["never"]) if i == 1 else clients[i].add("count", 1)
            except dist.DistError as error:
                outcomes.append(type(error).__name__)

        on_threads(work)
        assert outcomes == ["DistNetworkError"] * (THREADS - 1)


# --- transfers: each thread is a rank ---------------------------------------------------------------------------------


def groups(store_of: Callable[[int], Any] | None = None) -> list[Any]:
    """Return the groups of all ranks over one store; each rank has to make its group at the same time."""
    store, made = dist.HashStore(), [None] * RANKS

    def make(rank: int) -> None:
        mine = store if store_of is None else store_of(rank)
        made[rank] = dist.ProcessGroupGloo(mine, rank, RANKS, LONG)  # type: ignore[call-overload]

    on_threads(make, RANKS)
    return made


def on_ranks(groups_of_threads: list[Any], work: Callable[[int], object]) -> None:
    """Call ``work(i)`` on a thread for each group; a thread that fails ends its group, so that no other one waits."""

    def run(i: int) -> None:
        try:
            work(i)
        except BaseException:
            groups_of_threads[i].abort()
            raise

    on_threads(run, len(groups_of_threads))


def call_collectives(group: Any, rank: int, size: int, step: int) -> None:
    """Call each collective once and look at its result."""
    others, total = range(RANKS), float(sum(range(RANKS)) + RANKS * step)
    mine = torch.full((size,), float(rank + step))
    works = [dist.all_reduce(each, group=group, async_op=True) for each in (mine.clone(), mine.clone())]
    summed = mine.clone()
    dist.all_reduce(summed, group=group)
    assert summed[-1].item() == total
    for work in works:
        assert work is not None
        assert work.wait() and work.result()[0][0].item() == total
    sent = mine.clone()
    dist.broadcast(sent, group=group, group_src=step % RANKS)
    assert sent[-1].item() == step % RANKS + step
    parts = [torch.empty(size) for _ in others]
    dist.all_gather(parts, mine, group=group)
    assert [part[-1].item() for part in parts] == [other + step for other in others]
    dist.reduce_scatter(sent, [mine] * RANKS, group=group)
    assert sent[0].item() == total
    dist.all_to_all(parts, [mine + 10 * other for other in others], group=group)
    assert [part[-1].item() for part in parts] == [other + step + 10 * rank for other in others]
    dist.reduce(summed := mine.clone(), group=group, group_dst=0)
    assert rank != 0 or summed[0].item() == total
    dist.gather(mine, parts if rank == 1 else None, group=group, group_dst=1)
    assert rank != 1 or parts[2][-1].item() == 2 + step
    dist.scatter(sent, [mine + other for other in others] if rank == 2 else None, group=group, group_src=2)
    assert sent[0].item() == 2 + step + rank
    dist.barrier(group=group)


def collectives(rounds: int) -> None:
    made = groups()

    def work(rank: int) -> None:
        for step in range(rounds):
            call_collectives(made[rank], rank, LARGE if step % 10 == 1 else SMALL, step)

    on_ranks(made, work)


def operands_that_are_let_go(rounds: int) -> None:
    """Callers drop the inputs of operations that have not run yet, and other tensors get the memory of their copies.

    The inputs are columns, and the group copies such tensors to dense memory, which nobody but the operation has.
    """
    made = groups()
    last = RANKS - 1

    def work(rank: int) -> None:
        group, others = made[rank], range(RANKS)
        for step in range(rounds):
            gathered, exchanged, at_root = ([torch.empty(LARGE) for _ in others] for _ in range(3))
            summed, part = torch.empty(LARGE), torch.empty(LARGE)
            if rank == last:  # no operation ends before this rank has called it
                for other in range(last):
                    group.recv([torch.empty(1)], other, 0).wait()

            def number(of: int, to: int = 0, step: int = step) -> torch.Tensor:
                return torch.full((LARGE, 2), float(of + step + 10 * to))[:, 0]

            works: list[Any] = [
                dist.all_gather(gathered, number(rank), group=group, async_op=True),
                dist.reduce_scatter(summed, [number(rank, to) for to in others], group=group, async_op=True),
                dist.all_to_all(exchanged, [number(rank, to) for to in others], group=group, async_op=True),
                dist.gather(number(rank), at_root if rank == 0 else None, group=group, group_dst=0, async_op=True),
                dist.scatter(
                    part, [number(0, i) for i in others] if rank == 0 else None, group=group, group_src=0, async_op=True
                ),
            ]
            others_memory = [torch.full((LARGE,), -1.0) for _ in range(24)]
            if rank != last:
                group.send([torch.ones(1)], last, 0).wait()
            for each in works:
                each.wait()
            for i in others:
                assert torch.equal(gathered[i], number(i))
                assert torch.equal(exchanged[i], number(i, rank))
                assert rank != 0 or torch.equal(at_root[i], number(i))
            assert torch.equal(summed, sum((number(i, rank) for i in others), torch.zeros(LARGE)))
            assert torch.equal(part, number(0, rank))
            del others_memory

    on_ranks(made, work)


def collectives_over_a_tcp_store(rounds: int) -> None:
    """The groups come and go: each round connects all ranks again."""
    server = dist.TCPStore("127.0.0.1", 0, is_master=True, timeout=LONG)
    clients = [server.clone() for _ in range(RANKS)]
    for step in range(few(rounds)):
        made = groups(lambda rank, step=step: dist.PrefixStore(f"group {step}", clients[rank]))
        on_ranks(made, lambda rank, made=made, step=step: call_collectives(made[rank], rank, SMALL, step))


def works_that_other_threads_wait_for(rounds: int) -> None:
    """One thread of each rank starts operations, another thread of the rank waits, and callbacks run on a third."""
    made = groups()
    started: list[list[Any]] = [[] for _ in range(RANKS)]
    begun = [threading.Semaphore(0) for _ in range(RANKS)]
    called: list[int] = []

    def work(i: int) -> None:
        rank = i // 2
        for step in range(rounds):
            if i % 2 == 0:
                tensor = torch.full((SMALL,), float(rank))
                operation: Any = dist.all_reduce(tensor, group=made[rank], async_op=True)
                sums = operation.get_future().then(lambda done: called.append(int(done.value()[0][0].item())))
                started[rank].append((operation, tensor, sums))
                begun[rank].release()
            else:
                begun[rank].acquire()
                operation, tensor, sums = started[rank][step]
                operation.is_completed()
                operation.wait()
                assert operation.is_completed() and operation.is_success() and tensor[0].item() == sum(range(RANKS))
                sums.wait()

    on_ranks([made[i // 2] for i in range(2 * RANKS)], work)
    assert called == [sum(range(RANKS))] * rounds * RANKS


def messages(rounds: int) -> None:
    """Each rank sends to each, with tags in another order than the receivers ask for; rank 0 also takes any source."""

    def program() -> None:
        rank = dist.get_rank()
        before, after = (rank - 1) % RANKS, (rank + 1) % RANKS
        for step in range(rounds):
            size = LARGE if step % 10 == 1 else SMALL
            sends = [dist.isend(torch.full((size,), float(rank + 10 * tag)), after, tag=tag) for tag in (1, 2)]
            received = torch.empty(size)
            for tag in (2, 1):
                dist.recv(received, before, tag=tag)
                assert received[-1].item() == before + 10 * tag
            exchange = [
                dist.P2POp(dist.isend, torch.full((size,), float(rank)), before, tag=4),
                dist.P2POp(dist.irecv, received, after, tag=4),
            ]
            for work in (*sends, *dist.batch_isend_irecv(exchange)):
                assert work is not None
                work.wait()
            assert received[0].item() == after
            if rank == 0:
                sources = [dist.recv(torch.empty(size), tag=3) for _ in range(1, RANKS)]
                assert sorted(sources) == list(range(1, RANKS))
            else:
                dist.send(torch.ones(size), 0, tag=3)
            dist.barrier()

    spawn_threads_and_init_comms(program, timeout=LONG, world_size=RANKS)()


def two_groups_of_each_rank_at_once(rounds: int) -> None:
    """Two threads of each rank, each with a group of its own, beside a thread that asks for descriptions."""
    first, second = groups(), groups()
    ended = threading.Event()

    def work(i: int) -> None:
        if i == 2 * RANKS:
            while not ended.wait(0.001):
                assert [group.name() for group in (*first, *second)]
                assert repr(first[0])
            return
        try:
            for step in range(rounds):
                call_collectives((first, second)[i % 2][i // 2], i // 2, SMALL, step)
        finally:
            ended.set()

    on_threads(work, 2 * RANKS + 1)


def a_rank_that_leaves(rounds: int) -> None:
    """One rank ends its connections while the others are in a collective, or wait for a message, or for many works."""
    for _ in range(few(rounds)):
        made, outcomes = groups(), []

        def work(rank: int, made: list[Any] = made, outcomes: list[str] = outcomes) -> None:
            dist.barrier(group=made[rank])
            if rank == RANKS - 1:
                made[rank].abort()
                return
            try:
                if rank == 0:
                    works: list[Any] = [
                        dist.all_reduce(torch.ones(SMALL), group=made[rank], async_op=True) for _ in range(5)
                    ]
                    for each in works:
                        each.wait()
                else:
                    dist.recv(torch.ones(SMALL), group=made[rank], group_src=RANKS - 1)
            except dist.DistError as error:
                outcomes.append(type(error).__name__)

        on_threads(work, RANKS)
        assert outcomes == ["DistBackendError"] * (RANKS - 1)


def mistakes_that_are_named(rounds: int) -> None:
    """The ranks call different collectives; each of them must learn what another has called."""
    for _ in range(few(rounds)):
        made, words = groups(), []

        def work(rank: int, made: list[Any] = made, words: list[str] = words) -> None:
            source = {"group_src": 0} if rank == 0 else {}
            call: Any = dist.broadcast if rank == 0 else dist.all_reduce
            with pytest.raises(RuntimeError) as caught:
                call(torch.ones(SMALL), group=made[rank], **source)
            words.append(str(caught.value))

        on_threads(work, RANKS)
        assert any("broadcast" in each and "all_reduce" in each for each in words), words


# --- the Reducer: the ranks of %%ranks --------------------------------------------------------------------------------


class Net(nn.Module):
    """Two layers, one of which some passes leave out, and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.rare = nn.Linear(4, 8), nn.Linear(8, 2), nn.Linear(8, 2)
        self.register_buffer("passes", torch.zeros(1))

    def forward(self, x: torch.Tensor, rare: bool = False) -> torch.Tensor:
        hidden = self.first(x).tanh()
        return self.second(hidden) + self.rare(hidden) if rare else self.second(hidden)


def train(rounds: int, unused: bool, **options: Any) -> None:
    """Train on all ranks; the gradients of each step must equal those of the whole batch in one process."""
    torch.manual_seed(0)
    state = Net().state_dict()
    inputs = torch.linspace(-1, 1, RANKS * 8).reshape(RANKS, 2, 4)

    def program() -> list[Any]:
        rank = dist.get_rank()
        whole, net = Net(), Net()
        whole.load_state_dict(state)
        net.load_state_dict(state)
        model = DistributedDataParallel(net, bucket_cap_mb=0.0001, **options)
        for step in range(rounds):
            rare = not unused or step % 2 == 1
            sums = step % 5 == 3 and not options.get("static_graph")
            if sums:
                with model.no_sync():
                    model(inputs[rank], rare=rare).square().mean().backward()
            model(inputs[rank], rare=rare).square().mean().backward()
            ((1 + sums) * whole(inputs.flatten(0, 1), rare=rare).square().mean()).backward()
            for p, q in zip(net.parameters(), whole.parameters(), strict=True):
                assert (p.grad is None) == (q.grad is None)
                assert p.grad is None or torch.allclose(p.grad, q.grad, atol=1e-6)
            with torch.no_grad():
                for each in (*net.parameters(), *whole.parameters()):
                    if each.grad is not None:
                        each.sub_(each.grad, alpha=0.01)
                        each.grad = None
        return [p.tolist() for p in net.parameters()]

    results = spawn_threads_and_init_comms(program, timeout=LONG, world_size=RANKS)()
    assert all(result == results[0] for result in results), "the models of the ranks differ"


def reducers(rounds: int) -> None:
    train(rounds, unused=False)


def reducers_whose_gradients_are_views(rounds: int) -> None:
    train(rounds, unused=False, gradient_as_bucket_view=True, static_graph=True)


def reducers_that_search_for_unused_parameters(rounds: int) -> None:
    train(rounds, unused=True, find_unused_parameters=True)


def a_rank_that_fails_in_backward(rounds: int) -> None:
    """An error on one rank ends the passes of the others, which wait in the middle of backward."""

    def program() -> None:
        net = Net()
        model = DistributedDataParallel(net, bucket_cap_mb=0.0001)
        hidden = model(torch.ones(2, 4), rare=True)
        if dist.get_rank() == 1:
            net.first.weight.register_hook(lambda grad: 1 / 0)
        hidden.sum().backward()

    for _ in range(few(rounds)):
        with pytest.raises((ZeroDivisionError, dist.DistBackendError)):
            spawn_threads_and_init_comms(program, timeout=LONG, world_size=RANKS)()


SCENARIOS = by_name(
    (
        a_hash_store_of_all_threads,
        prefix_stores_over_one_store,
        clients_of_a_tcp_store,
        one_client_of_a_tcp_store,
        clients_come_and_go,
        a_server_that_ends_before_its_clients,
        collectives,
        operands_that_are_let_go,
        collectives_over_a_tcp_store,
        works_that_other_threads_wait_for,
        messages,
        two_groups_of_each_rank_at_once,
        a_rank_that_leaves,
        mistakes_that_are_named,
        reducers,
        reducers_whose_gradients_are_views,
        reducers_that_search_for_unused_parameters,
        a_rank_that_fails_in_backward,
    )
)


if __name__ == "__main__":
    main(SCENARIOS, sys.argv[1:])
