"""Programs that use proxies in every way, for tests of both libraries.

Mirrors: test/test_fx.py
"""

import copy
import dataclasses
import enum
import operator

import reftorch as torch

fx = torch.fx
PROGRAMS = {}


def program(function):
    """Register a function that is traced, or that returns texts if it takes no argument."""
    PROGRAMS[function.__name__] = function
    return function


class Pair(metaclass=fx.ProxyableClassMeta):
    def __init__(self, left, right):
        self.left, self.right = left, right

    def add(self, other):
        return Pair(self.left + other.left, self.right + other.right)


class Color(enum.Enum):
    RED = 1


@dataclasses.dataclass
class Options:
    scale: float
    values: list


@fx.wrap
def leaf(*args, **kwargs):
    return args[0]


@program
def operators(x):
    results = []
    for name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "pow", "lshift", "rshift", "and_", "or_", "xor"):
        function = getattr(operator, name)
        results += [function(x, 2), function(2, x), function(x, x)]
    for name in ("eq", "ne", "lt", "gt", "le", "ge", "matmul"):
        results += [getattr(operator, name)(x, x)]
    return [*results, -x, +x, ~x, abs(x), x[0], x[..., 1:2], 2 @ x]


@program
def attributes(x):
    shape = x.shape
    return x.T.sum(), shape[0], shape, x.a.b.c(), x(1, k=x), getattr(x, "name"), getattr(x, "other", None)  # noqa: B009


@program
def unpacking(x):
    a, (b, c) = x.split(2)
    return a, b, c


@program
def structures(x):
    return leaf(x, [x, (x, {"k": x, 2: None})], Color.RED, slice(x, None, 2), ..., range(3), options=Options(2.0, [x]))


@program
def classes(x):
    return Pair(x, x + 1).add(Pair(x, x))


@program
def a_constant_of_a_class(x):
    return leaf(x, CONSTANT)


CONSTANT = Pair(1, 2)


@program
def functions(x):
    y = torch.add(x, 1, alpha=2)
    return torch.stack([y, torch.ones(2)]), torch.ops.aten.relu.default(x), torch.ops.aten.mul(x, y)


@program
def several_tracers():
    a, b = (fx.Proxy(fx.Graph().placeholder(name)) for name in "ab")
    try:
        torch.add(a, b)
    except RuntimeError as error:
        return [str(error).partition("[")[0]]


@program
def copies():
    proxy = fx.Proxy(fx.Graph().placeholder("x"))
    return [repr(copy.copy(proxy)), repr(proxy), type(proxy.y).__name__]


@program
def a_tracer_that_knows_more():
    class Knows(fx.Tracer):
        def to_bool(self, obj):
            return True

        def iter(self, obj):
            return iter([obj[0], obj[1]])

        def keys(self, obj):
            return ["a"]

    def traced(x):
        if x.sum() > 0:
            x = x + 1
        return [y * 2 for y in x], leaf(**x), x and 1

    return [str(Knows().trace(traced))]


@program
def own_arguments():
    class Own:
        def __fx_create_arg__(self, tracer):
            return tracer.create_node("call_function", Own, (), {}, name="own")

    return [str(fx.Tracer().trace(lambda x: leaf(x, Own())))]
