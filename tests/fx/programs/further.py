"""Further programs to trace, each with a habit of real code: names, arguments, containers, statements in place, hooks.

Mirrors: test/test_fx.py
"""

import collections
import dataclasses
import enum
import math
import operator
from typing import Any, Optional

import reftorch as torch

nn = torch.nn
F = torch.nn.functional
fx = torch.fx

PROGRAMS = {}


def program(function):
    """Register a function without arguments that returns a GraphModule or a Graph, or raises."""
    PROGRAMS[function.__name__] = function
    return function


def traced(function):
    """Register a function that is traced itself."""
    PROGRAMS[function.__name__] = lambda: fx.symbolic_trace(function)
    return function


class Config:
    def __init__(self, **options):
        self.__dict__.update(options)


class Configured(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.config = config
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(config.depth))
        self.norm = nn.LayerNorm(4) if config.norm else None

    def forward(self, x):
        for i, layer in enumerate(self.layers):
            y = layer(self.norm(x)) if self.norm is not None else layer(x)
            x = x + y if self.config.residual else y
            x = F.gelu(x, approximate=self.config.gelu) if i % 2 else F.silu(x)
        return (x, {"y": y, "mean": [x.mean(), None]}) if self.config.pair else x


@program
def configured():
    return fx.symbolic_trace(Configured(Config(depth=3, norm=True, residual=True, gelu="tanh", pair=True)))


@program
def configured_otherwise():
    return fx.symbolic_trace(Configured(Config(depth=2, norm=False, residual=False, gelu="none", pair=False)))


class Nested(nn.Module):
    def __init__(self):
        super().__init__()
        inner = nn.Sequential(nn.Linear(2, 2), nn.Sequential(nn.ReLU()))
        self.stages = nn.ModuleDict({"first": nn.ModuleList([nn.ModuleDict({"map": nn.Linear(2, 2)}), inner])})
        self.named = nn.ParameterDict({"w": nn.Parameter(torch.ones(2)), "b": nn.Parameter(torch.zeros(2))})
        self.listed = nn.ParameterList([nn.Parameter(torch.ones(2)), nn.Parameter(torch.ones(2))])

    def forward(self, x):
        for stage in self.stages.values():
            x = stage[1](stage[0]["map"](x))
        for weight in self.listed:
            x = x * weight
        return x * self.named["w"] + self.named["b"]


@program
def nested_containers():
    return fx.symbolic_trace(Nested())


@traced
def keywords_only(*, x, y=1, z: float = 2.0):
    return x * y + z


@traced
def position_only(x, /, y, *, z=3):
    return x + y * z


@traced
def all_kinds_of_parameters(x, *args, scale=2, **kwargs):
    return x + args[0] * kwargs["k"] * scale


@traced
def a_loop_over_args(x, *args):
    for each in args:
        x = x + each
    return x


@traced
def a_get_from_kwargs(x, **kwargs):
    return x + kwargs.get("a", 0)


@traced
def every_statement_in_place(x):
    x += 1
    x -= 2
    x *= 3
    x /= 4
    x //= 5
    x %= 6
    x **= 2
    x &= 1
    x |= 1
    x ^= 1
    x <<= 1
    x >>= 1
    x @= x
    x.add_(1)
    return x


@traced
def an_assignment_to_an_item(x):
    x[0] = 1
    return x


@traced
def the_deletion_of_an_item(x):
    del x[0]
    return x


class Counts(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(2))
        self.register_buffer("extra", torch.ones(2), persistent=False)
        self.plain = torch.ones(2)
        self.listed = [torch.ones(1)]

    def forward(self, x):
        self.mean.mul_(0.9).add_(x.mean())
        self.extra.copy_(x)
        return x * self.mean + self.extra + self.plain + self.listed[0]


@program
def buffers_in_place():
    return fx.symbolic_trace(Counts())


