"""Every op under vmap gives what it gives example by example, whichever of its tensors are batched.

Mirrors: test/functorch/test_vmap.py (test_vmap_exhaustive)
"""

import itertools
import warnings
from dataclasses import replace

import numpy as np
import pytest

import reftorch as torch
from reftorch._functorch.batch_rules import _families  # noqa: F401  imported to register the rules
from reftorch._functorch.batch_rules._common import RULES
from reftorch._functorch.batch_rules._random import ENTRIES
from reftorch.utils._pytree import tree_flatten
from tests.op_db import OPS
from tests.op_db.checks import assert_same
from tests.op_db.core import Input

# What a batch has no answer for, by the words of the error.
NO_ANSWER = ("dynamic shape", "data-dependent", "calling .item()", "calling .tolist()", "randomness error mode",
             "requires special handling", "explicit positive num_classes", "Expected scalars to be contiguous",
             "Batch norm got a batched tensor as input while the running_mean or running_var",
             "vmap: embedding_renorm_(self, *extra_args) is not possible",
             "the fallback path doesn't work on out= or view ops",
             "is not possible because there exists a Tensor")  # fmt: skip


def is_input(value):
    return isinstance(value, Input)


def leaves_of(sample):
    """Where the inputs are: (args or kwargs, key, place in a list)."""
    found = []
    for holder, items in (("args", enumerate(sample.args)), ("kwargs", sample.kwargs.items())):
        for key, value in items:
            if is_input(value):
                found.append((holder, key, None))
            elif isinstance(value, (list, tuple)):
                found += [(holder, key, i) for i, element in enumerate(value) if is_input(element)]
    return found


def at(sample, place):
    holder, key, i = place
    value = getattr(sample, holder)[key]
    return value if i is None else value[i]


def call_with(op, sample, places, tensors):
    args, kwargs = sample.build(torch)
    args, kwargs = list(args), dict(kwargs)
    for (holder, key, i), tensor in zip(places, tensors, strict=True):
        target = args if holder == "args" else kwargs
        if i is None:
            target[key] = tensor
        else:
            target[key] = type(target[key])([*target[key][:i], tensor, *target[key][i + 1 :]])
    return op.run(torch, tuple(args), kwargs)


def other_example(value):
    """Valid where the first one is: the same numbers in another order."""
    return replace(value, values=np.flip(value.values).copy())


def example(value):
    return replace(value, layout="contiguous").build(torch)


def choices(count):
    """Which inputs are batched: each alone, and all."""
    alone = [tuple(i == j for i in range(count)) for j in range(count)]
    return [*alone, (True,) * count] if count > 1 else alone


def tensors_in(result):
    return [leaf for leaf in tree_flatten(result)[0] if isinstance(leaf, torch.Tensor)]


def check(op, sample):
    places = leaves_of(sample)
    compared = 0
    for flags in choices(len(places)):
        chosen = [place for place, flag in zip(places, flags, strict=True) if flag]
        values = [at(sample, place) for place in chosen]
        pairs = [(example(v), example(other_example(v))) for v in values]
        dims = [i % (first.dim() + 1) for i, (first, _) in enumerate(pairs)]
        batches = [torch.stack(pair, dim) for pair, dim in zip(pairs, dims, strict=True)]
        try:
            alone = [tensors_in(call_with(op, sample, chosen, [pair[k] for pair in pairs])) for k in (0, 1)]
            expected = [torch.stack(column) for column in zip(*alone, strict=True)]
        except (RuntimeError, IndexError, ValueError, TypeError):
            continue  # the second example is none, or the results differ in shape
        try:
            got = torch.vmap(
                lambda *tensors, chosen=chosen: tuple(tensors_in(call_with(op, sample, chosen, tensors))),
                in_dims=tuple(dims),
            )(*batches)
        except RuntimeError as error:
            if any(words in str(error) for words in NO_ANSWER):
                continue
            if op.name == "pad_sequence" and "vmap: inplace arithmetic" in str(error) and not flags[0]:
                continue  # only later sequences are batched; torch's vmap refuses pad_sequence altogether
            raise
        assert_same(list(got), expected, f"{sample}, batched: {flags}", rtol=1e-6, strides=False)
        compared += 1
    return compared


DETERMINISTIC = [
    op
    for op in OPS
    if op.name not in ("_linalg_svd", "svd")  # their factors are not unique, see below
    and not any(
        word in op.name
        for word in (
            "empty",
            "rand",
            "normal",
            "bernoulli",
            "poisson",
            "binomial",
            "_standard_gamma",
            "_sample_dirichlet",
            "multinomial",
            "exponential",
            "geometric",
            "cauchy",
            "uniform",
            "resize",
            "linalg_eig",
        )
    )
]  # fmt: skip  complex results


@pytest.mark.parametrize("op", DETERMINISTIC, ids=lambda op: op.name)
def test_as_example_by_example(op):
    dtype = op.dtypes[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fallback's; test_vmap.py is about it
        for sample in itertools.islice(op.each(dtype), 6):
            check(op, sample)


@pytest.mark.parametrize("shape", [(2, 3, 3), (2, 4, 2), (2, 2, 4)])
@pytest.mark.parametrize("in_dim", [0, 1, 2])
def test_singular_values_and_what_the_factors_make_up(shape, in_dim):
    torch.manual_seed(0)
    batch = torch.randn(shape, dtype=torch.float64)

    def new(a):
        U, S, Vh = torch.linalg.svd(a, full_matrices=False)
        return S, (U * S) @ Vh

    def old(a):
        U, S, V = torch.svd(a)
        return S, (U * S) @ V.mT

    expected = [torch.stack([torch.linalg.svdvals(a) for a in batch]), batch]
    for call in (new, old):
        assert_same(list(torch.vmap(call, in_dim)(batch.movedim(0, in_dim))), expected, f"{shape}", strides=False)


@pytest.mark.parametrize("table", [RULES, ENTRIES], ids=["rules", "random"])
def test_every_name_is_an_op(table):
    known = {schema["name"].removeprefix("aten::") for schema in torch._C._get_all_op_schemas()}
    assert sorted(set(table) - known) == []


LAYERS = [
    *("celu", "elu", "gelu", "hardshrink", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "logsigmoid", "mish"),
    *("relu6", "selu", "silu", "softplus", "softshrink"),
]


@pytest.mark.filterwarnings("error:There is a performance drop")
@pytest.mark.parametrize("name", [*LAYERS, "huber_loss", "smooth_l1_loss", "layer_norm"])
def test_a_layer_runs_once_for_the_whole_batch(name: str) -> None:
    functional = getattr(torch.nn.functional, name)
    others = {"layer_norm": ((4,), torch.ones(4), torch.zeros(4))}.get(
        name, (torch.zeros(4),) if "loss" in name else ()
    )
    slopes = torch.func.vmap(torch.func.grad(lambda x: functional(x, *others).sum()))(torch.randn(3, 4))
    assert slopes.shape == (3, 4)
