"""Drawn programs that mix views, changes in place and gradients, step by step beside torch.

A program is a list of steps; each takes tensors made before and adds one, changes one, or fails. After every step both
libraries must have the same values, versions and flags, or the same type of error; at the end the gradients of the
leaves, or the same type of error again. ``python -m tests.autograd.test_drawn_programs 50000 7`` runs 50,000 programs
drawn with the seed 7, and ``--alone`` before the number runs them without torch, for the sanitizer build.

Mirrors: nothing in PyTorch: it has no second implementation to compare with.
"""

from __future__ import annotations

import random
import sys
import warnings
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck
from hypothesis import strategies as st

import reftorch


def without_grad(step):
    def run(lib, a, b, n):
        with lib.no_grad():
            return step(lib, a, b, n)

    return run


def set_item(lib, a, b, n):
    a[n] = b


def set_slice(lib, a, b, n):
    a[n:] = b * 2


def set_number(lib, a, b, n):
    a[..., n] = 0.5


def set_mask(lib, a, b, n):
    if 0 not in a.stride():  # torch warns where ours refuses to write several numbers to one place
        a[a.detach() > 0.5] = 0.25


def double(lib, a, b, n):
    a *= 2


def set_part_of_itself(lib, a, b, n):
    a[: a.shape[0] - n] = a[n:]


def set_by_indices(lib, a, b, n):
    # The indices differ and b is a copy: the result of assigning two values to one element, or values that the same
    # assignment changes, depends on the order in which the elements are visited.
    if a.dim() > 0 and a.shape[0] > 1:
        a[lib.tensor([n, n - 1])] = b.clone()


def take_other_memory(lib, a, b, n):
    # A storage that is too small grows, by elements without a value.
    if b.untyped_storage().nbytes() >= (b.storage_offset() + 2 * n + 1) * b.itemsize:
        a.set_(b.detach(), n, (2,), (n,))


def apart(a, b):
    """Whether two tensors lie in different storages: torch gives `out` its new shape before it refuses an overlap."""
    return a.untyped_storage().data_ptr() != b.untyped_storage().data_ptr()


def reads_first(a, out):
    """Whether each element of `a` is read before it is written.

    If `out` is in the same storage and gets another shape, it may grow over elements of `a`, and the result depends on
    the order in which the elements are visited. Neither library sees this overlap.
    """
    return apart(a, out) or a.shape == out.shape


def first_column(lib, a):
    return lib.zeros(a.shape[:1] + (1,) * (a.dim() - 1), dtype=lib.int64)


