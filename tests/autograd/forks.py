"""Drawn programs that use threads and fork: the child of a fork must go on exactly as its parent does.

``python -m tests.autograd.forks --examples 2000`` runs many programs; ``--no-forks`` leaves the forks out, for the
thread sanitizer. A program is a list of steps. A step computes, draws random numbers, registers a hook, runs backward
passes on one thread or on several, starts threads that compute beside the program, or forks. After a fork both
processes run the rest of the program. Each step writes what it saw into a log. At the end the child sends its log to
the parent, which compares it with its own. A child that hangs dies of its alarm.

Under the address sanitizer, a child may hang for a reason that is not ours: the sanitizer's own allocator has locks,
and a thread that holds one of them does not live on in the child. LLVM locks them around a fork since its pull request
75290 of December 2023; the runtime of GCC 12 does not.

Mirrors: nothing in PyTorch: its children hang where the parent has used threads.
"""

from __future__ import annotations

import argparse
import gc
import os
import pickle
import random
import signal
import threading
import traceback
from collections.abc import Callable
from typing import Any

import reftorch as torch

STEPS = 14
SLOTS = 6
MAX_GENERATION = 2  # so many forks lead from the first process to the last descendant
SECONDS = 60  # for a child; a child that hangs needs no more than this


class World:
    """What one run of a program has: its tensors, its log, the threads beside it, and its children."""

    def __init__(self, may_fork: bool) -> None:
        self.slots: list[Any] = [torch.linspace(0, 1, 40, requires_grad=True)]
        self.log: list[Any] = []
        self.may_fork = may_fork
        self.generation = 0
        self.children: list[tuple[int, int]] = []  # the id of each child, and where to read its log
        self.write_to: int | None = None  # where this process writes its log, if it is a child
        self.busy: list[threading.Thread] = []
        self.idle = threading.Event()

    def put(self, tensor: Any) -> None:
        self.slots.append(tensor)
        if len(self.slots) > SLOTS:
            del self.slots[1]

    def pick(self, n: int) -> Any:
        return self.slots[n % len(self.slots)]

    def fork(self) -> None:
        if not self.may_fork or self.generation == MAX_GENERATION or len(self.children) == 2:
            return
        reader, writer = os.pipe()
        pid = os.fork()
        self.generation += 1
        if pid == 0:
            signal.alarm(SECONDS)
            os.close(reader)
            self.write_to = writer
            self.children = []
            self.busy = []  # a fork copies only the thread that calls it
        else:
            os.close(writer)
            self.children.append((pid, reader))

    def rest(self) -> None:
        """End the threads beside the program."""
        self.idle.set()
        for thread in self.busy:
            thread.join()
        self.busy.clear()
        self.idle = threading.Event()

    def compare(self) -> None:
        """Wait for the children, and raise AssertionError if one of them logged something else."""
        for pid, reader in self.children:
            with os.fdopen(reader, "rb") as stream:
                said = stream.read()
            _, status = os.waitpid(pid, 0)
            assert status == 0, f"a child ended with status {status} (14 says that it hung): {said[-2000:]!r}"
            found = pickle.loads(said)
            for i, (one, other) in enumerate(zip(found, self.log, strict=True)):
                assert one == other, f"entry {i} of a child is {one}, its parent's is {other}"
        self.children.clear()


def total(tensor: Any) -> float:
    """A number for the log. A sum that several threads compute may differ in the last digits."""
    return float(f"{tensor.detach().double().sum().item():.4g}")


def on_threads(count: int, work: Callable[[int], None]) -> list[str]:
    """Call ``work(i)`` on so many threads at once; return the names of the errors."""
    errors: list[str] = []

    def run(i: int) -> None:
        try:
            work(i)
        except RuntimeError as error:
            errors.append(type(error).__name__)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sorted(errors)


# ---- steps: each takes the world and two drawn numbers


