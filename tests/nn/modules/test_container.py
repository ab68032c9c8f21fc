"""Modules that hold modules or parameters.

Mirrors: test/nn/test_module_hooks.py, test/test_nn.py, their tests of containers
"""

from collections import OrderedDict
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import nn

A, B, C, D = (nn.ReLU(), nn.Tanh(), nn.Sigmoid(), nn.Identity())


@pytest.mark.parametrize("kind", [lambda *modules: nn.Sequential(*modules), lambda *modules: nn.ModuleList(modules)])
def test_sequences_are_like_lists(kind: Any) -> None:
    seq, plain = kind(A, B, C), [A, B, C]

    def check() -> None:
        assert list(seq) == plain
        assert list(seq._modules) == [str(i) for i in range(len(plain))]
        assert len(seq) == len(plain)

    check()
    assert (seq[0], seq[-1], seq[True]) == (A, C, B)
    assert list(seq[1:]) == [B, C]
    assert type(seq[1:]) is type(seq)
    seq[-1] = plain[-1] = D
    check()
    assert seq.append(A) is seq
    plain.append(A)
    check()
    assert seq.extend([C, B]) is seq
    plain.extend([C, B])
    check()
    for index in (0, 2, -1, len(plain)):
        assert seq.insert(index, D) is (seq if isinstance(seq, nn.Sequential) else None)
        plain.insert(index, D)
        check()
    del seq[1], plain[1]
    check()
    del seq[1:3], plain[1:3]
    check()
    assert seq.pop(-1) is plain.pop(-1)
    check()
    seq += kind(A)
    plain += [A]
    check()


def test_indices_out_of_range() -> None:
    for seq in (nn.Sequential(A), nn.ModuleList([A])):
        for index in (1, -2):
            with pytest.raises(IndexError, match=f"index {index} is out of range"):
                seq[index]
        with pytest.raises(IndexError, match="Index out of range: 3"):
            seq.insert(3, A)
        with pytest.raises(AssertionError, match="module should be of type"):
            seq.insert(0, "relu")
        with pytest.raises(TypeError):
            seq.append("relu")


def test_sequential_names_and_runs() -> None:
    net = nn.Sequential(OrderedDict([("first", nn.Linear(2, 3)), ("act", nn.ReLU())]))
    x = reftorch.tensor([[1.0, -1.0]])
    assert net(x).tolist() == net.act(net.first(x)).tolist()
    assert list(net[:1]._modules) == ["first"]
    assert nn.Sequential()(x) is x
    net[0] = A
    assert net.first is A
    with pytest.raises(TypeError):
        nn.Sequential([A, B])


def test_sequential_arithmetic() -> None:
    one, two = nn.Sequential(A, B), nn.Sequential(C)
    assert list(one + two) == [A, B, C]
    assert list(one * 2) == list(2 * one) == [A, B, A, B]
    one += two
    one *= 2
    assert list(one) == [A, B, C, A, B, C]
    with pytest.raises(ValueError, match="supports only objects of Sequential class, but <class 'list'> is given"):
        one.__add__([A])
    with pytest.raises(ValueError, match="Non-positive multiplication factor 0"):
        one * 0
    with pytest.raises(TypeError, match="unsupported operand type"):
        one * 1.5


def test_module_list_arithmetic_and_parameters() -> None:
    layers = nn.ModuleList(nn.Linear(1, 1) for _ in range(2))
    assert len(layers + nn.ModuleList([A])) == 3
    assert [name for name, _ in layers.named_parameters()] == ["0.weight", "0.bias", "1.weight", "1.bias"]
    with pytest.raises(TypeError, match=r"ModuleList\.extend should be called with an iterable, but got int"):
        layers.extend(3)
    with pytest.raises(NotImplementedError, match=r'Module \[ModuleList\] is missing the required "forward" function'):
        layers(reftorch.ones(1))


def test_module_dict() -> None:
    acts = nn.ModuleDict([("a", A)])
    acts["b"] = B
    acts.update({"c": C, "a": D})
    assert list(acts) == list(acts.keys()) == ["a", "b", "c"]
    assert list(acts.values()) == [D, B, C]
    assert dict(acts.items()) == {"a": D, "b": B, "c": C}
    assert "a" in acts
    assert acts.pop("a") is D
    del acts["b"]
    assert len(acts) == 1
    acts.update(nn.ModuleDict({"x": A}))
    acts.clear()
    assert len(acts) == 0
    assert not hasattr(acts, "x")


