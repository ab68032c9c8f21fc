"""Small programs as people write them for torch: the same seed gives the same losses.

Mirrors: nothing in PyTorch: the programs are those of its examples, at a size that takes less than a second.

A program is a function of the library. It returns the losses of its steps.
"""

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch

PROGRAMS: list[Callable[[Any], list[Any]]] = []


def program(function: Callable[[Any], list[Any]]) -> Callable[[Any], list[Any]]:
    PROGRAMS.append(function)
    return function


def trained(optimizer: Any, loss: Callable[[], Any], steps: int = 4, scheduler: Any = None) -> list[float]:
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        value = loss()
        value.backward()
        optimizer.step()
        if scheduler is not None:
            scheduler.step()
        losses.append(value.item())
    return losses


@program
def mnist_cnn_with_adadelta(t: Any) -> list[Any]:
    nn, F = t.nn, t.nn.functional
    net = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.Conv2d(4, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Dropout(0.25), nn.Flatten(),
        nn.Linear(8 * 16, 16), nn.ReLU(), nn.Dropout(0.5), nn.Linear(16, 10), nn.LogSoftmax(1),
    )  # fmt: skip
    x, y = t.randn(6, 1, 12, 12), t.randint(10, (6,))
    optimizer = t.optim.Adadelta(net.parameters(), lr=1.0)
    scheduler = t.optim.lr_scheduler.StepLR(optimizer, 1, gamma=0.7)
    return trained(optimizer, lambda: F.nll_loss(net(x), y), scheduler=scheduler)


@program
def vae(t: Any) -> list[Any]:
    nn, F = t.nn, t.nn.functional
    encoder, decoder = nn.Linear(20, 8), nn.Sequential(nn.Linear(4, 20), nn.Sigmoid())
    x = t.rand(5, 20)
    optimizer = t.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-2)

    def loss() -> Any:
        mean, logvar = encoder(x).chunk(2, 1)
        z = mean + t.randn_like(mean) * (0.5 * logvar).exp()
        kl = t.distributions.kl_divergence(
            t.distributions.Normal(mean, (0.5 * logvar).exp()), t.distributions.Normal(t.zeros(4), t.ones(4))
        )
        return F.binary_cross_entropy(decoder(z), x, reduction="sum") + kl.sum()

    return trained(optimizer, loss)


@program
def dcgan(t: Any) -> list[Any]:
    nn = t.nn
    generator = nn.Sequential(
        nn.ConvTranspose2d(6, 8, 4, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
        nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False), nn.Tanh(),
    )  # fmt: skip
    discriminator = nn.Sequential(
        nn.Conv2d(1, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(8, 1, 4, bias=False), nn.Sigmoid(), nn.Flatten(0),
    )  # fmt: skip
    for m in (*generator.modules(), *discriminator.modules()):
        if "Conv" in type(m).__name__:
            nn.init.normal_(m.weight, 0.0, 0.02)
    optimizers = [t.optim.Adam(net.parameters(), lr=2e-4, betas=(0.5, 0.999)) for net in (discriminator, generator)]
    real, criterion, losses = t.rand(4, 1, 8, 8), nn.BCELoss(), []
    for _ in range(3):
        fake = generator(t.randn(4, 6, 1, 1))
        optimizers[0].zero_grad()
        d_loss = criterion(discriminator(real), t.ones(4)) + criterion(discriminator(fake.detach()), t.zeros(4))
        d_loss.backward()
        optimizers[0].step()
        optimizers[1].zero_grad()
        g_loss = criterion(discriminator(fake), t.ones(4))
        g_loss.backward()
        optimizers[1].step()
        losses += [d_loss.item(), g_loss.item()]
    return losses


@program
def lstm_language_model(t: Any) -> list[Any]:
    nn = t.nn
    table, rnn, head = nn.Embedding(12, 8), nn.LSTM(8, 8, 2, dropout=0.2), nn.Linear(8, 12)
    head.weight = table.weight
    parameters = [*table.parameters(), *rnn.parameters(), head.bias]
    data, optimizer, losses = t.randint(12, (25, 3)), t.optim.SGD(parameters, lr=2.0), []
    state = (t.zeros(2, 3, 8), t.zeros(2, 3, 8))
    for start in range(0, 24, 6):
        state = tuple(s.detach() for s in state)
        optimizer.zero_grad()
        out, state = rnn(table(data[start : start + 6]), state)
        loss = nn.functional.cross_entropy(head(out).flatten(0, 1), data[start + 1 : start + 7].flatten())
        loss.backward()
        losses += [loss.item(), nn.utils.clip_grad_norm_(parameters, 0.25).item()]
        optimizer.step()
    return losses


@program
def transformer_language_model(t: Any) -> list[Any]:
    nn = t.nn
    table, head = nn.Embedding(12, 8), nn.Linear(8, 12)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1)
    encoder = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    data = t.randint(12, (7, 3))
    mask = nn.Transformer.generate_square_subsequent_mask(6)
    parameters = [p for m in (table, encoder, head) for p in m.parameters()]

    def loss() -> Any:
        out = head(encoder(table(data[:-1]) * math.sqrt(8), mask=mask, is_causal=True))
        return nn.functional.cross_entropy(out.flatten(0, 1), data[1:].flatten())

    return trained(t.optim.AdamW(parameters, lr=1e-2), loss)


