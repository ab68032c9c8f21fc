"""The layers as functions.

Mirrors: test/test_nn.py
Leaves out: the functions that are not there.
"""

import random
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.nn import functional as F


def numbers(*shape: int) -> list[float]:
    rng = random.Random(str(shape))
    return [rng.randrange(-64, 65) / 32 for _ in range(reftorch.Size(shape).numel())]


def make(lib: ModuleType, *shape: int, grad: bool = False) -> Any:
    return lib.tensor(numbers(*shape)).reshape(shape).requires_grad_(grad)


def flat(tensor: Any) -> list[float]:
    return tensor.reshape(-1).tolist()


def test_activations() -> None:
    x = reftorch.tensor([-1.0, 0.0, 2.0])
    assert F.relu(x).tolist() == [0.0, 0.0, 2.0]
    assert F.tanh(x).tolist() == x.tanh().tolist()
    assert F.sigmoid(x).tolist() == x.sigmoid().tolist()
    assert x.tolist() == [-1.0, 0.0, 2.0]


@pytest.mark.parametrize("in_place", [lambda x: F.relu(x, inplace=True), F.relu_])
def test_relu_in_place(in_place: Any) -> None:
    x = reftorch.tensor([-1.0, 2.0])
    assert in_place(x) is x
    assert x.tolist() == [0.0, 2.0]


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(3,), (5, 3), (2, 5, 3)])
def test_linear(real_torch: ModuleType, shape: tuple[int, ...], bias: bool) -> None:
    results = []
    for lib in (reftorch, real_torch):
        args = [make(lib, *shape, grad=True), make(lib, 4, 3, grad=True)] + bias * [make(lib, 4, grad=True)]
        out = lib.nn.functional.linear(*args)
        (out * out).sum().backward()
        results.append([tuple(out.shape), flat(out), *(flat(arg.grad) for arg in args)])
    assert results[0][0] == results[1][0]
    for ours, theirs in zip(results[0][1:], results[1][1:], strict=True):
        assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-5)