class Assigns(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("mean", torch.ones(2))

    def forward(self, x):
        self.mean = self.mean + x.mean()
        return x * self.mean


@program
def an_assignment_to_a_buffer():
    return fx.symbolic_trace(Assigns())


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.head = nn.Embedding(5, 3), nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight
        self.again = self.head

    def forward(self, x):
        scores = self.head(self.embed(x))
        return F.linear(scores @ self.embed.weight, self.head.weight) + self.again(self.embed(x))


@program
def tied_parameters():
    return fx.symbolic_trace(Tied())


class Inner(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 2)

    def forward(self, x, k=1):
        return self.linear(x).relu() * k


class Outer(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = Inner(), Inner()

    def forward(self, x):
        return self.first(x, k=3) + self.second(x, k=x.shape[0])


class SecondIsLeaf(fx.Tracer):
    def is_leaf_module(self, m, module_qualified_name):
        return module_qualified_name.endswith("second") or super().is_leaf_module(m, module_qualified_name)


@program
def a_leaf_with_keywords():
    module = Outer()
    return fx.GraphModule(module, SecondIsLeaf().trace(module))


@program
def a_trace_of_a_trace():
    return fx.symbolic_trace(fx.symbolic_trace(nn.Sequential(fx.symbolic_trace(Inner()), Inner())))


@program
def hooks_of_a_module_that_is_entered():
    module = nn.Sequential(Inner())
    module[0].register_forward_hook(lambda module, args, output: output * 2)
    module[0].register_forward_pre_hook(lambda module, args: (args[0] - 1,))
    return fx.symbolic_trace(module)


Pair = collections.namedtuple("Pair", ["left", "right"])


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Record:
    number: int
    value: object


@traced
def an_enum(x):
    return torch.stack([x], dim=0), Color.RED


@traced
def a_named_tuple_in_a_named_tuple(x):
    return Pair(x, Pair(1, [x.sum()]))


@program
def a_dataclass():
    return fx.symbolic_trace(lambda x: Record(1, x)).graph


@traced
def indices(x, n):
    return x[1:n], x[:, None, ..., 0], x[n:, ::2], x[[1, 2]], x[x > 0], x[(slice(None), n)]


@traced
def names_that_are_taken(x, input, self_, print, relu, len, torch_, _0):
    a = x.relu()
    b = relu + input
    c = a.relu().relu_()
    return a + b, c, x.size(), x.T, x.size, print, len, torch_, _0


@traced
def unpacking(x):
    a, (b, c) = x.chunk(2)
    (d,) = c
    n, m = x.shape
    return a, b, d, n * m


@traced
def a_starred_unpacking(x):
    a, *_ = x
    return a


@traced
def constants(x):
    return (
        x + 1j, x * float("inf"), x - float("nan"), x / -0.0, x + True, "text\n'\"", None, ..., torch.float32,
        torch.device("cpu"), torch.strided, torch.Size([1, 2]), range(3), slice(1, x, None), torch.contiguous_format,
    )  # fmt: skip


@traced
def bytes_as_a_constant(x):
    return (x, b"bytes")


@traced
def functions_of_math(x):
    return math.floor(x.shape[0] / 2) + math.pow(x.shape[1], 2) + math.log(x.size(1), 2)


@traced
def comparisons_and_operators(x, y):
    compared = x < y, 1 < x, x == None, x != y, x is y  # noqa: E711, SIM300
    return *compared, ~x, -x, +x, abs(x), x // 2, 2 // x, 2**x, 2 @ x, x << 1, 1 >> x


@traced
def divmod_of_a_proxy(x):
    return divmod(x, 2)


@traced
def round_of_a_proxy(x):
    return round(x, 2)


@traced
def a_key_of_a_dict(x):
    return {x: 1}[x] + x


@traced
def an_unhashable_result(x):
    return {x}


@traced
def a_formatted_string(x):
    return x + len(f"{x} {x.shape}")


@traced
def stars(x):
    return x.view(*x.shape)


@traced
def methods_with_keywords(x):
    y = x.reshape((x.size(0), -1)).to(dtype=torch.float16, device=x.device)
    return x.view(x.shape), x.size()[0:1], y, x.type_as(x).new_zeros(x.shape[0], 3)


@program
def factories():
    def program(x):
        sizes = torch.zeros(x.shape[0]), torch.full((x.shape[0], 2), 1.0), torch.arange(x.shape[0])
        return torch.zeros(2), *sizes, torch.tensor([1, 2]), torch.ones_like(x)

    return fx.symbolic_trace(program).graph


class NoGradient(nn.Module):
    @torch.no_grad()
    def forward(self, x):
        return x * 2


@program
def a_decorated_forward():
    return fx.symbolic_trace(NoGradient())


@traced
def contexts(x):
    with torch.no_grad():
        y = x * 2
    with torch.set_grad_enabled(False):
        z = y + 1
    return y + z


@traced
def functions_of_networks(x, w, b):
    return (
        F.conv2d(x, w, b, stride=2), F.linear(x, w), F.batch_norm(x, w, b, training=True), F.embedding(x, w),
        F.cross_entropy(x, w, reduction="sum"), F.max_pool2d(x, 2), F.adaptive_avg_pool2d(x, (1, 1)), F.pad(x, (1, 1)),
        F.interpolate(x, scale_factor=2.0), F.softmax(x, -1), F.scaled_dot_product_attention(x, w, b, is_causal=True),
        F.one_hot(x, 3), F.layer_norm(x, (3,)), F.mse_loss(x, w), F.gelu(x), F.softplus(x), F.unfold(x, 3),
    )  # fmt: skip


@traced
def functions_of_tensors(x, y):
    return (
        torch.einsum("ij,jk->ik", x, y), torch.where(x > 0, x, y), torch.cat((x, y), 1), torch.max(x, dim=1)[0],
        torch.topk(x, 2).values, torch.sort(x, descending=True)[1], torch.meshgrid(x, y, indexing="ij"),
        torch.block_diag(x, y), torch.tensordot(x, y, dims=2), torch.cdist(x, y), torch.clamp(x, 0),
        torch.ops.aten.add(x, y), torch.ops.aten.add.Tensor(x, y),
    )  # fmt: skip


@traced
def attributes(x):
    return x.T, x.mT, x.grad, x.data, x.dtype, x.device, x.ndim, x.is_cuda, x.requires_grad, x.shape[-1], x.a.b.c(1).d


@traced
def a_comparison_of_dtypes(x):
    return x if x.dtype == torch.float32 else x + 1


@traced
def annotations(
    x: torch.Tensor,
    y: Optional[list[torch.Tensor]] = None,  # noqa: UP045
    z: "dict[str, int]" = {},  # noqa: B006
    w: int | None = 3,
    t: tuple[int, ...] = (),
    a: Any = None,
) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    return x, {"a": x}


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.dropout, self.lstm = nn.Linear(3, 3), nn.Dropout(), nn.LSTM(3, 3)

    def forward(self, x):
        y, (h, _) = self.lstm(input=x, hx=None)
        return self.dropout(self.linear(input=y)), h


@program
def modules_with_keywords():
    return fx.symbolic_trace(Recurrent())


@traced
def a_call_of_an_argument(f, x):
    return f(x, 1, k=2)


@traced
def no_result(x):
    x.relu_()


@program
def a_function_without_parameters():
    return fx.symbolic_trace(lambda: torch.ones(3))


class KnownLengths(fx.Tracer):
    def iter(self, obj):
        return iter([obj[i] for i in range(2)])

    def to_bool(self, obj):
        return True


@program
def a_tracer_that_knows_lengths():
    return KnownLengths().trace(lambda x: [operator.neg(item) for item in x] if x else x)


@program
def dead_code():
    def program(x):
        y = x + 1  # noqa: F841
        x.add_(1)
        torch.relu_(x)
        z = F.dropout(x, training=True)  # noqa: F841
        return x

    module = fx.symbolic_trace(program)
    module.graph.eliminate_dead_code()
    module.recompile()
    return module


@program
def a_structure_as_an_argument():
    return fx.symbolic_trace(lambda x: x[0] + x[1]["k"], {"x": (fx.PH, {"k": fx.PH})})


@program
def a_known_number():
    return fx.symbolic_trace(lambda x, n: x.view(n, -1), {"n": 3})