@program
def actor_critic(t: Any) -> list[Any]:
    nn = t.nn
    body, actor, critic = nn.Linear(4, 16), nn.Linear(16, 2), nn.Linear(16, 1)
    parameters = [p for m in (body, actor, critic) for p in m.parameters()]
    states = t.randn(6, 4)

    def loss() -> Any:
        hidden = body(states).relu()
        choices = t.distributions.Categorical(actor(hidden).softmax(-1))
        actions = choices.sample()
        returns = actions.float().flip(0).cumsum(0).flip(0)
        values = critic(hidden).squeeze(1)
        policy = -(choices.log_prob(actions) * (returns - values.detach())).sum()
        return policy + nn.functional.smooth_l1_loss(values, returns, reduction="sum")

    return trained(t.optim.Adam(parameters, lr=3e-2), loss)


@program
def super_resolution(t: Any) -> list[Any]:
    nn = t.nn
    net = nn.Sequential(nn.Conv2d(1, 8, 5, 1, 2), nn.ReLU(), nn.Conv2d(8, 4, 3, 1, 1), nn.PixelShuffle(2))
    for m in net:
        if isinstance(m, nn.Conv2d):
            nn.init.orthogonal_(m.weight, nn.init.calculate_gain("relu"))
    small = t.rand(2, 1, 6, 6)
    large = nn.functional.interpolate(small, scale_factor=2, mode="bicubic", align_corners=False)
    return trained(t.optim.Adam(net.parameters(), lr=1e-2), lambda: nn.functional.mse_loss(net(small), large))


@program
def time_series_with_lbfgs(t: Any) -> list[Any]:
    nn = t.nn
    cells, head = [nn.LSTMCell(1, 6).double(), nn.LSTMCell(6, 6).double()], nn.Linear(6, 1).double()
    wave = t.arange(20).double().mul(0.3).add(t.arange(3).double().unsqueeze(1)).sin()

    def loss() -> Any:
        states, outs = [None, None], []
        for x in wave[:, :-1].split(1, dim=1):
            for i, cell in enumerate(cells):
                states[i] = cell(x, states[i])
                x = states[i][0]
            outs.append(head(x))
        return nn.functional.mse_loss(t.cat(outs, 1), wave[:, 1:])

    parameters = [p for m in (*cells, head) for p in m.parameters()]
    optimizer, losses = t.optim.LBFGS(parameters, lr=0.8, max_iter=4), []

    def closure() -> Any:
        optimizer.zero_grad()
        value = loss()
        value.backward()
        losses.append(value.item())
        return value

    optimizer.step(closure)
    return losses