def test_linear_of_sizes_that_do_not_fit() -> None:
    with pytest.raises(RuntimeError, match=r"shapes cannot be multiplied \(2x3 and 4x5\)"):
        F.linear(reftorch.zeros(2, 3), reftorch.zeros(5, 4))


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
@pytest.mark.parametrize(("shape", "dim"), [((4,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), -2), ((), 0)])
def test_softmax(real_torch: ModuleType, name: str, shape: tuple[int, ...], dim: int) -> None:
    results = []
    for lib in (reftorch, real_torch):
        x = make(lib, *shape, grad=True)
        out = getattr(lib.nn.functional, name)(x, dim=dim)
        (out * out).sum().backward()
        results.append(flat(out) + flat(x.grad))
    assert results[0] == pytest.approx(results[1], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_in_another_dtype(name: str) -> None:
    out = getattr(F, name)(reftorch.ones(2), dim=0, dtype=reftorch.float64)
    assert out.dtype is reftorch.float64


@pytest.mark.parametrize(("shape", "dim"), [((4,), 0), ((3, 4), 1), ((2, 3, 4), 0), ((1, 2, 3, 4), 1)])
def test_softmax_without_a_dimension_is_warned_about(shape: tuple[int, ...], dim: int) -> None:
    x = make(reftorch, *shape)
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        out = F.softmax(x)
    assert out.tolist() == F.softmax(x, dim=dim).tolist()


SHAPES = [((4,), ()), ((5, 4), (5,)), ((2, 4, 3), (2, 3)), ((2, 4, 3, 2), (2, 3, 2))]
OPTIONS: list[dict[str, Any]] = [
    {},
    {"reduction": "sum"},
    {"reduction": "none"},
    {"weight": True},
    {"weight": True, "reduction": "sum"},
    {"ignore_index": 1},
    {"ignore_index": 1, "weight": True},
]


def class_loss(lib: ModuleType, name: str, shapes: tuple, options: dict[str, Any]) -> list[float]:
    shape, target_shape = shapes
    rng = random.Random(0)
    classes = [rng.randrange(4) for _ in range(reftorch.Size(target_shape).numel())]
    options = dict(options)
    if options.get("weight"):
        options["weight"] = lib.tensor([0.5, 1.0, 2.0, 0.25])
    x = make(lib, *shape, grad=True)
    target = lib.tensor(classes).reshape(target_shape)
    loss = getattr(lib.nn.functional, name)(x, target, **options)
    loss.sum().backward()
    return [*loss.shape, *flat(loss), *flat(x.grad)]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_losses_of_classes(real_torch: ModuleType, name: str, shapes: tuple, options: dict[str, Any]) -> None:
    ours, theirs = (class_loss(lib, name, shapes, options) for lib in (reftorch, real_torch))
    assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_label_smoothing(real_torch: ModuleType, shapes: tuple, options: dict[str, Any]) -> None:
    options = {**options, "label_smoothing": 0.3}
    ours, theirs = (class_loss(lib, "cross_entropy", shapes, options) for lib in (reftorch, real_torch))
    assert ours == pytest.approx(theirs, rel=1e-5, abs=1e-6, nan_ok=True)


@pytest.mark.parametrize(
    "options", [{}, {"reduction": "sum"}, {"reduction": "none"}, {"weight": True}, {"label_smoothing": 0.2}], ids=str
)
@pytest.mark.parametrize("shape", [(4,), (5, 4), (2, 4, 3)], ids=str)
def test_cross_entropy_of_probabilities(
    real_torch: ModuleType, shape: tuple[int, ...], options: dict[str, Any]
) -> None:
    results = []
    for lib in (reftorch, real_torch):
        given = {**options, "weight": lib.tensor([0.5, 1.0, 2.0, 0.25])} if "weight" in options else options
        x = make(lib, *shape, grad=True)
        target = make(lib, *shape).abs()
        loss = lib.nn.functional.cross_entropy(x, target, **given)
        loss.sum().backward()
        results.append([*loss.shape, *flat(loss), *flat(x.grad)])
    assert results[0] == pytest.approx(results[1], rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("weighted", [False, True])
def test_mse_loss(real_torch: ModuleType, reduction: str, weighted: bool) -> None:
    results = []
    for lib in (reftorch, real_torch):
        x, target = make(lib, 3, 4, grad=True), make(lib, 3, 4) * 2
        weight = make(lib, 3, 4).abs() if weighted else None
        loss = lib.nn.functional.mse_loss(x, target, reduction=reduction, weight=weight)
        loss.sum().backward()
        results.append([*loss.shape, *flat(loss), *flat(x.grad)])
    assert results[0] == pytest.approx(results[1], rel=1e-5, abs=1e-6)


def test_mse_loss_of_another_size_is_warned_about() -> None:
    with pytest.warns(UserWarning, match=r"Using a target size \(torch\.Size\(\[1\]\)\) that is different"):
        loss = F.mse_loss(reftorch.ones(3), reftorch.zeros(1))
    assert loss.item() == 1.0


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy", "mse_loss"])
def test_an_unknown_reduction(name: str) -> None:
    target = reftorch.zeros(2, 3) if name == "mse_loss" else reftorch.tensor([0, 1])
    with pytest.raises(ValueError, match="max is not a valid value for reduction"):
        getattr(F, name)(reftorch.zeros(2, 3), target, reduction="max")


@pytest.mark.parametrize(
    ("size_average", "reduce", "reduction"), [(False, None, "sum"), (None, False, "none"), (True, True, "mean")]
)
def test_deprecated_flags(size_average: bool | None, reduce: bool | None, reduction: str) -> None:
    x, target = make(reftorch, 3), make(reftorch, 3) + 1
    with pytest.warns(UserWarning, match=f"please use reduction='{reduction}' instead"):
        loss = F.mse_loss(x, target, size_average=size_average, reduce=reduce)
    assert loss.tolist() == F.mse_loss(x, target, reduction=reduction).tolist()


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
@pytest.mark.parametrize("target", [4, -1, -101])
def test_a_class_out_of_range(name: str, target: int) -> None:
    with pytest.raises(IndexError, match=f"Target {target} is out of bounds"):
        getattr(F, name)(reftorch.zeros(2, 4), reftorch.tensor([0, target]))


@pytest.mark.parametrize("name", ["nll_loss", "cross_entropy"])
def test_numbers_of_samples_that_differ(name: str) -> None:
    with pytest.raises(ValueError, match=r"Expected input batch_size \(2\) to match target batch_size \(3\)"):
        getattr(F, name)(reftorch.zeros(2, 4), reftorch.zeros(3, dtype=reftorch.int64))
    no_classes = r"Expected 1 or more dimensions \(got 0\)|Dimension out of range"
    with pytest.raises((ValueError, IndexError), match=no_classes):
        getattr(F, name)(reftorch.tensor(1.0), reftorch.tensor([0]))
    with pytest.raises(RuntimeError, match=r"Expected target size \[2, 3\], got \[2, 4\]"):
        getattr(F, name)(reftorch.zeros(2, 4, 3), reftorch.zeros(2, 4, dtype=reftorch.int64))


def test_errors_of_cross_entropy_with_probabilities() -> None:
    x, target = reftorch.zeros(2, 4), reftorch.zeros(2, 4)
    with pytest.raises(
        RuntimeError, match="Expected floating point type for target with class probabilities, got Long"
    ):
        F.cross_entropy(x, target.to(reftorch.int64))
    with pytest.raises(RuntimeError, match="ignore_index is not supported for floating point target"):
        F.cross_entropy(x, target, ignore_index=1)
    with pytest.raises(RuntimeError, match=r"label_smoothing must be between 0\.0 and 1\.0\. Got: 2"):
        F.cross_entropy(x, target, label_smoothing=2)
    with pytest.raises(RuntimeError, match=r"for all 4 classes or no classes but got weight tensor of shape: \[3\]"):
        F.cross_entropy(x, target, weight=reftorch.ones(3))
