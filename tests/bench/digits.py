"""A convolutional network learns handwritten digits: 98.5 % of the held-out fifth, in under 20 s in the Release build.

Mirrors: nothing in PyTorch: pytorch/examples/mnist trains on data that is downloaded.

    REFTORCH_BUILD=release .venv/bin/python tests/bench/digits.py [curves.svg]

The 1797 images of 8 x 8 pixels come with scikit-learn, and every fifth one is held out. The program shows a progress
bar, prints the accuracy and the seconds, draws the curves of loss and accuracy if it is given a name, and ends with 1
where it was too slow or wrong too often.
"""

import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

EPOCHS, BATCH = 16, 64
ACCURACY, SECONDS = 0.985, 20.0


@dataclass
class Run:
    losses: list[float] = field(default_factory=list)  # of the steps
    accuracies: list[float] = field(default_factory=list)  # on the held-out fifth, after each epoch
    seconds: float = 0.0


def network(torch: Any) -> Any:
    nn = torch.nn
    return nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1, bias=False), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
        nn.Flatten(), nn.Dropout(0.2), nn.Linear(256, 10),
    )  # fmt: skip


def shifted(torch: Any, images: Any) -> Any:
    """Each batch by one pixel in a random direction, so that the network sees more than 1437 images."""
    down, right = torch.randint(-1, 2, (2,)).tolist()
    return torch.nn.functional.pad(images, (1 + right, 1 - right, 1 + down, 1 - down))[:, :, 1:-1, 1:-1]


def train(torch: Any, epochs: int = EPOCHS, show: bool = False) -> Run:
    from sklearn.datasets import load_digits
    from tqdm import tqdm

    digits = load_digits()
    images = torch.tensor(digits.images.tolist()).div(16).unsqueeze(1)
    classes = torch.tensor(digits.target.tolist())
    held_out = torch.arange(len(images)) % 5 == 0
    data = torch.utils.data.TensorDataset(images[~held_out], classes[~held_out])
    torch.manual_seed(0)
    loader = torch.utils.data.DataLoader(data, BATCH, shuffle=True, drop_last=True)
    net, run, before = network(torch), Run(), time.perf_counter()
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-2, weight_decay=1e-2)
    scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=epochs * len(loader))
    for _ in (bar := tqdm(range(epochs), disable=not show)):
        net.train()
        for x, y in loader:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(net(shifted(torch, x)), y)
            loss.backward()
            optimizer.step()
            scheduler.step()
            run.losses.append(loss.item())
        net.eval()
        with torch.no_grad():
            right = net(images[held_out]).argmax(1) == classes[held_out]
        run.accuracies.append(right.float().mean().item())
        bar.set_postfix(loss=f"{run.losses[-1]:.3f}", accuracy=f"{run.accuracies[-1]:.2%}")
    run.seconds = time.perf_counter() - before
    return run


def curve(values: list[float], title: str, left: float) -> str:
    """The values from left to right in a box of 300 x 150, with the smallest and the largest one beside it."""
    low, high = min(values), max(values)
    points = " ".join(
        f"{left + 300 * i / max(len(values) - 1, 1):.1f},{180 - 150 * (v - low) / max(high - low, 1e-12):.1f}"
        for i, v in enumerate(values)
    )
    return (
        f'<text x="{left}" y="20">{title}: {low:.4g} to {high:.4g}</text>'
        f'<rect x="{left}" y="30" width="300" height="150" fill="none" stroke="gray"/>'
        f'<polyline points="{points}" fill="none" stroke="steelblue" stroke-width="1.5"/>'
    )


def draw(run: Run, name: str) -> None:
    """Write the curves as a picture that every browser shows."""
    body = curve(run.losses, "loss of the steps", 10) + curve(run.accuracies, "accuracy after the epochs", 340)
    Path(name).write_text(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 650 190">{body}</svg>\n')


def main() -> int:
    import reftorch

    run = train(reftorch, show=True)
    print(f"{run.accuracies[-1]:.2%} of the held-out fifth, after {run.seconds:.1f} s")
    if len(sys.argv) > 1:
        draw(run, sys.argv[1])
    return int(run.accuracies[-1] < ACCURACY or run.seconds > SECONDS)


if __name__ == "__main__":
    sys.exit(main())
