"""Modules that are traced with this library and with torch.

Mirrors: test/test_fx.py
"""

import math
from collections import namedtuple

import numpy as np

import reftorch as torch

nn = torch.nn
F = torch.nn.functional

MODELS = {}


def model(*inputs, **options):
    """Register a class: ``inputs`` are the shapes of the arguments, or the arguments; ``options`` say how to trace."""

    def register(cls):
        MODELS[cls.__name__] = (cls, inputs, options)
        return cls

    return register


def example_inputs(name):
    """The arguments of a model, as numpy arrays."""
    rng = np.random.default_rng(0)
    _, inputs, _ = MODELS[name]
    return [
        rng.standard_normal(shape).astype(np.float32) if isinstance(shape, tuple) and shape and shape != () else shape
        for shape in inputs
    ]


def trace(name, module):
    """Trace a model as its options say."""
    _, _, options = MODELS[name]
    tracer = options.get("tracer", torch.fx.Tracer)()
    graph = tracer.trace(module, options.get("concrete_args"))
    return torch.fx.GraphModule(tracer.root, graph, type(module).__name__)


@model((2, 3, 6, 6))
class ResNetBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, 4, 3, stride=2, padding=1, bias=False), nn.BatchNorm2d(4)
        self.conv2, self.bn2 = nn.Conv2d(4, 4, 3, padding=1, bias=False), nn.BatchNorm2d(4)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = nn.Sequential(nn.Conv2d(3, 4, 1, stride=2, bias=False), nn.BatchNorm2d(4))

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


