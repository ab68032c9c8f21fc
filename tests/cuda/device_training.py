"""Networks trained for a few steps on CUDA devices: the CPU's losses. Run by test_devices.py.

Mirrors: nothing in PyTorch: its tests train on one device only.
"""

from collections.abc import Callable
from typing import Any

import pytest

import reftorch as torch
from reftorch import nn
from reftorch.nn import functional as F
from tests.bench import digits

STEPS = 3
TEXT = "the quick brown fox jumps over the lazy dog, and the lazy dog sleeps on. " * 4
LETTERS = sorted(set(TEXT))


class Block(nn.Module):
    """One layer of a GPT: attention and a network of two layers, each added to its input."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        heads = self.qkv(self.norms[0](x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        attended = F.scaled_dot_product_attention(heads[0], heads[1], heads[2], is_causal=True)
        x = x + self.project(attended.transpose(1, 2).reshape(batch, length, width))
        return x + self.mlp(self.norms[1](x))


class GPT(nn.Module):
    """Predicts the next letter of each place."""

    def __init__(self, width: int = 32, length: int = 16) -> None:
        super().__init__()
        self.letters, self.places = nn.Embedding(len(LETTERS), width), nn.Embedding(length, width)
        self.blocks = nn.Sequential(Block(width, 4), Block(width, 4))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, len(LETTERS))

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        places = torch.arange(letters.shape[1], device=letters.device)
        x = self.blocks(self.letters(letters) + self.places(places))
        return self.head(self.norm(x)).transpose(1, 2)


class LSTM(nn.Module):
    """Predicts the next letter of each place from the states of an LSTM."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.letters, self.lstm = nn.Embedding(len(LETTERS), width), nn.LSTM(width, width, 2, batch_first=True)
        self.head = nn.Linear(width, len(LETTERS))

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        return self.head(self.lstm(self.letters(letters))[0]).transpose(1, 2)


class Halves(nn.Module):
    """A network whose first half is on one device, and whose second half is on another."""

    def __init__(self, network: nn.Sequential) -> None:
        super().__init__()
        self.first, self.second = network[: len(network) // 2], network[len(network) // 2 :]
        self.first.to("cuda:0")
        self.second.to("cuda:1")

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x).to("cuda:1"))


def texts() -> tuple[torch.Tensor, torch.Tensor]:
    numbers = torch.tensor([LETTERS.index(letter) for letter in TEXT])
    windows = numbers.unfold(0, 17, 16)[:8]
    return windows[:, :-1], windows[:, 1:]


def images() -> tuple[torch.Tensor, torch.Tensor]:
    from sklearn.datasets import load_digits

    data = load_digits()
    return torch.tensor(data.images[:8].tolist()).div(16).unsqueeze(1), torch.tensor(data.target[:8].tolist())


def cnn() -> nn.Sequential:
    network = digits.network(torch)
    network[-2].p = 0.0  # each device draws its own random numbers
    return network


def losses(network: nn.Module, data: tuple[torch.Tensor, torch.Tensor], first: str, last: str, fused: bool) -> Any:
    x, y = data[0].to(first), data[1].to(last)
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, fused=fused)
    values = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = F.cross_entropy(network(x), y)
        loss.backward()
        optimizer.step()
        values.append(loss.item())
    return values


@pytest.mark.parametrize("fused", [False, True])
@pytest.mark.parametrize(("make", "data"), [(cnn, images), (GPT, texts), (LSTM, texts)])
def test_the_losses_are_those_of_the_cpu(make: Callable[[], nn.Module], data: Callable[[], Any], fused: bool) -> None:
    torch.manual_seed(0)
    network = make()
    state = {name: value.clone() for name, value in network.state_dict().items()}
    expected = losses(network, data(), "cpu", "cpu", fused)
    assert expected[-1] < expected[0]
    network.load_state_dict(state)
    assert losses(network.to("cuda"), data(), "cuda", "cuda", fused) == pytest.approx(expected, rel=1e-3)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs two devices")
