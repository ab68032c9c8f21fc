"""Each line gets the memory that it makes, and what a graph keeps of it.

Mirrors: nothing in PyTorch: its tools list allocations of a GPU.
"""

import threading

import reftorch as torch
from reftorch.debug import memory_by_line
from reftorch.debug.model.memory_by_line import LineMemory

SIZE = 4 * 1000


def row(used: memory_by_line, source: str) -> LineMemory:
    (found,) = [row for row in used.lines if row.line.source == source]
    return found


def test_what_is_made_and_what_is_kept() -> None:
    x = torch.ones(1000, requires_grad=True)
    with memory_by_line() as used:
        doubled = x * 2
        torch.ones(1000)
        view = doubled.view(10, 100)
        result = doubled.exp().exp()
    assert (row(used, "doubled = x * 2").made, row(used, "doubled = x * 2").kept) == (SIZE, SIZE)
    assert (row(used, "torch.ones(1000)").made, row(used, "torch.ones(1000)").kept) == (SIZE, 0)
    assert row(used, "result = doubled.exp().exp()").kept == 2 * SIZE, "one by the program, one by the graph alone"
    assert not any("view" in each.line.source for each in used.lines)
    assert used.lines[0].kept == 2 * SIZE and view.shape == (10, 100) and result.requires_grad


def test_backward_and_modules() -> None:
    model = torch.nn.Linear(100, 100)
    with memory_by_line() as used:
        loss = model(torch.ones(10, 100)).sum()
        loss.backward()
    gradients = row(used, "loss.backward()")
    assert gradients.kept >= 4 * (100 * 100 + 100)
    text = str(used)
    assert (
        text.startswith("memory by line: ") and "loss.backward()" in text and text.splitlines()[1].split()[0] == "kept"
    )


def test_an_op_in_place_makes_nothing() -> None:
    x = torch.zeros(1000)
    with memory_by_line() as used:
        x.add_(1).mul_(2)
    assert used.lines == [] and "0 B made" in str(used)


def test_a_graph_keeps_what_was_made_inside_a_composite_op() -> None:
    scores, target = torch.ones(100, 10, requires_grad=True), torch.zeros(100).long()
    with memory_by_line() as used:
        loss = torch.nn.functional.cross_entropy(scores, target)
    (only,) = used.lines
    assert only.kept >= 4 * 100 * 10, "the logarithms, which the backward of cross_entropy reads"
    with torch.no_grad(), memory_by_line() as used:
        loss = torch.nn.functional.cross_entropy(scores, target)
    (only,) = used.lines
    assert only.kept == 4 and loss.dim() == 0


def test_threads_that_start_in_the_block_are_watched_and_meta_has_no_memory() -> None:
    made = []
    with memory_by_line() as used:
        ghost = torch.ones(1000, device="meta") * 2
        thread = threading.Thread(target=lambda: made.append(torch.ones(1000)))
        thread.start()
        thread.join()
    (row,) = used.lines
    assert (row.made, row.kept) == (4000, 4000) and "made.append" in row.line.source
    assert ghost.device.type == "meta" and made[0].numel() == 1000
