"""The older names of mixed precision: they warn as torch does, and set the same state.

Mirrors: test/test_autocast.py
Leaves out: IPU and XLA.
"""

import importlib
import warnings
from types import ModuleType
from typing import Any

import pytest

import reftorch


def heard(call: Any) -> Any:
    """What a call returns or raises, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result = call()
        except Exception as error:
            result = type(error).__name__, str(error)
    said = [(w.category.__name__, str(w.message).split(" (Triggered")[0]) for w in caught]
    return result if isinstance(result, (tuple, bool, str, type(None))) else type(result).__name__, said


def state(t: Any) -> list[Any]:
    kinds = ("cpu", "cuda")
    return [(t.is_autocast_enabled(kind), str(t.get_autocast_dtype(kind))) for kind in kinds]


def answers(t: Any) -> list[Any]:
    before = [(kind, t.is_autocast_enabled(kind), t.get_autocast_dtype(kind)) for kind in ("cpu", "cuda")]
    found = []
    try:
        for call in (
            lambda: str(t.get_autocast_cpu_dtype()),
            lambda: str(t.get_autocast_gpu_dtype()),
            lambda: t.is_autocast_cpu_enabled(),
            lambda: t.set_autocast_cpu_dtype(t.float16),
            lambda: t.set_autocast_cpu_dtype("half"),
            lambda: t.set_autocast_gpu_dtype(t.bfloat16),
            lambda: t.set_autocast_gpu_dtype(1),
            lambda: t.set_autocast_cpu_enabled(True),
            lambda: t.set_autocast_cpu_enabled(t.half),
        ):
            found += [heard(call), state(t)]
    finally:
        for kind, enabled, dtype in before:
            t.set_autocast_enabled(kind, enabled)
            t.set_autocast_dtype(kind, dtype)
    return found


def test_the_state_and_the_warnings_are_torchs(real_torch: ModuleType) -> None:
    ours = answers(reftorch)
    assert ours == answers(real_torch)
    assert sum(bool(said) for _, said in ours[::2]) == 6


def packages(t: Any) -> list[Any]:
    cpu, cuda = (importlib.import_module(f"{t.__name__}.{kind}.amp") for kind in ("cpu", "cuda"))
    x = t.ones(2, 2)

    def product(mode: Any) -> str:
        with mode:
            return str((x @ x).dtype)

    found = [
        heard(lambda: product(cpu.autocast())),
        heard(lambda: product(cpu.autocast(True, t.float16))),
        heard(lambda: product(cpu.autocast(enabled=False))),
        heard(lambda: str(cpu.autocast()(t.mm)(x, x).dtype)),
        heard(lambda: tuple(cpu.GradScaler(8.0, growth_interval=3).state_dict().items())),
        heard(lambda: cuda.GradScaler(enabled=False).is_enabled()),
        heard(lambda: cuda.amp_definitely_not_available()),
    ]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")

        class Twice(t.autograd.Function):
            @staticmethod
            @cuda.custom_fwd(cast_inputs=t.float32)
            def forward(ctx: Any, x: Any) -> Any:
                return 2 * x

            @staticmethod
            @cuda.custom_bwd
            def backward(ctx: Any, grad: Any) -> Any:
                return 2 * grad

        x.requires_grad_()
        Twice.apply(x).sum().backward()
        found.append([(w.category.__name__, str(w.message)) for w in caught])
    return [*found, x.grad.tolist()]


def test_the_packages_of_the_devices_are_torchs(real_torch: ModuleType) -> None:
    ours = packages(reftorch)
    assert ours == packages(real_torch)
    assert ours[0] == ("torch.bfloat16", ours[0][1]) and len(ours[0][1]) == 1


def test_a_recurrent_network_takes_what_autocast_gives(real_torch: ModuleType) -> None:
    """Inside the mode, the outputs of a product have 16 bits, and a recurrent module takes them."""

    def run(t: Any, kind: str, dtype: Any) -> tuple[Any, ...]:
        t.manual_seed(0)
        first, rest = t.nn.Linear(3, 4), getattr(t.nn, kind)(4, 5, num_layers=2, bidirectional=True)
        x = (t.arange(2 * 3 * 3).reshape(3, 2, 3) / 18).sin()
        with t.autocast("cpu", dtype):
            out = rest(first(x))[0]
        out.float().sum().backward()
        return str(out.dtype), out.tolist(), str(first.weight.grad.dtype), rest.weight_hh_l0.grad.tolist()

    for kind in ("LSTM", "GRU", "RNN"):
        ours, theirs = run(reftorch, kind, reftorch.bfloat16), run(real_torch, kind, real_torch.bfloat16)
        assert ours[::2] == theirs[::2] == ("torch.bfloat16", "torch.float32")
        for mine, other in zip(ours[1::2], theirs[1::2], strict=True):
            reftorch.testing.assert_close(reftorch.tensor(mine), reftorch.tensor(other), atol=0.03, rtol=0.03)
    with pytest.raises(ValueError, match="does not match weight dtype"):  # outside of the mode, the dtypes must agree
        reftorch.nn.LSTM(4, 5)(reftorch.ones(3, 2, 4, dtype=reftorch.bfloat16))