def blocks(t: Any) -> dict[str, Any]:
    """One block of each well-known network of images, from (2, 8, 8, 8) to (2, 8, 8, 8)."""
    nn, F = t.nn, t.nn.functional

    class Residual(nn.Module):
        def __init__(self, *body: Any) -> None:
            super().__init__()
            self.body = nn.Sequential(*body)

        def forward(self, x: Any) -> Any:
            return x + self.body(x)

    class Dense(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList(
                nn.Sequential(nn.BatchNorm2d(n), nn.ReLU(), nn.Conv2d(n, 4, 3, padding=1, bias=False)) for n in (8, 12)
            )
            self.transition = nn.Conv2d(16, 8, 1)

        def forward(self, x: Any) -> Any:
            for layer in self.layers:
                x = t.cat([x, layer(x)], 1)
            return self.transition(x)

    class SqueezeExcite(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down, self.up = nn.Conv2d(16, 4, 1), nn.Conv2d(4, 16, 1)

        def forward(self, x: Any) -> Any:
            return x * self.up(F.silu(self.down(F.adaptive_avg_pool2d(x, 1)))).sigmoid()

    class Permuted(nn.Module):
        def __init__(self, *body: Any) -> None:
            super().__init__()
            self.body = nn.Sequential(*body)

        def forward(self, x: Any) -> Any:
            return self.body(x.permute(0, 2, 3, 1)).permute(0, 3, 1, 2)

    class Attention(nn.Module):
        def __init__(self, window: int) -> None:
            super().__init__()
            self.window, self.norm, self.attention = (
                window,
                nn.LayerNorm(8),
                nn.MultiheadAttention(8, 2, batch_first=True),
            )

        def forward(self, x: Any) -> Any:
            w = self.window
            x = t.roll(x, (-1, -1), (2, 3)) if w < 8 else x
            parts = x.reshape(2, 8, 8 // w, w, 8 // w, w).permute(0, 2, 4, 3, 5, 1).reshape(-1, w * w, 8)
            normed = self.norm(parts)
            parts = parts + self.attention(normed, normed, normed, need_weights=False)[0]
            parts = parts.reshape(2, 8 // w, 8 // w, w, w, 8).permute(0, 5, 1, 3, 2, 4).reshape(2, 8, 8, 8)
            return t.roll(parts, (1, 1), (2, 3)) if w < 8 else parts

    class Unet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down, self.middle = nn.Conv2d(8, 8, 3, padding=1), nn.Conv2d(8, 16, 3, padding=1)
            self.up, self.last = nn.ConvTranspose2d(16, 8, 2, 2), nn.Conv2d(16, 8, 3, padding=1)

        def forward(self, x: Any) -> Any:
            skip = self.down(x).relu()
            return self.last(t.cat([skip, self.up(self.middle(F.max_pool2d(skip, 2)).relu())], 1))

    def conv(i: int, o: int, k: int, **options: Any) -> list[Any]:
        return [nn.Conv2d(i, o, k, padding=k // 2, bias=False, **options), nn.BatchNorm2d(o)]

    return {
        "resnet": lambda: Residual(*conv(8, 8, 3), nn.ReLU(inplace=True), *conv(8, 8, 3)),
        "densenet": Dense,
        "mobilenet": lambda: Residual(
            *conv(8, 16, 1), nn.ReLU6(), *conv(16, 16, 3, groups=16), nn.Hardswish(), *conv(16, 8, 1)
        ),
        "efficientnet": lambda: Residual(
            *conv(8, 16, 1), nn.SiLU(), *conv(16, 16, 5, groups=16), nn.SiLU(), SqueezeExcite(), *conv(16, 8, 1)
        ),
        "convnext": lambda: Residual(
            nn.Conv2d(8, 8, 7, padding=3, groups=8),
            Permuted(nn.LayerNorm(8), nn.Linear(8, 32), nn.GELU(), nn.Linear(32, 8)),
        ),
        "vision_transformer": lambda: nn.Sequential(
            Attention(8), Permuted(nn.LayerNorm(8), nn.Linear(8, 8), nn.GELU())
        ),
        "swin": lambda: nn.Sequential(Attention(4), Permuted(nn.LayerNorm(8), nn.Linear(8, 8), nn.GELU())),
        "unet": Unet,
    }


def image_network(t: Any, name: str) -> list[Any]:
    nn = t.nn
    net = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), blocks(t)[name](), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 5)
    )
    x, y = t.randn(2, 3, 8, 8), t.randint(5, (2,))
    optimizer = t.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4, nesterov=True)
    loss = nn.CrossEntropyLoss(label_smoothing=0.1)
    losses = trained(optimizer, lambda: loss(net(x), y))
    return [*losses, *net.eval()(x).flatten().tolist()]


for _name in ("resnet", "densenet", "mobilenet", "efficientnet", "convnext", "vision_transformer", "swin", "unet"):
    PROGRAMS.append(lambda t, name=_name: image_network(t, name))
    PROGRAMS[-1].__name__ = _name


@program
def char_gpt(t: Any) -> list[Any]:
    nn, F = t.nn, t.nn.functional

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.norms = nn.ModuleList([nn.LayerNorm(8), nn.LayerNorm(8)])
            self.qkv, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
            self.mlp = nn.Sequential(nn.Linear(8, 32), nn.GELU(approximate="tanh"), nn.Linear(32, 8))

        def forward(self, x: Any) -> Any:
            q, k, v = (z.unflatten(-1, (2, 4)).transpose(1, 2) for z in self.qkv(self.norms[0](x)).chunk(3, -1))
            x = x + self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).flatten(2))
            return x + self.mlp(self.norms[1](x))

    table, places, head = nn.Embedding(11, 8), nn.Embedding(6, 8), nn.Linear(8, 11, bias=False)
    net = nn.Sequential(Block(), Block(), nn.LayerNorm(8), head)
    table.weight = head.weight
    parameters = list({id(p): p for m in (table, places, net) for p in m.parameters()}.values())
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": 0.1},
        {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0.0},
    ]
    optimizer = t.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95))
    schedule = t.optim.lr_scheduler.CosineAnnealingLR(optimizer, 4)
    data = t.randint(11, (3, 7))

    def loss() -> Any:
        out = net(table(data[:, :-1]) + places(t.arange(6)))
        value = F.cross_entropy(out.flatten(0, 1), data[:, 1:].flatten())
        return value

    losses = []
    for _ in range(4):
        optimizer.zero_grad(set_to_none=True)
        value = loss()
        value.backward()
        losses += [value.item(), nn.utils.clip_grad_norm_(parameters, 1.0).item(), schedule.get_last_lr()[0]]
        optimizer.step()
        schedule.step()
    return losses


