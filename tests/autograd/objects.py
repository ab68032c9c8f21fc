"""Drawn programs about the life of Python objects: what is kept, what is freed, when ``__del__`` runs.

``python -m tests.autograd.objects --examples 20000`` runs many programs beside torch, and with ``--alone`` without it,
which is what the sanitizer build needs. A program is a list of steps. A step makes a tensor, or an object of a subclass
with a ``__del__``, gives it attributes, hooks or weak references, drops it, runs a backward pass, or collects garbage.
Each step writes what it saw into a log. Both libraries must write the same log. The file is more than 500 lines long,
because each kind of step is a function of its own.

The logs are compared up to the first step whose effect differs on purpose or is undefined (``World.stop_comparing``):

- The step makes a reference cycle through the graph. Our collector frees cycles that PyTorch's does not see.
- The step changes a tensor in place; test_drawn_programs.py compares such steps.
- A hook raises. The nodes that are ready to run stay in the queue of PyTorch's engine until the thread runs another
  backward pass, so what they own lives longer there.

If one step ends several objects, the order of their ``__del__`` is not compared either: objects that a graph owns end
in the order of C++ destructors, and the collector's order is that of its lists (``comparable``). The rest of such a
program must still not crash, and no object may lose what belongs to it.

Mirrors: nothing in PyTorch: it has no second implementation to compare with.
"""

from __future__ import annotations

import argparse
import copy
import gc
import itertools
import pickle
import random
import sys
import threading
import warnings
import weakref
from typing import Any

import reftorch

STEPS = 24
SLOTS = 8


class Hooked(Exception):
    """The error that a raising hook raises."""