@model((4, 6))
class ResidualBlock(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.bn1 = nn.Linear(6, 6, bias=False), nn.BatchNorm1d(6)
        self.fc2, self.bn2 = nn.Linear(6, 6, bias=False), nn.BatchNorm1d(6)
        self.relu = nn.ReLU()

    def forward(self, x):
        identity = x
        out = self.relu(self.bn1(self.fc1(x)))
        out = self.bn2(self.fc2(out))
        out = out + identity
        return self.relu(out)


class Attention(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(dim, 3 * dim)
        self.proj = nn.Linear(dim, dim)

    def forward(self, x, mask=None):
        batch, length, dim = x.shape
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        q = q.view(batch, length, self.heads, dim // self.heads).transpose(1, 2)
        k = k.view(batch, length, self.heads, dim // self.heads).transpose(1, 2)
        v = v.view(batch, length, self.heads, dim // self.heads).transpose(1, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(dim // self.heads)
        if mask is not None:
            scores = scores.masked_fill(mask[:length, :length] == 0, float("-inf"))
        out = torch.softmax(scores, dim=-1) @ v
        return self.proj(out.transpose(1, 2).reshape(batch, length, dim))


class Block(nn.Module):
    def __init__(self, dim, heads):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.attn = Attention(dim, heads)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim), nn.Dropout(0.0))

    def forward(self, x, mask=None):
        x = x + self.attn(self.ln1(x), mask)
        return x + self.mlp(self.ln2(x))


@model((2, 5, 8))
class TransformerLayer(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block(8, 2)

    def forward(self, x):
        return self.block(x)


class BuffersToo(torch.fx.Tracer):
    proxy_buffer_attributes = True


@model(np.arange(10).reshape(2, 5), tracer=BuffersToo)
class GPT(nn.Module):
    def __init__(self, vocabulary=12, dim=8, layers=2):
        super().__init__()
        self.wte, self.wpe = nn.Embedding(vocabulary, dim), nn.Embedding(16, dim)
        self.blocks = nn.ModuleList([Block(dim, 2) for _ in range(layers)])
        self.ln_f = nn.LayerNorm(dim)
        self.register_buffer("mask", torch.tril(torch.ones(16, 16)))
        self.register_buffer("positions", torch.arange(16))

    def forward(self, tokens):
        x = self.wte(tokens) + self.wpe(self.positions[: tokens.shape[1]])
        for block in self.blocks:
            x = block(x, self.mask)
        return F.linear(self.ln_f(x), self.wte.weight, None)


@model((3, 4), (3, 5), (3, 5))
class LSTMCell(nn.Module):
    def __init__(self):
        super().__init__()
        self.ih, self.hh = nn.Linear(4, 20), nn.Linear(5, 20)

    def forward(self, x, h, c):
        i, f, g, o = (self.ih(x) + self.hh(h)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * c.tanh(), c


@model((2, 3))
class ControlFlow(nn.Module):
    def __init__(self, depth=3, gated=True):
        super().__init__()
        self.depth, self.gated = depth, gated
        self.layers = nn.ModuleList(nn.Linear(3, 3) for _ in range(depth))

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i < self.depth - 1:
                x = x * x.sigmoid() if self.gated else x.relu()
        return x


@model((2, 3))
class Keywords(nn.Module):
    def forward(self, x, *, scale=2.0, shift: float = 1.0, name: str = "unused"):
        return torch.add(input=x * scale, other=x, alpha=2) - shift


@model((2, 3))
class Structures(nn.Module):
    def forward(self, x):
        parts = {"a": x + 1, "b": [x * 2, (x - 1, None)]}
        return parts["a"], {"sum": parts["b"][0].sum(), "rest": [parts["b"][1][0], 3, "text"]}


@torch.fx.wrap
def branch(x, limit):
    return x * 2 if x.sum() > limit else x - 1


torch.fx.wrap("len")


@model((4, 3))
class Wrapped(nn.Module):
    def forward(self, x):
        return branch(x, 0.5) / len(x)


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = nn.Parameter(torch.ones(3) * 2)

    def forward(self, x):
        return x * self.factor


class ScaleIsLeaf(torch.fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return isinstance(m, Scale)


@model((2, 3), tracer=ScaleIsLeaf)
class CustomTracer(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale, self.fc = Scale(), nn.Linear(3, 3)

    def forward(self, x):
        return self.fc(self.scale(x)).relu()


@model((2, 3), tracer=BuffersToo)
class Buffers(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(3))
        self.register_buffer("absent", None)

    def forward(self, x):
        return (x - self.mean) / (self.mean.abs() + 1)


@model((2, 3))
class InPlace(nn.Module):
    def forward(self, x):
        y = x * 2
        y.add_(1).mul_(3)
        y += x
        torch.relu_(y)
        return F.leaky_relu(y, 0.1)


@model((2, 4))
class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Linear(4, 4), nn.Linear(4, 4)
        self.second.weight = self.first.weight
        self.again = self.first

    def forward(self, x):
        return self.again(self.second(self.first(x))) @ self.second.weight.t() + self.first.weight.sum()


@model((2, 3))
class Containers(nn.Module):
    def __init__(self):
        super().__init__()
        self.stages = nn.ModuleDict(
            {"inner": nn.Sequential(nn.Linear(3, 4), nn.Sequential(nn.Tanh(), nn.Identity())), "out": nn.Linear(4, 2)}
        )
        self.scales = nn.ParameterList([torch.ones(4), torch.ones(2)])

    def forward(self, x):
        x = self.stages["inner"](x) * self.scales[0]
        return self.stages["out"](x) * self.scales[1]


@model((2, 3))
class Constants(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = torch.arange(3.0)

    def forward(self, x):
        x = x + self.table
        x = x * torch.tensor([1.0, 2.0, 3.0])
        return x - torch.full((3,), 0.5)


@model((2, 3, 4))
class Shapes(nn.Module):
    def forward(self, x):
        n = x.size(0)
        y = x.reshape(n, -1).view(x.shape[0], x.shape[1], x.size()[2])
        y = y.permute(2, 0, 1).unsqueeze(0).expand(2, -1, -1, -1).contiguous()
        return y.flatten(start_dim=1) * x.dim() / x.numel()


@model((4, 5))
class Indexing(nn.Module):
    def forward(self, x):
        a = x[1:3, ::2]
        b = x[..., None, -1]
        c = x[[0, 2]]
        d = x[x.shape[0] - 1]
        return a.sum() + b.sum() + c[:, 1].sum() + d[None].sum()


@model((2, 3))
class Numbers(nn.Module):
    def forward(self, x):
        scale = math.sqrt(x.shape[1]) + math.pi
        return torch.clamp(x, min=-1.0, max=math.inf) * scale + float("1e-3")


@model((2, 3), (2, 3))
class Variadic(nn.Module):
    def forward(self, *args, **kwargs):
        return args[0] * 2 + args[1]


@model((3, 4))
class Functions(nn.Module):
    def forward(self, x):
        x = F.dropout(x, p=0.5, training=False)
        x = torch.where(x > 0, x, F.elu(x))
        x = F.layer_norm(x, (4,)) + F.normalize(x, dim=-1)
        x = F.log_softmax(x, dim=1).to(torch.float64).float()
        return torch.stack([x, torch.zeros_like(x)], dim=0).mean(dim=(0, 1), keepdim=True)


@model((3, 3))
class Operators(nn.Module):
    def forward(self, x):
        y = abs(-x) ** 2 % 3 + x.detach() // 1
        mask = ~((x > 0) & (y <= 2) | (x == y) ^ (x != 1))
        z = 1 - x + 2 * x / 3 - 4 / (y + 1)
        return (z @ x + 2**y) * mask


Pair = namedtuple("Pair", ["left", "right"])


@model((2, 3))
class NamedTuples(nn.Module):
    def forward(self, x):
        return torch.cat(Pair(x, x + 1), dim=0)


@model((2, 3))
class Annotated(nn.Module):
    def forward(self, x: torch.Tensor, scale: "int | None" = None) -> torch.Tensor:
        y: torch.Tensor = x * 3
        return y.relu()


@model({"x": np.ones((2, 3), np.float32), "y": [np.full((2, 3), 2.0, np.float32)]}, 1, concrete_args={
    "inputs": {"x": torch.fx.PH, "y": [torch.fx.PH]}, "flag": 1,
})  # fmt: skip
class ConcreteArgs(nn.Module):
    def forward(self, inputs, flag):
        if flag == 1:
            return {"out": inputs["x"] * 2 + inputs["y"][0]}
        return {"out": inputs["x"]}