@program
def packed_tagging(t: Any) -> list[Any]:
    nn = t.nn
    table, rnn, head = nn.Embedding(9, 6, padding_idx=0), nn.GRU(6, 5, bidirectional=True), nn.Linear(10, 3)
    words = nn.utils.rnn.pad_sequence([t.randint(1, 9, (n,)) for n in (3, 5, 1)])
    tags = nn.utils.rnn.pad_sequence([t.randint(3, (n,)) for n in (3, 5, 1)], padding_value=-100)
    parameters = [p for m in (table, rnn, head) for p in m.parameters()]

    def loss() -> Any:
        packed = nn.utils.rnn.pack_padded_sequence(table(words), [3, 5, 1], enforce_sorted=False)
        out, _ = nn.utils.rnn.pad_packed_sequence(rnn(packed)[0])
        return nn.functional.cross_entropy(head(out).flatten(0, 1), tags.flatten(), ignore_index=-100)

    return trained(t.optim.RMSprop(parameters, lr=1e-2), loss)


@program
def stochastic_weight_averaging(t: Any) -> list[Any]:
    nn = t.nn
    net = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
    averaged = t.optim.swa_utils.AveragedModel(net)
    optimizer = t.optim.SGD(net.parameters(), lr=0.1)
    schedule = t.optim.swa_utils.SWALR(optimizer, swa_lr=0.05, anneal_epochs=2)
    x, y, losses = t.randn(12, 4), t.randn(12, 1), []
    for _ in range(4):
        losses += trained(optimizer, lambda: nn.functional.mse_loss(net(x), y), 1, schedule)
        averaged.update_parameters(net)
    t.optim.swa_utils.update_bn([x[:6], x[6:]], averaged)
    return [*losses, *averaged.eval()(x).flatten().tolist()]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_the_same_seed_gives_the_same_losses(
    real_torch: ModuleType, function: Callable[[Any], list[Any]], noted: Any
) -> None:
    found = []
    for t in (reftorch, real_torch):
        t.manual_seed(7)
        found.append(function(t))
    assert len(found[0]) == len(found[1]) >= 4
    assert found[0] == pytest.approx(noted(found[1]), rel=2e-4, abs=2e-5)
    assert len({round(value, 4) for value in found[0]}) > 2  # something was learned, or at least moved
