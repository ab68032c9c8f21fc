"""Numbers of floating-point operations, by op and by module, beside torch's.

Mirrors: test/test_flop_counter.py
Leaves out: nested tensors, Triton kernels, ``torch.cond``.
"""

import importlib
from collections.abc import Callable
from contextlib import ExitStack
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch.utils import flop_counter


def counted(t: Any, program: Callable[[Any], Any], **options: Any) -> Any:
    counter = importlib.import_module(f"{t.__name__}.utils.flop_counter").FlopCounterMode(display=False, **options)
    with counter:
        program(t)
    return counter


def cnn(t: Any) -> None:
    net = t.nn.Sequential(
        t.nn.Conv2d(4, 8, 3, padding=1, groups=2, bias=False),
        t.nn.BatchNorm2d(8),
        t.nn.ReLU(),
        t.nn.ConvTranspose2d(8, 4, 3, stride=2),
        t.nn.MaxPool2d(2),
        t.nn.Flatten(),
        t.nn.Linear(4 * 8 * 8, 10),
    )
    net(t.randn(2, 4, 8, 8)).sum().backward()
    net(t.randn(2, 4, 8, 8, requires_grad=True)).sum().backward()


def transformer(t: Any) -> None:
    layer = t.nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)
    net = t.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    net(t.randn(2, 5, 16)).sum().backward()
    net.eval()(t.randn(2, 5, 16))


def lstm(t: Any) -> None:
    # A layer of float32 is one op, mkldnn_rnn_layer, which neither table knows.
    net = t.nn.LSTM(4, 8, 2, bidirectional=True, dtype=t.float64)
    net(t.randn(5, 3, 4, dtype=t.float64))[0].sum().backward()
    with t.no_grad():
        net(t.randn(5, 3, 4, dtype=t.float64))
        t.nn.GRU(4, 8, batch_first=True)(t.randn(5, 3, 4))


