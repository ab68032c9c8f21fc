"""Convolutions as modules against torch's, on drawn arguments.

Mirrors: test/nn/test_convolution.py
"""

import random
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.nn.functions import sets_sorted


def drawn_options(seed: int, transposed: bool) -> tuple[int, dict[str, Any], tuple[int, ...]]:
    """The number of dimensions, the arguments of the module, and the shape of an input."""
    rng = random.Random(seed)
    dims, groups = rng.randint(1, 3), rng.choice((1, 1, 2, 3))

    def numbers(low: int, high: int) -> Any:
        return rng.choice((rng.randint(low, high), tuple(rng.randint(low, high) for _ in range(dims))))

    options = {
        "in_channels": groups * rng.randint(1, 2),
        "out_channels": groups * rng.randint(1, 3),
        "kernel_size": numbers(1, 3),
        "stride": numbers(1, 2),
        "padding": numbers(0, 2),
        "dilation": numbers(1, 2),
        "groups": groups,
        "bias": rng.random() < 0.7,
    }
    if not transposed and rng.random() < 0.3:
        options |= {"padding": rng.choice(("same", "valid")), "stride": 1}
    if not transposed:
        options["padding_mode"] = rng.choice(("zeros", "zeros", "reflect", "replicate", "circular"))
    batch = rng.choice(((2,), (2,), ()))
    return dims, options, (*batch, options["in_channels"], *(rng.randint(6, 8) for _ in range(dims)))


def outcome(lib: Any, name: str, options: dict[str, Any], shape: tuple[int, ...], theirs: Any = None) -> Any:
    """What a module with torch's parameters computes and its gradients; or the type of its error."""
    lib.manual_seed(0)
    module = getattr(lib.nn, name)(**options, dtype=lib.float64)
    if theirs is not None:
        module.load_state_dict({k: lib.tensor(v.tolist(), dtype=lib.float64) for k, v in theirs.state_dict().items()})
    count = lib.Size(shape).numel()
    x = (lib.arange(count, dtype=lib.float64) * 0.7).sin().reshape(shape).requires_grad_()
    y = module(x)
    (y * (lib.arange(y.numel(), dtype=lib.float64) * 0.3).cos().reshape(y.shape)).sum().backward()
    grads = [x.grad, *(p.grad for p in module.parameters())]
    return module, [tuple(y.shape), *(t.reshape(-1).tolist() for t in (y.detach(), *grads))]


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("seed", range(60))
def test_modules_equal_torch(seed: int, real_torch: Any) -> None:
    transposed = seed % 3 == 0
    dims, options, shape = drawn_options(seed, transposed)
    name = f"Conv{'Transpose' if transposed else ''}{dims}d"
    try:
        theirs, want = outcome(real_torch, name, options, shape)
    except RuntimeError as error:  # a border larger than the input, or nothing left
        with pytest.raises(type(error)):
            outcome(reftorch, name, options, shape)
        return
    ours, got = outcome(reftorch, name, options, shape, theirs)
    assert repr(ours) == repr(theirs)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert got[0] == want[0]
    for mine, other in zip(got[1:], want[1:], strict=True):
        assert mine == pytest.approx(other, rel=1e-10, abs=1e-10)


def test_the_parameters_are_drawn_as_in_torch(real_torch: Any) -> None:
    def drawn(lib: Any) -> list[list[float]]:
        lib.manual_seed(3)
        return [p.flatten().tolist() for p in lib.nn.Conv2d(3, 4, 3, groups=1).parameters()]

    for mine, other in zip(drawn(reftorch), asked(real_torch, drawn), strict=True):
        assert mine == pytest.approx(other)