@pytest.mark.parametrize(
    ("modules", "error", "text"),
    [
        (3, TypeError, "should be called with an iterable of key/value pairs, but got int"),
        ([3], TypeError, "sequence element #0 should be Iterable; isint"),
        ([("a", A), ("b",)], ValueError, "sequence element #1 has length 1; 2 is required"),
        ({"a": 3}, TypeError, "int is not a Module subclass"),
        ({"keys": A}, KeyError, "attribute 'keys' already exists"),
    ],
)
def test_errors_of_module_dict(modules: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        nn.ModuleDict(modules)


def test_parameter_list() -> None:
    weights = nn.ParameterList([reftorch.zeros(2), "text"])
    assert type(weights[0]) is nn.Parameter
    assert weights[-1] == "text"
    weights[1] = reftorch.ones(1)
    weights += [nn.Parameter(reftorch.zeros(3))]
    assert [tuple(p.shape) for p in weights.parameters()] == [(2,), (1,), (3,)]
    assert list(weights[1:]) == [weights[1], weights[2]]
    assert len(weights) == 3
    with pytest.raises(IndexError, match="index 3 is out of range"):
        weights[3]
    with pytest.raises(TypeError, match="should be called with an iterable, but got Tensor"):
        weights.extend(reftorch.zeros(2))
    with pytest.raises(RuntimeError, match="should not be called"):
        weights(1)


def test_repr_is_that_of_torch(real_torch: ModuleType) -> None:
    def build(lib: ModuleType) -> list[str]:
        n = lib.nn
        linear = n.Linear(2, 2)
        blocks = [linear, n.Linear(2, 2), n.ReLU(), n.Sequential(n.Linear(1, 1)), n.Sequential(n.Linear(1, 1))]
        return [
            repr(n.Sequential()),
            repr(n.Sequential(n.ReLU(), n.Sequential(linear))),
            repr(n.ModuleList()),
            repr(n.ModuleList(blocks)),
            repr(n.ModuleDict({"a": n.ReLU(), "b": n.ModuleList([n.ReLU()] * 3)})),
            repr(n.ParameterList([lib.ones(2), n.Parameter(lib.ones(3, 1)), "x", n.Parameter(lib.tensor(1.0))])),
        ]

    assert build(reftorch) == build(real_torch)


def of_parameters(lib: ModuleType) -> list[Any]:
    """What a ParameterDict answers."""
    zero = lib.zeros(2)
    weights = lib.nn.ParameterDict({"b": zero, "a": lib.nn.Parameter(lib.ones(1, 3)), "c": "text"})
    seen: list[Any] = [list(weights), list(weights.keys()), len(weights), "a" in weights, "z" in weights]
    seen += [repr(weights).replace("reftorch", "torch"), [name for name, _ in weights.named_parameters()]]
    seen += [type(weights["b"]).__name__, weights.get("z", 3), weights.setdefault("c"), weights.setdefault("d", 4)]
    seen += [weights.pop("c"), weights.popitem(), list(reversed(weights)), list(weights.state_dict())]
    merged = weights | lib.nn.ParameterDict([("e", zero), ("a", zero)])
    seen += [list(merged), merged["a"].tolist(), list(merged.copy()), [v is not None for v in merged.values()]]
    merged |= lib.nn.ParameterDict(OrderedDict(z=zero, y=zero))
    seen += [list(merged), dict(merged.fromkeys(["p", "q"], 5).items())]
    del merged["e"]
    merged.clear()
    seen += [len(merged), repr(merged)]
    for wrong in (
        lambda: weights["z"],
        lambda: weights.__setitem__(3, zero),
        lambda: weights.update(3),
        lambda: weights.update([3]),
        lambda: weights.update([(1, 2, 3)]),
        lambda: weights(zero),
        lambda: weights.pop("z"),
        lambda: merged.popitem(),
        lambda: weights.update({"a": "text"}),
    ):
        try:
            wrong()
            seen.append("no error")
        except Exception as error:
            seen.append((type(error).__name__, str(error).replace("reftorch", "torch")))
    return seen


def test_parameter_dict_is_that_of_torch(real_torch: ModuleType) -> None:
    for ours, theirs in zip(of_parameters(reftorch), of_parameters(real_torch), strict=True):
        assert ours == theirs


def test_container_is_deprecated(real_torch: ModuleType) -> None:
    for lib in (reftorch, real_torch):
        with pytest.warns(FutureWarning, match="`nn.Container` is deprecated"):
            assert list(lib.nn.Container(a=lib.nn.ReLU())._modules) == ["a"]