VIEWS = {
    "flat": lambda lib, a, b, n: a.view(-1),
    "reshaped": lambda lib, a, b, n: a.reshape(-1),
    "row": lambda lib, a, b, n: a[n],
    "rows": lambda lib, a, b, n: a[n:],
    "last": lambda lib, a, b, n: a[..., -1:],
    "every other": lambda lib, a, b, n: a[::2],
    "swapped": lambda lib, a, b, n: a.transpose(0, -1),
    "more": lambda lib, a, b, n: a.unsqueeze(n),
    "less": lambda lib, a, b, n: a.squeeze(0),
    "diagonal": lambda lib, a, b, n: a.diagonal(),
    "piece": lambda lib, a, b, n: a.narrow(0, n, 1),
    "first of several": lambda lib, a, b, n: a.unbind(0)[0],
    "first half": lambda lib, a, b, n: a.chunk(2)[0],
    "expanded": lambda lib, a, b, n: a.expand(2, *a.shape),
    "the same": lambda lib, a, b, n: a.view_as(a),
    "detached": lambda lib, a, b, n: a.detach(),
    "unrecorded": without_grad(lambda lib, a, b, n: a[n:]),
    "strided past the end": lambda lib, a, b, n: a.as_strided((2, 2), (100, 1 - n), 1 - 2 * n),
    # Copies: what a change of elements that share a place gives depends on the order in which they are visited.
    "windows": lambda lib, a, b, n: a.unfold(-1, 2, 1).clone(),
    "overlapping": without_grad(lambda lib, a, b, n: a.as_strided((2, 2), (1, 1), n).clone()),
    "by indices": lambda lib, a, b, n: a[lib.tensor([n, -1])],
    "by a mask": lambda lib, a, b, n: a[a.detach() > 0],
    "part of the flat": lambda lib, a, b, n: a.view(-1)[n : n + 3],
    "strided": lambda lib, a, b, n: a.as_strided((2,), (1,), n) if 0 not in a.stride() else None,
}
NEW = {
    "product": lambda lib, a, b, n: a * b,
    "sum": lambda lib, a, b, n: a + b,
    "square": lambda lib, a, b, n: a * a,
    "sine": lambda lib, a, b, n: a.sin(),
    "copy": lambda lib, a, b, n: a.clone(),
    "tanh": lambda lib, a, b, n: a.tanh(),
    "total": lambda lib, a, b, n: a.sum(0, keepdim=True),
    "joined": lambda lib, a, b, n: lib.cat([a, a]),
    "unrecorded product": without_grad(lambda lib, a, b, n: a * 2),
}
CHANGES = {
    "mul_": lambda lib, a, b, n: a.mul_(2),
    "mul_ by": lambda lib, a, b, n: a.mul_(b),
    "add_": lambda lib, a, b, n: a.add_(b),
    "sin_": lambda lib, a, b, n: a.sin_(),
    "sigmoid_": lambda lib, a, b, n: a.sigmoid_(),
    "zero_": lambda lib, a, b, n: a.zero_(),
    "fill_": lambda lib, a, b, n: a.fill_(0.5),
    "copy_": lambda lib, a, b, n: a.copy_(b),
    "clamp_": lambda lib, a, b, n: a.clamp_(min=0.1),
    "unrecorded add_": without_grad(lambda lib, a, b, n: a.add_(1)),
    "set part of itself": set_part_of_itself,
    "set by indices": set_by_indices,
    "take other memory": without_grad(take_other_memory),
    "copy_ of a part": lambda lib, a, b, n: a.copy_(a.view(-1)[n : n + 3]),
    "add_ of a part": lambda lib, a, b, n: a.add_(a[n:]),
    "addcmul_": lambda lib, a, b, n: a.addcmul_(a, b),
    "lerp_": lambda lib, a, b, n: a.lerp_(b, 0.5),
    "cumsum_": lambda lib, a, b, n: a.cumsum_(0) if a.is_contiguous() else None,  # windows overlap: any order is right
    "masked_fill_": lambda lib, a, b, n: a.masked_fill_(b.detach() > 0, 0.5),
    "index_add_": lambda lib, a, b, n: a.index_add_(0, lib.tensor([n, 0]), b.clone()),
    # torch cannot make the view through which it would write no elements. It raises a RuntimeError about that view,
    # although there is nothing to fill, and although the index is out of range.
    "index_fill_": lambda lib, a, b, n: a.index_fill_(0, lib.tensor([n]), 0.5) if a.numel() > 0 else None,
    "index_copy_": lambda lib, a, b, n: a.index_copy_(0, lib.tensor([n]), b[:1].clone()) if a.numel() > 0 else None,
    # torch saves the source of these, of which it needs the shape alone, and then refuses that the source changed.
    "scatter_": lambda lib, a, b, n: a.scatter_(0, first_column(lib, a) + n, b.clone()),
    "put_": lambda lib, a, b, n: a.put_(lib.tensor([n]), b.reshape(-1)[:1].clone()),
    "add out": without_grad(lambda lib, a, b, n: lib.add(a, b, out=b) if reads_first(a, b) else None),
    "exp out": without_grad(lambda lib, a, b, n: lib.tanh(a, out=b) if reads_first(a, b) else None),
    "cat out": without_grad(lambda lib, a, b, n: lib.cat([a, a], out=b) if apart(a, b) else None),
    "where out": without_grad(lambda lib, a, b, n: lib.where(a > 0, a, b, out=b) if reads_first(a, b) else None),
    "requires_grad_": lambda lib, a, b, n: a.requires_grad_(),
    "detach_": lambda lib, a, b, n: a.detach_(),
    # The question makes the history of a view whose base has got a history since. Without the question, torch would
    # forget that the view is to retain its gradient, and would let pass a view that must not be used.
    "retain_grad": lambda lib, a, b, n: (a.is_leaf, a.retain_grad())[1],
    # torch leaves the hook of retain_grad at the former history, and .grad then has the former shape.
    "t_": lambda lib, a, b, n: a.t_() if not a.retains_grad else None,
    "unsqueeze_": lambda lib, a, b, n: a.unsqueeze_(0) if not a.retains_grad else None,
    "set item": set_item,
    "set slice": set_slice,
    "set number": set_number,
    "set by mask": set_mask,
    "double": double,
}
STEPS: dict[str, Any] = {**VIEWS, **NEW, **CHANGES}
NUMBERS = st.integers(0, 1)
STEP = st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 7), st.integers(0, 7), NUMBERS)
PROGRAMS = st.lists(STEP, max_size=9)
Program = list[tuple[str, int, int, int]]