class Classes:
    """The classes that programs use, made once for each library."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib

        class Tracked(lib.Tensor):
            def __del__(self) -> None:
                world = World.current
                # A later collection may end what an earlier program has left behind; that is none of this log.
                if world is not None and self.__dict__.get("label") in world.notes:
                    world.on_del(self)

        class Slotted(lib.Tensor):
            __slots__ = ("extra",)

        class Scaled(lib.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any, mode: int) -> Any:
                ctx.save_for_backward(x)
                ctx.mode = mode
                if mode & 1:
                    ctx.x = x
                if mode & 2:
                    ctx.me = ctx
                return x * 2

            @staticmethod
            def backward(ctx: Any, grad: Any) -> Any:
                (x,) = ctx.saved_tensors
                if World.current is not None:
                    World.current.log.append(("backward", ctx.mode, total(x), getattr(ctx, "note", None)))
                return grad * 2, None

        self.Tracked, self.Slotted, self.Scaled = Tracked, Slotted, Scaled


class Saver:
    """An object in a cycle of its own, which puts a tensor back into the world when it is collected."""

    def __init__(self, world: World, tensor: Any) -> None:
        self.world, self.tensor, self.me = world, tensor, self

    def __del__(self) -> None:
        self.world.log.append(("saver", True, self.world.describe(self.tensor)))
        self.world.put(self.tensor)


class World:
    """What one run of a program has: its tensors, its weak references, and its log."""

    current: World | None = None

    def __init__(self, classes: Classes, number: int) -> None:
        self.lib, self.classes = classes.lib, classes
        self.slots: list[Any] = []
        self.weak: list[weakref.ref] = []
        self.handles: list[Any] = []
        self.nodes: list[Any] = []
        self.log: list[Any] = []
        self.names = 0
        self.notes: dict[str, int] = {}
        self.stay: set[str] = set()  # names of those whose __del__ brings them back, once
        self.begun = (0, 0)  # how many steps and entries of the log there were when the running step began
        self.compared: tuple[int, int] | None = None  # so many steps and entries are compared; None stands for all
        self.number = number  # of the program

    def put(self, tensor: Any) -> None:
        self.slots.append(tensor)
        if len(self.slots) > SLOTS:
            del self.slots[0]

    def stop_comparing(self, when: bool = True) -> None:
        """Let the logs differ from the running step on."""
        if when and self.compared is None:
            self.compared = self.begun

    def describe(self, tensor: Any) -> Any:
        name = tensor.__dict__.get("label")
        if name is not None and self.notes.get(name) != tensor.__dict__.get("note"):
            raise AssertionError(f"{name} lost its note")
        return (name, type(tensor).__name__, tuple(tensor.shape), tensor.requires_grad)

    def on_del(self, tensor: Any) -> None:
        stays = tensor.label in self.stay
        self.log.append(("del", stays, self.describe(tensor)))
        if stays:
            self.stay.remove(tensor.label)
            self.put(tensor)

    def pick(self, n: int) -> Any:
        return self.slots[n % len(self.slots)]


def total(tensor: Any) -> float:
    """A number for the log, without the last digits: those are for other tests to compare."""
    return round(tensor.sum().item(), 6)


# ---- steps: each takes the world and three drawn numbers


def new_leaf(world: World, a: int, b: int, c: int) -> None:
    lib = world.lib
    x = lib.arange(1.0, 3.0, dtype=lib.float64)
    if a % 3 == 1:
        x = x.as_subclass(world.classes.Tracked)
    elif a % 3 == 2:
        x = x.as_subclass(world.classes.Slotted)
        x.extra = b
    x = x.requires_grad_(b % 4 != 0)
    x.label = f"x{world.names} of {world.number}"
    world.notes[x.label] = x.note = c
    world.names += 1
    if c % 5 == 0:
        world.stay.add(x.label)
    world.put(x)


def apply_op(world: World, a: int, b: int, c: int) -> None:
    x, y = world.pick(a), world.pick(b)
    ops = [
        lambda: x * 2,
        lambda: x * y,
        lambda: x.sigmoid(),
        lambda: x.view(-1),
        lambda: (x + y).tanh(),
        lambda: x[:1],
        lambda: x.detach(),
        lambda: x * x,
    ]
    result = ops[c % len(ops)]()
    world.log.append(("op", c % len(ops), total(result)))
    world.put(result)


def apply_function(world: World, a: int, b: int, c: int) -> None:
    mode = max(c % 8 - 4, 0)
    world.stop_comparing(mode > 0)
    world.put(world.classes.Scaled.apply(world.pick(a), mode))


def change(world: World, a: int, b: int, c: int) -> None:
    world.stop_comparing()
    x = world.pick(a)
    with world.lib.no_grad():
        x.mul_(0.5)


def change_recorded(world: World, a: int, b: int, c: int) -> None:
    world.stop_comparing()
    world.pick(a).mul_(0.5)


def set_note(world: World, a: int, b: int, c: int) -> None:
    x = world.pick(a)
    x.note = c
    if "label" in x.__dict__:
        world.notes[x.label] = c


def refer(world: World, a: int, b: int, c: int) -> None:
    world.stop_comparing()
    world.pick(a).__dict__[f"ref{c % 3}"] = world.pick(b)


def watch(world: World, a: int, b: int, c: int) -> None:
    world.weak.append(weakref.ref(world.pick(a)))


def look(world: World, a: int, b: int, c: int) -> None:
    if world.weak:
        found = world.weak[a % len(world.weak)]()
        world.log.append(("look", None if found is None else world.describe(found)))
        if found is not None and b % 3 == 0:
            world.put(found)


def hook(world: World, a: int, b: int, c: int) -> None:
    x, other = world.pick(a), world.pick(b)
    kind = c % 8
    handle: Any = None
    number = len(world.log)

    def log(grad: Any) -> None:
        world.log.append(("hook", number, total(grad), grad is None))

    def scale(grad: Any) -> Any:
        log(grad)
        return grad * 3

    def fail(grad: Any) -> None:
        world.stop_comparing()
        raise Hooked

    def remove(grad: Any) -> None:
        log(grad)
        handle.remove()

    def collect(grad: Any) -> None:
        log(grad)
        gc.collect(c % 3)

    def drop(grad: Any) -> None:
        log(grad)
        if world.slots:
            world.slots.pop(c % len(world.slots))

    def keep(grad: Any) -> None:
        log(grad)
        world.put(grad)

    def hold(grad: Any) -> Any:
        log(grad)
        return grad + other.detach().sum() * 0

    world.stop_comparing(kind in (3, 7))
    handle = x.register_hook([log, scale, fail, remove, collect, drop, keep, hold][kind])
    if kind != 3 and b % 2:
        world.handles.append(handle)


def hook_after(world: World, a: int, b: int, c: int) -> None:
    x = world.pick(a)
    if c % 3 == 0:
        world.stop_comparing()
        x.register_post_accumulate_grad_hook(lambda p: world.log.append(("after", p is x)))
    else:
        x.register_post_accumulate_grad_hook(lambda p: world.log.append(("after", world.describe(p))))


def hook_node(world: World, a: int, b: int, c: int) -> None:
    node = world.pick(a).grad_fn
    if node is None:
        return
    number = len(world.log)
    if c % 3 == 0:
        node.register_prehook(lambda grads: world.log.append(("prehook", number)))
    elif c % 3 == 1:
        node.register_hook(lambda inputs, outputs: world.log.append(("node hook", number, len(outputs))))
    else:
        world.stop_comparing()
        node.register_hook(lambda inputs, outputs: world.log.append(("node hook", number, node.name())))


def note_on_node(world: World, a: int, b: int, c: int) -> None:
    node = world.pick(a).grad_fn
    if node is None:
        return
    node.metadata["note"] = c
    world.log.append(("node", world.pick(a).grad_fn is node, node.metadata["note"]))
    if "Scaled" in node.name():
        node.note = c
    if b % 4 == 0:
        world.stop_comparing()
        node.metadata["tensor"] = world.pick(b)


def hold_node(world: World, a: int, b: int, c: int) -> None:
    node = world.pick(a).grad_fn
    if node is not None:
        world.stop_comparing("Scaled" in node.name())
        world.nodes.append(node)
        del world.nodes[:-3]


def walk(world: World, a: int, b: int, c: int) -> None:
    node = world.pick(a).grad_fn
    for _ in range(4):
        if node is None:
            break
        world.log.append(("walk", node.name()))
        following = [fn for fn, _ in node.next_functions if fn is not None]
        node = following[c % len(following)] if following else None


def saved(world: World, a: int, b: int, c: int) -> None:
    node = world.pick(a).grad_fn
    found = getattr(node, "_saved_self", None) if node is not None else None
    if found is not None:
        world.log.append(("saved", world.describe(found), any(found is x for x in world.slots)))
        world.log.append(("same", found is node._saved_self))
        if b % 2:
            world.put(found)


def read_grad(world: World, a: int, b: int, c: int) -> None:
    x = world.pick(a)
    if x.is_leaf or x.retains_grad:
        grad = x.grad
        world.log.append(("grad", None if grad is None else total(grad), x.grad is grad))
        if grad is not None and b % 3 == 0:
            grad.note = c
            world.log.append(("note", x.grad.note))
        if grad is not None and b % 5 == 0:
            world.put(grad)
        if c % 6 == 0:
            x.grad = None


def retain(world: World, a: int, b: int, c: int) -> None:
    world.pick(a).retain_grad()


def remove(world: World, a: int, b: int, c: int) -> None:
    if world.handles:
        world.handles.pop(a % len(world.handles)).remove()


def drop(world: World, a: int, b: int, c: int) -> None:
    del world.slots[a % len(world.slots)]


def backward(world: World, a: int, b: int, c: int) -> None:
    world.stop_comparing(c % 20 == 0)  # a leaf owns its .grad, whose graph owns the leaf
    world.pick(a).sum().backward(retain_graph=b % 3 != 0, create_graph=c % 20 == 0)


def grad_of(world: World, a: int, b: int, c: int) -> None:
    (grad,) = world.lib.autograd.grad(world.pick(a).sum(), world.pick(b), retain_graph=True)
    world.log.append(("grad of", total(grad)))
    world.put(grad)


def backward_on_a_thread(world: World, a: int, b: int, c: int) -> None:
    loss = world.pick(a).sum()
    failures = []

    def work() -> None:
        try:
            loss.backward(retain_graph=True)
        except (RuntimeError, Hooked) as error:
            failures.append(type(error).__name__)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    world.log.append(("thread", failures))


def collect(world: World, a: int, b: int, c: int) -> None:
    gc.collect(a % 3)


def save(world: World, a: int, b: int, c: int) -> None:
    world.stop_comparing()
    Saver(world, world.pick(a))
    if b % 2:
        del world.slots[a % len(world.slots)]
    if c % 2:
        gc.collect()


def duplicate(world: World, a: int, b: int, c: int) -> None:
    x = world.pick(a)
    if b % 2:
        y = copy.deepcopy(x)
    elif type(x) is world.lib.Tensor:  # a class inside of a function can not be pickled
        y = pickle.loads(pickle.dumps(x))
    else:
        y = copy.copy(x) if type(x).__name__ == "Tracked" else x.clone()
    y.__dict__.pop("label", None)
    world.log.append(("copy", world.describe(y), y.__dict__.get("note")))
    world.put(y)


def set_data(world: World, a: int, b: int, c: int) -> None:
    world.stop_comparing()
    x, y = world.pick(a), world.pick(b)
    if x.shape == y.shape:
        x.data = y.data


PROGRAM_STEPS = [
    new_leaf, new_leaf, apply_op, apply_op, apply_op, apply_function, change, change_recorded, set_note, refer, watch,
    look, look, hook, hook, hook_after, hook_node, note_on_node, hold_node, walk, saved, read_grad, retain, remove,
    drop, drop, drop, backward, backward, backward_on_a_thread, grad_of, collect, collect, save, duplicate, set_data,
]  # fmt: skip
UNCOMPARED = (refer, save, change, change_recorded, set_data)
ERRORS = (RuntimeError, TypeError, ValueError, AttributeError, pickle.PicklingError, Hooked)


def draw(seed: int) -> list[tuple[Any, int, int, int]]:
    rng = random.Random(seed)
    # Half of the programs have no steps that make cycles or change values, so that more of their logs is compared.
    steps = PROGRAM_STEPS if seed % 2 else [s for s in PROGRAM_STEPS if s not in UNCOMPARED]
    return [(rng.choice(steps), *(rng.randrange(60) for _ in range(3))) for _ in range(STEPS)]


def run(program: list[tuple[Any, int, int, int]], classes: Classes, number: int = 0) -> World:
    """The world that the program leaves, after it has dropped everything and the collector has run."""
    world = World.current = World(classes, number)
    new_leaf(world, 1, 1, 1)
    for i, (step, a, b, c) in enumerate(program):
        world.begun = (i, len(world.log))
        if not world.slots:
            new_leaf(world, a, b, c)
        try:
            step(world, a, b, c)
        except ERRORS as error:
            world.log.append((step.__name__, type(error).__name__))
            del error
        world.log.append((step.__name__, len(world.slots)))
    world.stay.clear()
    for name in ("slots", "handles", "nodes"):
        getattr(world, name).clear()
        world.log.append((name, [ref() is not None for ref in world.weak]))
    for _ in range(3):
        gc.collect()
        world.slots.clear()
    alive = [ref() is not None for ref in world.weak]
    world.log.append(("end", alive))
    World.current = None
    return world


def comparable(log: list[Any]) -> list[Any]:
    """Return the entries of a log that are compared, with each run of objects that end in the order of their names.

    If one object of a run comes back to life, the entries after the run are left out, because the order decides which
    slot the object gets.
    """
    entries: list[Any] = []
    for is_end, group in itertools.groupby(log, lambda entry: entry[0] in ("del", "saver")):
        found = list(group)
        entries += sorted(found, key=repr) if is_end else found
        if is_end and len(found) > 1 and any(stays for _, stays, _ in found):
            break
    return entries


def check(seed: int, ours: Classes, theirs: Classes | None) -> bool:
    """Runs one program. Returns whether its whole log was compared."""
    program = draw(seed)
    found = run(program, ours, seed)
    if found.compared is None:
        assert not any(found.log[-1][1]), f"program {seed}: a tensor without cycles is still alive"
    if theirs is None:
        return False
    # torch runs the steps that are compared and no others: some of the others crash it.
    steps, entries = found.compared or (len(program), len(found.log))
    wanted = run(program[:steps], theirs, seed)
    one = comparable(found.log[:entries])
    other = comparable(wanted.log if found.compared is None else wanted.log[:entries])
    for i, (entry, expected) in enumerate(zip(one, other, strict=False)):
        if entry != expected:
            before = one[max(i - 6, 0) : i]
            raise AssertionError(f"program {seed}: entry {i} is {entry}, torch's is {expected}; before: {before}")
    assert len(one) == len(other), f"program {seed}: {len(one)} and {len(other)} entries"
    return len(one) == len(found.log)


def run_programs(first: int, count: int, torch: Any | None) -> int:
    """Runs programs ``first``, ``first + 1`` and so on. Returns how many logs were compared as a whole."""
    ours, theirs = Classes(reftorch), Classes(torch) if torch is not None else None
    was_enabled = gc.isenabled()
    gc.disable()  # the programs say when the collector runs
    gc.collect()
    gc.freeze()  # and the collector looks only at what the programs make, as in all tests (tests/conftest.py)
    hook, sys.unraisablehook = sys.unraisablehook, fail_on_unraisable
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compared = sum(check(seed, ours, theirs) for seed in range(first, first + count))
    finally:
        sys.unraisablehook = hook
        if was_enabled:
            gc.enable()
    assert not UNRAISABLE, UNRAISABLE
    return compared


UNRAISABLE: list[str] = []


def fail_on_unraisable(unraisable: Any) -> None:
    """A ``__del__`` that fails is an error of its program."""
    UNRAISABLE.append(f"{unraisable.exc_value!r} in {unraisable.object!r}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=2000, help="how many programs")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first program")
    parser.add_argument("--alone", action="store_true", help="without torch: look for crashes only")
    args = parser.parse_args()
    torch = None
    if not args.alone:
        import torch
    compared = run_programs(args.seed, args.examples, torch)
    print(f"{args.examples} programs from {args.seed} on, {compared} of them compared with torch to the end")


if __name__ == "__main__":
    main()