def test_two_devices_share_a_network() -> None:
    torch.manual_seed(0)
    network = cnn()
    state = {name: value.clone() for name, value in network.state_dict().items()}
    expected = losses(network, images(), "cpu", "cpu", fused=False)
    network.load_state_dict(state)
    assert losses(Halves(network), images(), "cuda:0", "cuda:1", fused=False) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("rule", "options"),
    [("SGD", {"momentum": 0.9}), ("Adagrad", {}), ("Adam", {"amsgrad": True}), ("AdamW", {"weight_decay": 0.1})],
)
def test_a_fused_step_takes_a_learning_rate_on_the_cpu_and_loads_its_count(rule: str, options: dict[str, Any]) -> None:
    def parameters(device: str) -> Any:
        p = torch.nn.Parameter(torch.arange(-3.0, 3.0).to(device))
        optimizer = getattr(torch.optim, rule)([p], lr=torch.tensor(0.25), fused=True, **options)
        for _ in range(2):
            p.grad = p.detach().sin()
            optimizer.step()
            optimizer.load_state_dict(optimizer.state_dict())
        counts = [state["step"] for state in optimizer.state.values() if "step" in state]
        assert all(count.device == p.device and count.item() == 2 for count in counts)
        return p.detach().cpu()

    assert torch.allclose(parameters("cuda"), parameters("cpu"), rtol=1e-6)


@pytest.mark.parametrize(("make", "data"), [(cnn, images), (GPT, texts), (LSTM, texts)])
def test_autocast_and_a_scaler_train_as_float32_does(make: Callable[[], nn.Module], data: Callable[[], Any]) -> None:
    torch.manual_seed(0)
    network = make()
    state = {name: value.clone() for name, value in network.state_dict().items()}
    expected = losses(network, data(), "cpu", "cpu", fused=False)
    network.load_state_dict(state)
    network.to("cuda")
    x, y = (each.to("cuda") for each in data())
    optimizer, scaler = torch.optim.AdamW(network.parameters(), lr=1e-3), torch.amp.GradScaler("cuda")
    values = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        with torch.autocast("cuda"):
            output = network(x)
            loss = F.cross_entropy(output, y)
        assert (output.dtype, loss.dtype) == (torch.float16, torch.float32)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        values.append(loss.item())
    assert scaler.get_scale() == 65536  # no gradient was infinite
    assert {p.grad.dtype for p in network.parameters() if p.grad is not None} == {torch.float32}
    assert values == pytest.approx(expected, rel=5e-3)


def test_autocast_has_lists_for_cuda_of_their_own() -> None:
    """PyTorch's choices: products in 16 bits, exp, norms, losses and sums in float32, and the rest as they come."""
    half, single = torch.rand(3, 3, device="cuda").half(), torch.rand(3, 3, device="cuda")
    on_cpu = torch.rand(3, 3)
    with torch.autocast("cuda"):
        for of_half in (single @ single, F.linear(single, half), torch.einsum("ij,jk", single, half), half.relu()):
            assert of_half.dtype is torch.float16
        for of_float in (half.exp(), half.log(), half.sum(), half.softmax(0), half.cumsum(0), half**2, half.norm(),
                         F.layer_norm(half, (3,)), F.mse_loss(half, half), torch.cat([half, single]),
                         torch.atan2(half, single), half.sum(dtype=torch.float32)):  # fmt: skip
            assert of_float.dtype is torch.float32
        assert half.sum(dtype=torch.float16).dtype is torch.float16 and (single.double() @ single.double()).dtype is (
            torch.float64
        )
        assert (on_cpu @ on_cpu).dtype is torch.float32  # the mode of the CPU is another one
        with torch.autocast("cpu"):
            assert (on_cpu @ on_cpu).dtype is torch.bfloat16 and (single @ single).dtype is torch.float16
        with pytest.raises(RuntimeError, match="unsafe to autocast"):
            F.binary_cross_entropy(single, single)
        with torch.autocast("cuda", enabled=False):
            assert (single @ single).dtype is torch.float32
    with torch.autocast("cuda", dtype=torch.bfloat16):
        assert (single @ single).dtype is torch.bfloat16
    assert not torch.is_autocast_enabled("cuda") and (single @ single).dtype is torch.float32