def test_output_size(real_torch: Any) -> None:
    for size, is_right in (([1, 2, 9], True), ([10], True), ([11], False), ([3, 4], False)):
        shapes = []
        for lib in (reftorch, real_torch):
            module, x = lib.nn.ConvTranspose1d(1, 2, 3, stride=2), lib.ones(1, 1, 4)
            if is_right:
                shapes.append(tuple(module(x, output_size=size).shape))
            else:
                with pytest.raises(ValueError) as caught:
                    module(x, output_size=size)
                shapes.append(str(caught.value))
        assert shapes[0] == shapes[1]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("Conv2d", {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "groups": 2}),
        ("Conv2d", {"in_channels": 4, "out_channels": 3, "kernel_size": 3, "groups": 2}),
        ("Conv2d", {"in_channels": 4, "out_channels": 3, "kernel_size": 3, "groups": 0}),
        ("Conv2d", {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "padding": "same", "stride": 2}),
        ("Conv2d", {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "padding": "other"}),
        ("Conv2d", {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "padding_mode": "other"}),
        ("ConvTranspose2d", {"in_channels": 3, "out_channels": 4, "kernel_size": 3, "padding_mode": "reflect"}),
    ],
)
def test_wrong_arguments(name: str, options: dict[str, Any], real_torch: Any) -> None:
    def message(lib: Any) -> str:
        with pytest.raises(ValueError) as caught:
            getattr(lib.nn, name)(**options)
        return sets_sorted(str(caught.value))

    assert message(reftorch) == asked(real_torch, message)


def test_grad_fn_is_that_of_torch(real_torch: Any) -> None:
    def names(lib: Any) -> list[str]:
        x = lib.ones(2, 3, 5, 5, requires_grad=True)
        results = (lib.nn.Conv2d(3, 4, 3)(x), lib.nn.Conv2d(3, 4, 3)(x[0]), lib.nn.ConvTranspose2d(3, 4, 3)(x))
        return [type(y.grad_fn).__name__ for y in results]

    assert names(reftorch) == asked(real_torch, names)


def test_channels_last_in_and_out(real_torch: Any) -> None:
    def strides(lib: Any) -> list[Any]:
        x = lib.ones(2, 3, 6, 5).to(memory_format=lib.channels_last).requires_grad_()
        found = []
        for module in (lib.nn.Conv2d(3, 4, 3), lib.nn.Conv2d(3, 3, 3, groups=3), lib.nn.ConvTranspose2d(3, 4, 3)):
            y = module(x)
            y.backward(lib.ones_like(y))
            found += [y.stride(), x.grad.stride()]
        return found

    assert strides(reftorch) == strides(real_torch)


@pytest.mark.parametrize(
    "name", ["LazyConv1d", "LazyConv2d", "LazyConv3d", "LazyConvTranspose1d", "LazyConvTranspose2d"]
)
def test_lazy_layers(name: str, real_torch: Any, noted: Any) -> None:
    def made(lib: Any) -> Any:
        lib.manual_seed(2)
        layer = getattr(lib.nn, name)(4, 2, groups=2, stride=2)
        before = repr(layer), list(layer.state_dict())
        shape = tuple(layer(lib.ones(2, 6, *(5,) * int(name[-2]))).shape)
        state = {k: v.flatten().tolist() for k, v in layer.state_dict().items()}
        return (before, shape, repr(layer), type(layer).__name__), state

    (got, mine), (want, theirs) = made(reftorch), noted(made(real_torch))
    assert got == want
    assert list(mine) == list(theirs)
    for key, values in mine.items():
        assert values == pytest.approx(theirs[key])


def test_a_lazy_layer_refuses_other_inputs(real_torch: Any) -> None:
    for lib in (reftorch, real_torch):
        with pytest.raises(RuntimeError, match=r"Expected 3D .unbatched. or 4D .batched. input to LazyConv2d"):
            lib.nn.LazyConv2d(3, 2)(lib.ones(2, 2))
        with pytest.raises(ValueError, match="in_channels must be divisible by groups"):
            lib.nn.LazyConv2d(4, 2, groups=2)(lib.ones(1, 3, 4, 4))
