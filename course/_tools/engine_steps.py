"""The picture of a backward pass: the engine's queue, step by step, as it really went.

Mirrors: nothing in PyTorch: the course's pictures.
Leaves out: passes with `inputs=`, several roots, and gradients' values.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from course._tools.graphs import children, in_order, short_name
from course._tools.pictures import FLOORS
from reftorch.debug.common.svg import MUTED, Picture

NUMBER, BOX, GAP, HEIGHT, TOP = 40, 132, 8, 30, 46
READY, WAITING, RUNS = FLOORS["dispatcher"], FLOORS["core"], FLOORS["autograd"]


class Step(NamedTuple):
    """One step: the queue, with the running node first, and each receiver with how many gradients it still lacks."""

    queue: list[Any]
    sent: list[tuple[Any, int]]


def steps_of(tensor: Any) -> list[Step]:
    """Send a gradient through the graph behind `tensor` and note what the engine's queue held at each step.

    Raises:
        RuntimeError: the engine ran the nodes in another order than its rule says.
    """
    order = in_order(tensor.grad_fn)
    ran = _run(tensor, order)
    missing = Counter(child for node in order for child in children(node))
    queue, steps = [tensor.grad_fn], []
    while queue:
        queue.sort(key=lambda node: -node._sequence_nr())
        node, *rest = queue
        sent = []
        for child in children(node):
            missing[child] -= 1
            sent.append((child, missing[child]))
        steps.append(Step(queue, sent))
        queue = rest + [child for child, left in sent if left == 0]
    if [step.queue[0] for step in steps] != ran:
        raise RuntimeError("the engine ran the nodes in another order than by their sequence numbers")
    return steps


def _run(tensor: Any, order: list[Any]) -> list[Any]:
    """The nodes in the order in which a pass really runs them; leaves keep the gradients they have."""
    ran: list[Any] = []
    handles = [node.register_prehook(lambda grads, node=node: ran.append(node)) for node in order]
    leaves = [node.variable for node in order if hasattr(node, "variable")]
    kept = [leaf.grad for leaf in leaves]
    for leaf in leaves:
        leaf.grad = None
    tensor.backward(tensor.detach(), retain_graph=True)
    for leaf, grad in zip(leaves, kept, strict=True):
        leaf.grad = grad
    for handle in handles:
        handle.remove()
    return ran


def queue_steps(tensor: Any, **names: Any) -> Picture:
    """Draw a row for each step: the ready queue, and whether the running node's gradients make their receivers ready.

    Args:
        tensor: a result with a history; it is sent through its own graph, which is kept.
        names: leaves by the names they shall have.
    """
    named = {id(leaf): name for name, leaf in names.items()}
    steps = steps_of(tensor)
    first = min(step.queue[0]._sequence_nr() for step in steps)
    columns = max(len(step.queue) for step in steps)
    right = NUMBER + columns * (BOX + GAP) + 34
    width = right + max(len(step.sent) for step in steps) * (BOX + 70 + GAP)
    picture = Picture(width, TOP + len(steps) * (HEIGHT + GAP) + 4, f"the engine's queue in {len(steps)} steps")
    picture.text(NUMBER, 20, "ready queue: the first one runs", size=12, fill=MUTED)
    picture.text(right, 20, "its gradients go to", size=12, fill=MUTED)
    for number, step in enumerate(steps):
        y = TOP + number * (HEIGHT + GAP) - 12
        picture.text(NUMBER - 14, y + 20, str(number + 1), size=12, fill=MUTED, anchor="end")
        for place, node in enumerate(step.queue):
            fill, line = READY if place else RUNS
            picture.box(NUMBER + place * (BOX + GAP), y, BOX, HEIGHT, fill=fill, line=line)
            label = _label(node, named, first)
            picture.text(NUMBER + place * (BOX + GAP) + 8, y + 19, label, size=11, mono=True, bold=not place)
        if step.sent:
            picture.arrow(right - 30, y + HEIGHT / 2, right - 6, y + HEIGHT / 2)
        for place, (node, left) in enumerate(step.sent):
            x = right + place * (BOX + 70 + GAP)
            fill, line = WAITING if left else READY
            picture.box(x, y, BOX + 70, HEIGHT, fill=fill, line=line)
            state = f"wait for {left} more" if left else "ready"
            picture.text(x + 8, y + 19, f"{_label(node, named, None)}: {state}", size=11, mono=True)
    return picture


def _label(node: Any, named: dict[int, str], first: int | None) -> str:
    """A node by its short name and, from `first` on, its sequence number; a leaf by its own name."""
    if hasattr(node, "variable"):
        return f"{named.get(id(node.variable), 'leaf')}.grad"
    return short_name(node).removesuffix("0") + (f" #{node._sequence_nr() - first}" if first is not None else "")
