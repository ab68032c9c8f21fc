"""Every public name of torch.distributions with its signature, and programs that learn with distributions.

Mirrors: nothing in PyTorch: it has no other library to be compared with.

``names.csv`` has a row for each name: its module, its state and, where the state is not ``same``, the reason. ``same``
means that the signatures are torch's, those of the public methods of a class included.
"""

import csv
import importlib
import inspect
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import reftorch

ROWS = list(csv.DictReader((Path(__file__).parent / "names.csv").read_text().splitlines()))
MODULES = sorted({row["module"] for row in ROWS})


def signature(function: Any) -> Any:
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [(p.name, p.kind, p.default) for p in parameters]


def signatures(value: Any) -> Any:
    """The signature of a function, or those of a class and of its public methods, by name."""
    if not inspect.isclass(value):
        return {"": signature(value)} if inspect.isfunction(value) else {}
    found = {"": signature(value)}
    for name in dir(value):
        member = inspect.getattr_static(value, name)
        if isinstance(member, classmethod | staticmethod):
            member = member.__func__
        if inspect.isfunction(member) and not name.startswith("_"):
            found[name] = signature(member)
        elif isinstance(member, property) or hasattr(member, "wrapped"):
            found[name] = "property"
    return found


@pytest.mark.parametrize("module", MODULES)
def test_the_table_has_every_name_of_torch(real_torch: ModuleType, noted: Any, module: str) -> None:
    theirs = importlib.import_module(f"{real_torch.__name__}.{module}")
    assert sorted(row["name"] for row in ROWS if row["module"] == module) == noted(sorted(theirs.__all__))


def test_the_table_has_every_file_of_torch(real_torch: ModuleType) -> None:
    files = Path(real_torch.distributions.__file__).parent.glob("*.py")
    names = {path.stem for path in files} - {"__init__"}
    assert {"distributions", *(f"distributions.{name}" for name in names)} == set(MODULES)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['module']}.{row['name']}")
def test_the_table_is_right(real_torch_or_none: ModuleType | None, noted: Any, row: dict[str, str]) -> None:
    ours = importlib.import_module(f"reftorch.{row['module']}")
    assert row["state"] in ("same", "differs", "missing")
    assert hasattr(ours, row["name"]) == (row["state"] != "missing")
    assert bool(row["reason"]) == (row["state"] != "same")
    if row["state"] != "missing":
        assert row["name"] in ours.__all__
    if real_torch_or_none is not None and row["state"] != "missing":
        theirs = importlib.import_module(f"{real_torch_or_none.__name__}.{row['module']}")
        known = signatures(getattr(ours, row["name"]))
        expected = signatures(getattr(theirs, row["name"]))
        noted(sorted(expected.items()))
        different = {name for name, value in expected.items() if known.get(name) != value}
        assert bool(different) == (row["state"] == "differs"), {n: (known.get(n), expected[n]) for n in different}


def test_nothing_else_is_public() -> None:
    for module in MODULES:
        names = {row["name"] for row in ROWS if row["module"] == module}
        assert set(importlib.import_module(f"reftorch.{module}").__all__) == names


def test_import_reftorch_does_not_import_distributions() -> None:
    program = "import sys, reftorch; print('reftorch.distributions' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


# --- programs ---------------------------------------------------------------------------------------------------------


def variational_autoencoder(torch: Any, steps: int = 30) -> list[float]:
    """Two clusters of binary vectors; the loss is the negative evidence lower bound."""
    nn, D = torch.nn, torch.distributions
    torch.manual_seed(0)
    centers = torch.tensor([[0.9] * 6 + [0.1] * 6, [0.1] * 6 + [0.9] * 6])
    x = D.Bernoulli(centers.repeat(32, 1)).sample()
    encoder = nn.Sequential(nn.Linear(12, 16), nn.Tanh(), nn.Linear(16, 4))
    decoder = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 12))
    optimizer = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=0.02)
    prior = D.Independent(D.Normal(torch.zeros(2), torch.ones(2)), 1)
    losses = []
    for _ in range(steps):
        mean, raw = encoder(x).chunk(2, dim=-1)
        posterior = D.Independent(D.Normal(mean, nn.functional.softplus(raw)), 1)
        image = D.Independent(D.Bernoulli(logits=decoder(posterior.rsample())), 1)
        loss = (D.kl_divergence(posterior, prior) - image.log_prob(x)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def reinforce(torch: Any, steps: int = 40) -> list[float]:
    """A policy that learns to choose, of four actions, the one that the state names."""
    torch.manual_seed(1)
    policy = torch.nn.Linear(4, 4)
    optimizer = torch.optim.SGD(policy.parameters(), lr=0.5)
    rewards = []
    for _ in range(steps):
        target = torch.randint(4, (32,))
        state = torch.nn.functional.one_hot(target, 4).float()
        action_distribution = torch.distributions.Categorical(logits=policy(state))
        action = action_distribution.sample()
        reward = (action == target).float()
        loss = -(action_distribution.log_prob(action) * (reward - reward.mean())).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        rewards += [loss.item(), reward.mean().item()]
    return rewards


def dirichlet_fit(torch: Any, steps: int = 30) -> list[float]:
    """The gradient of samples of gamma variables: a Dirichlet and a gamma distribution move to their targets."""
    D = torch.distributions
    torch.manual_seed(2)
    raw = torch.zeros(3, requires_grad=True)
    target = D.Dirichlet(torch.tensor([2.0, 5.0, 1.0]))
    optimizer = torch.optim.Adam([raw], lr=0.1)
    losses = []
    for _ in range(steps):
        q = D.Dirichlet(D.transform_to(D.Dirichlet.arg_constraints["concentration"])(raw))
        x = q.rsample((16,))
        loss = (q.log_prob(x) - target.log_prob(x)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("program", [variational_autoencoder, reinforce, dirichlet_fit])
def test_programs_give_the_same_losses_from_the_same_seed(real_torch: ModuleType, program: Any) -> None:
    assert program(reftorch) == pytest.approx(program(real_torch), rel=2e-3, abs=1e-4)


def test_programs_learn() -> None:
    losses = variational_autoencoder(reftorch)
    assert sum(losses[-5:]) < 0.9 * sum(losses[:5])
    rewards = reinforce(reftorch, steps=200)[1::2]
    assert sum(rewards[-5:]) / 5 > 0.8 > sum(rewards[:5]) / 5
    assert dirichlet_fit(reftorch)[-1] < 0.5 * dirichlet_fit(reftorch)[0]
