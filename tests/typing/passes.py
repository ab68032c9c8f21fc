"""Typical programs, which mypy takes: what ops return is known, down to the names of a result's fields.

Mirrors: test/typing/pass/math_ops.py, test/typing/pass/creation_ops.py

Read by mypy, never run: `make lint` and test_typing.py.
"""

from typing_extensions import assert_type

import reftorch as torch
from reftorch import Tensor, nn
from reftorch.types import Number


def arithmetic(a: Tensor, b: Tensor, n: Number) -> Tensor:
    x: torch.Tensor = torch.add(a, b)
    y = torch.add(a, 2, alpha=3) + n * x - a / b + a @ b.mT
    y += 1
    y.add_(b).mul_(2).clamp_(min=0)
    return -(y**2) if bool((y > 0).all()) else 1 - y


def functions_in_front_of_ops(a: Tensor, b: Tensor) -> Tensor:
    """Python functions that take what their op does not: tensors one by one, numbers of dimensions."""
    torch.meshgrid(a, b, indexing="ij")
    torch.meshgrid([a, b])
    torch.cartesian_prod(a, b)
    torch.block_diag(a, b)
    torch.broadcast_tensors(a, b)
    torch.atleast_2d(a, b)
    torch.chain_matmul(a, b)
    torch.tensordot(a, b, dims=2)
    torch.unique(a, return_counts=True)
    torch.norm(a, dim=0)
    return torch.einsum("ij,jk->ik", a, b)


def factories() -> Tensor:
    torch.zeros(2, 3)
    torch.zeros((2, 3), dtype=torch.float64, requires_grad=True)
    torch.arange(10)
    torch.arange(0, 1, 0.1, device="cpu")
    torch.tensor([[1.0, 2.0]], dtype=torch.float32)
    torch.randn(2, 3, generator=torch.Generator().manual_seed(0))
    return torch.full((2,), 7, dtype=torch.int64).to(torch.float32).to("cpu")


def shapes(x: Tensor) -> None:
    assert_type(x.shape, torch.Size)
    assert_type(x.shape[0], int)
    assert_type(x.size(), torch.Size)
    assert_type(x.size(0), int)
    assert_type(x.dim(), int)
    x.view(2, -1).reshape((3, 2)).permute(1, 0).expand(2, 3)
    x[0, :, None] = 1
    rows, columns = x.shape
    print(rows * columns, len(x), float(x.sum()), x.tolist())


def several_results(x: Tensor) -> Tensor:
    values, indices = torch.max(x, dim=1)
    named = x.topk(2)
    assert_type(named.values, Tensor)
    assert_type(torch.max(x), Tensor)
    assert_type(torch.split(x, 2), tuple[Tensor, ...])
    assert_type(torch.var_mean(x), tuple[Tensor, Tensor])
    assert_type(torch.equal(x, x), bool)
    return values + indices + torch.stack([part.sum() for part in torch.unbind(x)])


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(self.linear(x))


def training(inputs: Tensor, targets: Tensor) -> float:
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    loss = nn.functional.mse_loss(net(inputs), targets)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    with torch.no_grad():
        for parameter in net.parameters():
            if parameter.grad is not None:
                parameter -= 0.1 * parameter.grad
    return loss.item()
