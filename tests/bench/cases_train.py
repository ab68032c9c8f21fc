"""Whole training steps and the loader: what a user waits for.

Mirrors: torch/utils/benchmark/examples/end_to_end.py
Left out: networks whose layers reftorch does not have yet.
"""

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from cases import Library, function

SAMPLES, BATCH = 60_000, 64
BATCHES = -(-SAMPLES // BATCH)


def mlp(lib: Library, *widths: int) -> Any:
    layers: list[Any] = []
    for i, (inputs, outputs) in enumerate(pairwise(widths)):
        layers += [lib.nn.ReLU()] * bool(i) + [lib.nn.Linear(inputs, outputs)]
    return lib.nn.Sequential(*layers)


def mlp_step(rule: str, batch: int, *widths: int, **options: float) -> Callable[[Library], Callable[[], object]]:
    def make(lib: Library) -> Callable[[], object]:
        model = mlp(lib, *widths)
        optimizer = getattr(lib.optim, rule)(model.parameters(), **options)
        x, target = lib.randn(batch, widths[0]), lib.T.randint(0, widths[-1], (batch,))
        cross_entropy = lib.F.cross_entropy

        def step() -> None:
            optimizer.zero_grad()
            cross_entropy(model(x), target).backward()
            optimizer.step()

        return step

    return make


function("train", "mlp_sgd", mlp_step("SGD", 64, 784, 256, 128, 10, lr=1e-3))
function("train", "mlp_sgd_tiny", mlp_step("SGD", 2, 4, 4, 4, 2, lr=1e-3))
function("train", "mlp_adam", mlp_step("Adam", 64, 784, 256, 128, 10, lr=1e-3))


def mlp_forward(lib: Library) -> Callable[[], object]:
    model, x = mlp(lib, 784, 256, 128, 10), lib.randn(64, 784)

    def forward() -> None:
        with lib.T.no_grad():
            model(x)

    return forward


function("train", "mlp_forward", mlp_forward)


def loader(workers: int) -> Callable[[Library], Callable[[], object]]:
    """One pass over a set of digit-sized samples, per batch."""

    def make(lib: Library) -> Callable[[], object]:
        images, labels = lib.T.rand(SAMPLES, 784), lib.T.randint(0, 10, (SAMPLES,))
        dataset = lib.data.TensorDataset(images, labels)
        batches = lib.data.DataLoader(dataset, batch_size=BATCH, shuffle=True, num_workers=workers)

        def run() -> None:
            for _ in batches:
                pass

        return run

    return make


function("data", "loader_tensor_0_workers", loader(0), per=BATCHES)
function("data", "loader_tensor_2_workers", loader(2), per=BATCHES)
