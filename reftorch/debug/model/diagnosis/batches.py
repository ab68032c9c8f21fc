"""Checks of the batch itself: numbers that are not finite, equal samples with different targets, one class only.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: whether the targets are right; what only several batches show.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reftorch.debug.common.flatten import flatten
from reftorch.debug.common.library import is_tensor, no_grad
from reftorch.debug.common.table import counted
from reftorch.debug.model.diagnosis.findings import Finding
from reftorch.debug.model.diagnosis.program import Program
from reftorch.debug.model.diagnosis.samples import is_integer
from reftorch.utils._pytree import tree_leaves

ONE_CLASS = 16  # samples; with fewer, a shuffled batch may well be of one class


@no_grad()
def data(program: Program) -> Iterator[Finding]:
    """Are the numbers of the batch finite, and can the targets be told from the inputs?"""
    found = [*not_a_number(program)]
    yield from found
    if not found and program.target is not None:
        yield from contradictions(program)
        yield from one_class(program)


def not_a_number(program: Program) -> Iterator[Finding]:
    parts = [("inputs", program.inputs)]
    if program.loss_fn is not None:
        parts.append(("target", program.target))
    for part, value in parts:
        for name, tensor in flatten(value, part):
            count = int(tensor.isnan().sum()) if is_tensor(tensor) and tensor.is_floating_point() else 0
            if count:
                yield Finding(
                    f"the batch, {name}",
                    f"{count} of {tensor.numel()} values are NaN before the model runs",
                    "clean the data: drop these samples, or fill in the missing values",
                )


def contradictions(program: Program) -> Iterator[Finding]:
    """Yield a finding if most samples have an equal with another target: nothing can tell such samples apart."""
    rows, targets = one_row_each(program.inputs), one_row_each(program.target)
    if rows is None or targets is None or len(rows) != len(targets):
        return
    _, group = rows.unique(dim=0, return_inverse=True)
    doubtful = 0
    for number in range(int(group.max()) + 1):
        same = targets[group == number]
        doubtful += len(same) if bool((same != same[0]).any()) else 0
    if doubtful > len(rows) / 2:
        yield Finding(
            "the batch",
            f"{doubtful} of {len(rows)} samples have the inputs of another sample and a different target",
            "look at how the data is loaded: the inputs are repeated, or were cut off or overwritten",
        )


def one_class(program: Program) -> Iterator[Finding]:
    target = program.target
    if not is_tensor(target) or not is_integer(target) or target.dim() != 1 or len(target) < ONE_CLASS:
        return
    if bool((target == target[0]).all()):
        yield Finding(
            "the batch",
            f"all {counted(len(target), 'target')} are {int(target[0])}, so the model learns to answer with this class",
            "shuffle the data (DataLoader(..., shuffle=True)); it is sorted by its targets",
        )


def one_row_each(value: Any) -> Any:
    """Return a matrix with one row for each sample of the only tensor in ``value``; None if there are several."""
    tensors = [leaf for leaf in tree_leaves(value) if is_tensor(leaf)]
    if len(tensors) != 1 or tensors[0].dim() == 0 or len(tensors[0]) < 2:
        return None
    return tensors[0].detach().reshape(len(tensors[0]), -1)