class Parts:
    """A model whose parts are nested, and which multiplies outside of them too."""

    def __new__(cls, t: Any) -> Any:
        class Net(t.nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.a = t.nn.Linear(4, 4)
                self.b = t.nn.Sequential(t.nn.Linear(4, 8), t.nn.Sequential(t.nn.Linear(8, 8), t.nn.Linear(8, 2)))

            def forward(self, x: Any) -> Any:
                return self.b(self.a(x) @ t.ones(4, 4))

        return Net()


def parts(t: Any) -> None:
    Parts(t)(t.randn(3, 4, requires_grad=True)).sum().backward()
    t.baddbmm(t.ones(2, 3, 5), t.ones(2, 3, 4), t.ones(2, 4, 5))
    t.einsum("bij,bjk->bik", t.ones(2, 3, 4), t.ones(2, 4, 5))


@pytest.mark.parametrize("program", [cnn, transformer, lstm, parts])
def test_the_numbers_are_torchs(real_torch: ModuleType, noted: Any, program: Callable[[Any], None]) -> None:
    with ExitStack() as stack:
        if real_torch is not reftorch:  # without the fused kernels of torch's CPU, which its table does not know
            stack.enter_context(real_torch.backends.mkldnn.flags(enabled=False, allow_tf32=None))
        theirs = counted(real_torch, program)
    ours = counted(reftorch, program)

    def texts(counter: Any) -> dict[str, dict[str, int]]:
        # In the order of their names: torch's counter goes through a set of modules, whose order changes by process.
        counts = counter.get_flop_counts()
        return {name: {str(op): n for op, n in sorted(counts[name].items(), key=str)} for name in sorted(counts)}

    assert texts(ours) == noted(texts(theirs))
    assert ours.get_total_flops() == noted(theirs.get_total_flops()) > 0


def test_the_table_shows_modules_to_a_depth() -> None:
    counter = counted(reftorch, lambda t: Parts(t)(t.ones(300, 4)))
    assert counter.get_table(1).splitlines() == [
        "Module            FLOP    % Total",
        "-------------  -------  ---------",
        "Net            86.400K    100.00%",
        " - aten.addmm  76.800K     88.89%",
        " - aten.mm      9.600K     11.11%",
    ]
    names = [line.split()[0] for line in counter.get_table(9).splitlines() if line.strip().startswith("Net")]
    assert names == ["Net", "Net.a", "Net.b", "Net.b.0", "Net.b.1", "Net.b.1.0", "Net.b.1.1"]
    assert "  Net.b.1  " not in counter.get_table() and " Net.b  " in counter.get_table()


def test_products_outside_of_modules_are_global() -> None:
    counter = counted(reftorch, lambda t: t.mm(t.ones(3, 4), t.ones(4, 1)))
    assert counter.get_table().splitlines()[2:] == ["Global          24    100.00%", " - aten.mm      24    100.00%"]
    assert counted(reftorch, lambda t: t.ones(3)).get_table().splitlines()[2:] == ["Global         0         0%"]


def test_the_block_prints_the_table_and_begins_at_zero(capsys: pytest.CaptureFixture[str]) -> None:
    counter = flop_counter.FlopCounterMode()
    for _ in range(2):
        with counter:
            reftorch.mm(reftorch.ones(3, 4), reftorch.ones(4, 1))
    assert capsys.readouterr().out == 2 * (counter.get_table() + "\n")
    assert counter.get_total_flops() == 24
    with pytest.warns(UserWarning, match="mods argument is not needed"):
        flop_counter.FlopCounterMode(reftorch.nn.Linear(1, 1))


def test_formulas_of_ones_own() -> None:
    dot = reftorch.ops.aten.dot

    def raw(a: Any, b: Any, out_val: Any) -> int:
        return a.numel() + int(out_val)

    raw._get_raw = True  # type: ignore[attr-defined]
    x = reftorch.ones(4)
    for formula, expected in ((lambda a, b, out_shape: 2 * a[0] + len(out_shape), 8), (raw, 8)):
        counter = counted(reftorch, lambda t: t.dot(x, x), custom_mapping={dot: formula})
        assert counter.get_flop_counts()["Global"] == {dot: expected}
    assert counted(reftorch, lambda t: t.dot(x, x)).get_total_flops() == 0
    with pytest.raises(RuntimeError, match=r"duplicate registrations for aten\.mm"):
        flop_counter.register_flop_formula(reftorch.ops.aten.mm)(lambda *args: 0)
    with pytest.raises(ValueError, match=r"expected each target to be OpOverloadPacket.*aten.mm.default"):
        flop_counter.register_flop_formula([reftorch.ops.aten.mm.default])(lambda *args: 0)


def test_attention_of_an_op_of_ones_own(real_torch: ModuleType, noted: Any) -> None:
    theirs = importlib.import_module(f"{real_torch.__name__}.utils.flop_counter")
    q, k, v = (2, 6, 3, 4), (2, 2, 5, 4), (2, 2, 5, 7)
    assert flop_counter.sdpa_flop_count(q, k, v) == noted(theirs.sdpa_flop_count(q, k, v))
    k, v, grad = (2, 6, 5, 4), (2, 6, 5, 7), (2, 6, 3, 7)
    ours = flop_counter.sdpa_backward_flop_count(grad, q, k, v)
    assert ours == noted(theirs.sdpa_backward_flop_count(grad, q, k, v))
    with pytest.raises(AssertionError, match=r"query heads \(6\) must be a multiple of key/value heads \(4\)"):
        flop_counter.sdpa_flop_count(q, (2, 4, 5, 4), (2, 4, 5, 7))
    for formula, shapes in ((flop_counter.mm_flop, ((2, 3), (4, 5))), (flop_counter.bmm_flop, ((1, 2, 3), (1, 4, 5)))):
        with pytest.raises(AssertionError, match="inner dimensions must match"):
            formula(*shapes)
