"""Every op's derivative on a batch: the formula runs by batching rules, and gives what it gives example by example.

Mirrors: test/functorch/test_ops.py (test_vmapvjp, test_vmapjvpall, test_vjpvmap)
"""

import itertools
import warnings

import pytest

import reftorch as torch
from reftorch.func import grad, jvp, vmap
from tests._functorch.batch_rules.test_rules import NO_ANSWER, at, call_with, example, leaves_of, other_example
from tests.autograd.test_forward_ad import DIFFERENTIABLE, floats_in

# Their rows take the signs out with numpy, which a batch does not give.
ROWS = [op for op in DIFFERENTIABLE if op.name not in ("_linalg_svd", "svd", "_linalg_eigh", "linalg_eigh")]
DIMS = (0, -1, 1)


class Case:
    """An op, two examples of its floating inputs, and a single number made of its results."""

    def __init__(self, op, sample):
        self.op, self.sample = op, sample
        self.places = [place for place in leaves_of(sample) if at(sample, place).is_float]
        values = [at(sample, place) for place in self.places]
        self.pairs = [(example(v), example(other_example(v))) for v in values]
        self.argnums = tuple(range(len(self.pairs)))
        self.dims = tuple(DIMS[i % 3] if x.dim() > 0 else 0 for i, (x, _) in enumerate(self.pairs))

    def results(self, *inputs):
        return floats_in(call_with(self.op, self.sample, self.places, inputs))

    def number(self, *inputs):
        total = torch.zeros((), dtype=torch.float64)
        for i, result in enumerate(self.results(*inputs)):
            weights = torch.arange(result.numel(), dtype=torch.float64).add(1.3 + i).sin()
            total = total + (result * weights.reshape(result.shape)).sum()
        return total

    def example(self, k):
        return [pair[k] for pair in self.pairs]

    def gradients(self, *inputs):
        return grad(self.number, self.argnums)(*inputs)

    def comparisons(self):
        """What is computed in one go, and what example by example."""
        try:
            alone = [self.gradients(*self.example(k)) for k in (0, 1)]
        except (RuntimeError, IndexError, ValueError):
            return  # the second example is none, or there is no gradient
        if not all(torch.isfinite(g).all() for row in alone for g in row):
            return
        batch = [torch.stack(pair, dim) for pair, dim in zip(self.pairs, self.dims, strict=True)]
        yield lambda: vmap(self.gradients, in_dims=self.dims)(*batch), _stacked(alone)

        def of_the_first(x):
            return self.gradients(x, *self.example(0)[1:])

        mixed = [of_the_first(x) for x in self.pairs[0]]
        yield lambda: vmap(of_the_first, in_dims=self.dims[0])(batch[0]), _stacked(mixed)
        yield from self.of_many_cotangents()
        if self.op.gradgradcheck:  # forward mode differentiates the derivative
            yield from self.of_many_tangents(alone[0])

    def of_many_cotangents(self):
        leaves = [x.clone().requires_grad_() for x in self.example(0)]
        outputs = [out for out in self.results(*leaves) if out.requires_grad]
        if outputs:
            starts = [torch.stack([out.detach().cos(), out.detach().sin()]) for out in outputs]

            def pull_back(starts, batched):
                grads = torch.autograd.grad(outputs, leaves, starts, retain_graph=True, allow_unused=True,
                                            is_grads_batched=batched)  # fmt: skip
                return [g for g in grads if g is not None]

            yield lambda: pull_back(starts, True), _stacked([pull_back([s[k] for s in starts], False) for k in (0, 1)])

    def of_many_tangents(self, gradients):
        counted = [torch.arange(x.numel(), dtype=x.dtype).reshape(x.shape) for x in self.example(0)]
        tangents = [torch.stack([n.cos(), n.add(2).sin()]) for n in counted]

        def push_forward(*directions):
            return jvp(self.number, tuple(self.example(0)), directions)[1]

        one_by_one = [push_forward(*[t[k] for t in tangents]) for k in (0, 1)]
        product = sum((g * t[0]).sum() for g, t in zip(gradients, tangents, strict=True))
        yield lambda: [one_by_one[0]], [product]
        yield lambda: [vmap(push_forward)(*tangents)], [torch.stack(one_by_one)]


def _stacked(rows):
    return [torch.stack(column) for column in zip(*rows, strict=True)]


def compare(op, count):
    """How many comparisons there were."""
    done = 0
    for sample in itertools.islice(op.each("float64"), count):
        case = Case(op, sample)
        if not case.places:
            continue
        for in_one_go, expected in case.comparisons():
            try:
                found = in_one_go()
            except RuntimeError as error:
                if any(words in str(error) for words in NO_ANSWER):
                    continue
                raise
            for got, want in zip(found, expected, strict=True):
                assert got.shape == want.shape, f"{sample}"
                assert torch.allclose(got, want.to(got.dtype), rtol=1e-6, atol=1e-9), f"{sample}"
            done += 1
    return done


@pytest.mark.parametrize("op", ROWS, ids=lambda op: op.name)
def test_derivatives_of_a_batch(op):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that an op has no rule, which test_vmap.py is about
        compare(op, 2)


def test_that_compares_something():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sum(compare(op, 1) for op in ROWS[::11]) > 120
