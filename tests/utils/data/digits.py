"""A training on scikit-learn's handwritten digits, whose data comes through a dataset, a sampler and workers.

Mirrors: nothing in PyTorch: a program of the tests.

    python -m tests.utils.data.digits CHECKPOINT WORKERS

The program begins where the checkpoint ends. Ctrl-C ends it at any moment.
"""

import json
import os
import sys
from typing import Any

import reftorch as torch
from reftorch import nn
from reftorch.utils.data import DataLoader, Dataset, WeightedRandomSampler

EPOCHS = 3
SAMPLES = 320  # of each epoch


class Digits(Dataset):
    """Images of 64 pixels, moved by a pixel to either side or not at all, and their labels."""

    def __init__(self) -> None:
        from sklearn.datasets import load_digits

        data = load_digits()
        self.images = torch.tensor(data.images, dtype=torch.float32)
        self.labels = torch.tensor(data.target)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> Any:
        return torch.roll(self.images[index] / 16, index % 3 - 1, 1).flatten(), self.labels[index]


def make_model() -> Any:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))


def train(workers: int, path: str = "", data: Any = None) -> list[float]:
    """Train from the checkpoint at ``path``, or from the beginning, and return the losses of all steps."""
    data = Digits() if data is None else data
    weights = (1 / torch.bincount(data.labels).float())[data.labels]  # each digit is drawn as often as the others
    generator = torch.Generator().manual_seed(1)
    sampler = WeightedRandomSampler(weights, SAMPLES, generator=generator)
    context = "fork" if workers else None
    loader = DataLoader(data, 32, sampler=sampler, num_workers=workers, multiprocessing_context=context)
    model = make_model()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    losses: list[float] = []
    epoch = 0
    if path and os.path.exists(path):
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        generator.set_state(saved["generator"])
        losses, epoch = saved["losses"], saved["epoch"]
    for done in range(epoch, EPOCHS):
        for step, (x, y) in enumerate(loader):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            print("step", done, step, flush=True)
        if path:
            state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": done + 1}
            torch.save({**state, "generator": generator.get_state(), "losses": losses}, path)
    return losses


if __name__ == "__main__":
    try:
        print(json.dumps(train(int(sys.argv[2]), sys.argv[1])))
    except KeyboardInterrupt:
        print("interrupted")