def compute(world: World, a: int, b: int) -> None:
    x = world.pick(a)
    ops: list[Callable[[], Any]] = [
        lambda: x * 0.5,
        lambda: x.sin(),
        lambda: x[: max(x.numel() // 2, 1)],
        lambda: x.view(-1)[None].expand(3, -1).reshape(-1)[: x.numel()],
        lambda: x.sort().values,
        lambda: x.cumsum(0) / x.numel(),
        lambda: torch.cat([x, x])[: x.numel()],
        lambda: x.detach(),
    ]
    world.put(ops[b % len(ops)]())


def compute_much(world: World, a: int, b: int) -> None:
    """Kernels that run on several threads."""
    x = torch.ones(200_000, dtype=torch.float64).cumsum(0)
    world.log.append(("much", total(x.exp_().clamp_(max=2)), total(torch.ones(120, 120) @ torch.ones(120, 120))))


def new_leaf(world: World, a: int, b: int) -> None:
    world.put(torch.rand(40, requires_grad=b % 3 != 0))


def draw_numbers(world: World, a: int, b: int) -> None:
    if b % 5 == 0:
        torch.manual_seed(a)
    generator = torch.Generator().manual_seed(b) if b % 2 else None
    world.log.append(("draws", total(torch.randn(100_000 if b % 7 == 0 else 10, generator=generator))))


def change(world: World, a: int, b: int) -> None:
    with torch.no_grad():
        world.pick(a).mul_(0.5)


def hook(world: World, a: int, b: int) -> None:
    kinds: list[Callable[[Any], Any]] = [
        lambda grad: world.log.append(("hook", total(grad))),
        lambda grad: grad * 0.5,
        lambda grad: world.fork(),
        lambda grad: collect(world, 0, 0),
        lambda grad: compute_much(world, 0, 0),
    ]
    world.pick(a).register_hook(kinds[b % len(kinds)])


def backward(world: World, a: int, b: int) -> None:
    world.pick(a).sum().backward(retain_graph=b % 2 == 0)


def backward_on_threads(world: World, a: int, b: int) -> None:
    loss = world.pick(a).sin().sum()
    leaves = [torch.ones(40, requires_grad=True) for _ in range(3)]

    def work(i: int) -> None:
        (leaves[i] * leaves[i] + world.slots[0].detach()[:40]).sum().backward()
        torch.autograd.grad(loss, world.slots[0], retain_graph=True, allow_unused=True)

    # A hook of the program may fork, and a thread of threading that forks would go on as the child's only thread.
    may_fork, world.may_fork = world.may_fork, False
    before = len(world.log)
    errors = on_threads(3, work)
    world.may_fork = may_fork
    world.log[before:] = sorted(world.log[before:], key=repr)  # the threads' hooks wrote in any order
    world.log.append(("on threads", errors, [total(leaf.grad) for leaf in leaves]))


def compute_on_threads(world: World, a: int, b: int) -> None:
    x = world.pick(a)
    found = [0.0] * 3

    def work(i: int) -> None:
        views = [x.view(-1)[:5] for _ in range(20)]
        found[i] = total(torch.stack([view.detach() for view in views])) + total(torch.ones(50_000) * i)

    world.log.append(("at once", on_threads(3, work), found))


def run_beside(world: World, a: int, b: int) -> None:
    """Start a thread that computes until the program ends, while the program may fork."""
    shared, idle = world.slots[0].detach().clone().requires_grad_(), world.idle
    works: list[Callable[[], Any]] = [
        lambda: [torch.empty(n) for n in range(1, 100)],
        lambda: (torch.ones(100_000) * 2).sum(),
        lambda: torch.ones(100, 100) @ torch.ones(100, 100),
        lambda: torch.randn(50_000, generator=generator),
        lambda: (shared * shared.view(-1)).sum().backward(),
        lambda: shared.detach().add_(1),
    ]
    generator = torch.Generator()

    def run() -> None:
        while not idle.is_set():
            works[b % len(works)]()

    if len(world.busy) < 2:
        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        world.busy.append(thread)


def stop_beside(world: World, a: int, b: int) -> None:
    world.rest()


def set_threads(world: World, a: int, b: int) -> None:
    torch.set_num_threads(1 + b % 4)


def collect(world: World, a: int, b: int) -> None:
    gc.collect()


def fork(world: World, a: int, b: int) -> None:
    world.fork()


PROGRAM_STEPS = [
    compute, compute, compute, compute_much, new_leaf, draw_numbers, draw_numbers, change, hook, hook, backward,
    backward, backward_on_threads, compute_on_threads, run_beside, run_beside, stop_beside, set_threads, collect,
    fork, fork, fork,
]  # fmt: skip
Program = list[tuple[Any, int, int]]


def draw(seed: int) -> Program:
    rng = random.Random(seed)
    return [(rng.choice(PROGRAM_STEPS), rng.randrange(60), rng.randrange(60)) for _ in range(STEPS)]


def run(program: Program, may_fork: bool) -> None:
    """Run a program, in this process and its children; return in this process only.

    Raises:
        AssertionError: a child logged something else, or hung.
    """
    torch.manual_seed(0)
    torch.set_num_threads(4)
    world = World(may_fork)
    code = 1
    try:
        for step, a, b in program:
            try:
                step(world, a, b)
            except RuntimeError as error:
                world.log.append((step.__name__, str(error)[:40]))
            world.log.append((step.__name__, [(tuple(x.shape), x._version, total(x)) for x in world.slots]))
            grad = world.slots[0].grad
            world.log.append(("grad", None if grad is None else total(grad)))
        world.rest()
        world.compare()
        if world.write_to is not None:
            with os.fdopen(world.write_to, "wb") as stream:
                pickle.dump(world.log, stream)
        code = 0
    except BaseException:
        if world.write_to is None:
            world.rest()
            raise
        os.write(world.write_to, traceback.format_exc().encode())
    finally:
        if world.write_to is not None:
            os._exit(code)


def run_programs(first: int, count: int, may_fork: bool = True) -> None:
    """Run the programs ``first``, ``first + 1`` and so on."""
    threads = torch.get_num_threads()
    try:
        for seed in range(first, first + count):
            try:
                run(draw(seed), may_fork)
            except AssertionError as error:
                raise AssertionError(f"program {seed}: {error}") from None
    finally:
        torch.set_num_threads(threads)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=200, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first program")
    parser.add_argument("--no-forks", action="store_true", help="threads only, for the thread sanitizer")
    args = parser.parse_args()
    run_programs(args.seed, args.examples, not args.no_forks)
    print(f"{args.examples} programs from {args.seed} on")


if __name__ == "__main__":
    main()