QUESTIONS = [
    lambda t: tuple(t.shape),
    lambda t: t.stride(),
    lambda t: t.storage_offset(),
    lambda t: t._version,
    lambda t: t.requires_grad,
    lambda t: t.is_leaf,
    lambda t: t.grad_fn is None,
    lambda t: t._is_view(),
    lambda t: t.retains_grad and not t.is_leaf,  # torch goes on saying so of what detach_ made a leaf
    lambda t: t.is_contiguous(),
]


def ask(question, t):
    """The answer; an error's type where a view of several was changed through another, which only this finds out."""
    try:
        return question(t)
    except RuntimeError as error:
        return type(error).__name__


class Run:
    """One library's half of a program."""

    def __init__(self, lib: Any) -> None:
        self.lib = lib
        x = lib.tensor([[0.25, 0.5, 0.75], [1.0, -0.5, 0.125]], dtype=lib.float64, requires_grad=True)
        w = lib.tensor([0.5, -1.0, 2.0], dtype=lib.float64, requires_grad=True)
        self.leaves = [x, w]
        self.tensors = [x, w, x * 1, w.sin(), lib.zeros(2, 3, dtype=lib.float64)]

    def step(self, name: str, first: int, second: int, n: int) -> str | None:
        """Make a step; the name of the error's type if it fails."""
        a = self.tensors[-1 - first % len(self.tensors)]
        b = self.tensors[-1 - second % len(self.tensors)]
        try:
            result = STEPS[name](self.lib, a, b, n)
        except Exception as error:
            return type(error).__name__
        if result is not None and all(result is not t for t in self.tensors):
            self.tensors.append(result)
        return None

    def backward(self) -> str | None:
        """Send gradients through all there is, one tensor after the other."""
        try:
            for i, t in enumerate(self.tensors):
                if t.requires_grad:
                    (t * (i + 1)).sum().backward(retain_graph=True)
        except RuntimeError as error:
            return type(error).__name__
        return None

    def look(self) -> list[Any]:
        return [[ask(question, t) for question in QUESTIONS] for t in self.tensors]

    def aliases(self) -> list[int]:
        """For each tensor the first tensor that lies in the same storage."""
        places = [t.untyped_storage().data_ptr() for t in self.tensors]
        return [places.index(place) for place in places]

    def numbers(self) -> list[list[float]]:
        return [t.detach().reshape(-1).tolist() for t in self.tensors]

    def grads(self) -> list[list[float] | None]:
        kept = [t for t in self.tensors if ask(lambda t: t.retains_grad or t.is_leaf, t) is True]
        return [None if t.grad is None else t.grad.reshape(-1).tolist() for t in self.leaves + kept]


def close(ours: Any, theirs: Any) -> None:
    assert len(ours) == len(theirs)
    for a, b in zip(ours, theirs, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            assert a == pytest.approx(b, rel=1e-9, abs=1e-12, nan_ok=True)


@pytest.mark.filterwarnings("ignore")
def test_drawn_programs(real_torch):
    @hypothesis.settings(
        max_examples=120, deadline=None, database=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @hypothesis.given(program=PROGRAMS)
    def drawn(program: Program) -> None:
        compare(program, real_torch)

    drawn()


def compare(program: Program, torch: Any) -> None:
    ours, theirs = Run(reftorch), Run(torch)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for step in program:
            assert ours.step(*step) == theirs.step(*step), step
            assert ours.look() == theirs.look(), step
            assert ours.aliases() == theirs.aliases(), step
            close(ours.numbers(), theirs.numbers())
        assert ours.backward() == theirs.backward()
        close(ours.grads(), theirs.grads())


def main() -> None:
    """Run many programs; print each that differs, and how many did."""
    alone = "--alone" in sys.argv
    count, seed = (int(word) for word in sys.argv[-2:])
    differ = 0
    for i in range(count):
        draw = random.Random(seed * 1_000_003 + i)
        names = sorted(STEPS)
        program = [
            (draw.choice(names), draw.randrange(8), draw.randrange(8), draw.randrange(2))
            for _ in range(draw.randrange(1, 10))
        ]
        try:
            if alone:
                compare(program, reftorch)
            else:
                import torch

                compare(program, torch)
        except AssertionError as error:
            differ += 1
            print(i, program, str(error).splitlines()[:1], flush=True)
    print(f"{count} programs, {differ} differ")


if __name__ == "__main__":
    main()
