"""The loss of a linear layer in chunks against torch's, drawn over sizes, options and dtypes.

Mirrors: test/test_nn.py (the tests of linear_cross_entropy)
"""

import contextlib
import random
import warnings
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.utils._python_dispatch import TorchDispatchMode
from tests.answers.watched import asked


def numbers(lib: ModuleType, rng: random.Random, *shape: int, dtype: str) -> Any:
    values = [rng.gauss(0, 1) for _ in range(lib.Size(shape).numel())]
    return lib.tensor(values, dtype=lib.float64).reshape(shape).to(getattr(lib, dtype)).requires_grad_()


def run(lib: ModuleType, seed: int) -> list[Any]:
    rng = random.Random(seed)
    n, features, classes = rng.randint(0 if seed % 10 == 0 else 1, 9), rng.randint(1, 4), rng.randint(2, 30)
    dtype = rng.choice(("float64", "float64", "float32"))
    options = lib.nn.LinearCrossEntropyOptions(
        allow_retain_graph=rng.random() < 0.5,
        **rng.choice(
            (
                {},
                {"batch_chunk_size": rng.randint(1, 12)},
                {"chunking_method": rng.choice(("aspect_ratio", "aspect_ratio:3", "auto"))},
                {"chunking_method": None},
                {"acc_policy": rng.choice(("accurate", "balanced", "compact"))},
            )
        ),
    )
    batch = () if rng.random() < 0.1 else (n,)
    x, weight = numbers(lib, rng, *batch, features, dtype=dtype), numbers(lib, rng, classes, features, dtype=dtype)
    bias = numbers(lib, rng, classes, dtype=dtype) if rng.random() < 0.5 else None
    of_class = numbers(lib, rng, classes, dtype=dtype).detach().square() if rng.random() < 0.5 else None
    target = lib.tensor([rng.randrange(classes) for _ in range(n if batch else 1)], dtype=lib.int64).reshape(batch)
    loss = lib.nn.functional.linear_cross_entropy(
        x, weight, target, linear_bias=bias, weight=of_class, options=options,
        reduction=rng.choice(("none", "mean", "sum")), ignore_index=rng.choice((None, 0, 1)),
    )  # fmt: skip
    slope = (lib.arange(loss.numel(), dtype=loss.dtype) + 1).cos().reshape(loss.shape)
    leaves = [t for t in (x, weight, bias) if t is not None]
    grads = lib.autograd.grad(loss, leaves, slope, retain_graph=options.allow_retain_graph)
    if options.allow_retain_graph:
        grads += lib.autograd.grad(loss, leaves, slope * 2)
    return [(str(t.dtype), tuple(t.shape), t.reshape(-1).tolist()) for t in (loss, *grads)]


@pytest.mark.parametrize("seed", range(60))
def test_it_is_that_of_torch(seed: int, real_torch: ModuleType) -> None:
    for ours, theirs in zip(run(reftorch, seed), run(real_torch, seed), strict=True):
        assert (ours[0].replace("reftorch", "torch"), ours[1]) == theirs[:2]
        rel = 1e-4 if "float32" in ours[0] else 1e-9
        assert ours[2] == pytest.approx(theirs[2], rel=rel, abs=rel, nan_ok=True)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("reduction", ["none", "mean"])
def test_16_bits_are_computed_in_32(dtype: str, reduction: str, real_torch: ModuleType) -> None:
    found = []
    for lib in (reftorch, real_torch):
        rng = random.Random(1)
        leaves = [numbers(lib, rng, *shape, dtype=dtype) for shape in ((6, 4), (9, 4), (9,))]
        x, weight, bias = leaves
        loss = lib.nn.functional.linear_cross_entropy(
            x, weight, lib.arange(6), linear_bias=bias, reduction=reduction, options=lib.nn.LinearCrossEntropyOptions()
        )
        loss.sum().backward()
        assert loss.dtype == x.grad.dtype == getattr(lib, dtype)
        found.append([t.double().reshape(-1).tolist() for t in (loss, *(leaf.grad for leaf in leaves))])
    for ours, theirs in zip(*found, strict=True):
        assert ours == pytest.approx(theirs, rel=0.02, abs=0.005)


def test_options_for_a_call(real_torch: ModuleType) -> None:
    for seed in range(60):
        rng = random.Random(seed)
        sizes = rng.randint(1, 5000), rng.randint(1, 500), rng.randint(1, 50000)
        dtype, method = (
            rng.choice(("float32", "bfloat16")),
            rng.choice(("auto", "aspect_ratio", "aspect_ratio:4", None)),
        )
        policy = rng.choice(("auto", "compact"))
        found = []
        for lib in (reftorch, real_torch):
            options = lib.nn.LinearCrossEntropyOptions(chunking_method=method, acc_policy=policy)
            found.append(
                repr(options._adjust(*sizes, getattr(lib, dtype), lib.device("cpu"))).replace("reftorch", "torch")
            )
        assert found[0] == found[1]


def calls(lib: ModuleType) -> list[Any]:
    options, function = lib.nn.LinearCrossEntropyOptions, lib.nn.functional.linear_cross_entropy
    x, weight, target = lib.ones(4, 3, requires_grad=True), lib.ones(5, 3), lib.tensor([0, 1, 2, 3])

    def twice() -> None:
        loss = function(x, weight, target, options=options())
        loss.backward(retain_graph=True)
        loss.backward()

    tried = []
    for call in (
        lambda: options(acc_policy="other"),
        lambda: options(chunking_method="other"),
        lambda: options(chunking_method="aspect_ratio:0"),
        lambda: options(batch_chunk_size=0),
        lambda: options(acc_dtype=lib.int32),
        lambda: function(x, weight, target, options=options(batch_chunk_size=1, chunking_method="aspect_ratio")),
        lambda: function(x, weight, target, options=options(acc_dtype=lib.float64)),
        twice,
        lambda: repr(options(batch_chunk_size=2)),
    ):
        try:
            tried.append(call())
        except Exception as error:
            tried.append((type(error), str(error).replace("reftorch", "torch")))
    return tried


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    assert calls(reftorch) == calls(real_torch)


@pytest.mark.parametrize("options", [{"label_smoothing": 0.1}, {"reduction": "other"}])
def test_options_are_ignored_with_a_warning(options: dict[str, Any], real_torch: ModuleType) -> None:
    def program(lib: Any) -> None:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            arguments = lib.ones(2, 3), lib.ones(5, 3), lib.tensor([0, 1])
            with contextlib.suppress(ValueError):  # the other reduction is refused afterwards
                lib.nn.functional.linear_cross_entropy(
                    *arguments, options=lib.nn.LinearCrossEntropyOptions(), **options
                )
        assert any("linear_cross_entropy: ``options`` ignored" in str(w.message) for w in caught)

    program(reftorch)
    asked(real_torch, program)


def test_the_scores_never_exist_together() -> None:
    """The largest tensor that is made has the elements of one chunk of scores, not those of the whole batch."""
    largest = 0

    class Watch(TorchDispatchMode):
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            nonlocal largest
            result = func(*args, **(kwargs or {}))
            if isinstance(result, reftorch.Tensor):
                largest = max(largest, result.numel())
            return result

    x, weight = reftorch.ones(64, 2, requires_grad=True), reftorch.ones(100, 2)
    options = reftorch.nn.LinearCrossEntropyOptions(batch_chunk_size=4)
    with Watch():
        reftorch.nn.functional.linear_cross_entropy(x, weight, reftorch.arange(64), options=options)
    assert largest == 4 * 100
