"""Recurrent networks and cells against torch's, drawn over their options.

Mirrors: test/nn/test_packed_sequence.py, test/test_nn.py (RNN)
Leaves out: cuDNN.
"""

import copy
import pickle
import random
import warnings
from types import ModuleType
from typing import Any

import pytest

import reftorch
from tests.answers.watched import asked
from tests.nn.utils.both import compare, gradients, tried

KINDS = ("RNN", "LSTM", "GRU")


def drawn(lib: Any, seed: int) -> Any:
    """A network and a call: padded, unbatched or packed, with or without states; some draws are wrong on purpose."""
    rng = random.Random(seed)
    lib.manual_seed(seed)
    kind = rng.choice(KINDS)
    options: dict[str, Any] = {"num_layers": rng.choice((1, 1, 2, 3)), "bias": rng.random() < 0.7}
    options |= {"batch_first": rng.random() < 0.5, "bidirectional": rng.random() < 0.5, "dtype": lib.float64}
    options["dropout"] = rng.choice((0.0, 0.0, 0.4, 1.0)) if options["num_layers"] > 1 else 0.0
    projection = rng.choice((0, 0, 2)) if kind == "LSTM" else 0
    if kind == "LSTM":
        options["proj_size"] = projection
    if kind == "RNN":
        options["nonlinearity"] = rng.choice(("tanh", "relu"))
    module = getattr(lib.nn, kind)(2, 3, **options)
    form, batch, steps = rng.choice(("padded", "unbatched", "packed")), rng.randint(1, 3), rng.randint(1, 4)

    def made(*shape: int) -> Any:
        return lib.randn(shape, dtype=lib.float64).requires_grad_(True)

    features = 2 if rng.random() < 0.9 else 3
    slices = options["num_layers"] * (2 if options["bidirectional"] else 1)
    input: Any
    if form == "packed":
        leaves = [made(rng.randint(1, steps), features) for _ in range(batch)]
        input = lib.nn.utils.rnn.pack_sequence(leaves, enforce_sorted=False)
    else:
        shape = (batch, steps) if options["batch_first"] else (steps, batch)
        leaves = [made(steps, features) if form == "unbatched" else made(*shape, features)]
        input = leaves[0]
    hx = None
    if rng.random() < 0.6:
        middle = () if form == "unbatched" else (batch if rng.random() < 0.9 else batch + 1,)
        states = [made(slices, *middle, projection or 3), made(slices, *middle, 3)][: 2 if kind == "LSTM" else 1]
        leaves += states
        hx = tuple(states) if kind == "LSTM" else states[0]
    found: list[Any] = [repr(module), module.state_dict(), [list(map(str, names)) for names in module._all_weights]]
    output, hidden = module(input, hx)
    data = output.data if form == "packed" else output
    leaves += module.parameters()
    found += [list(output) if form == "packed" else output, hidden, *gradients(lib, data, leaves)]
    for again in (copy.deepcopy(module), pickle.loads(pickle.dumps(module.eval()))):
        found += [repr(again), again.eval()(input, hx)[1]]
    return found


@pytest.mark.parametrize("seed", range(24))
def test_networks_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    compare(lambda lib: tried(lambda: drawn(lib, seed)), real_torch)


def cells(lib: Any, seed: int) -> Any:
    rng = random.Random(seed)
    lib.manual_seed(seed)
    kind = rng.choice(KINDS)
    options: dict[str, Any] = {"bias": rng.random() < 0.6, "dtype": lib.float64}
    if kind == "RNN":
        options["nonlinearity"] = rng.choice(("tanh", "relu", "other"))
    module = getattr(lib.nn, kind + "Cell")(2, 3, **options)
    batch = rng.choice(((), (1,), (2,), (2, 1)))
    leaves = [lib.randn(*batch, rng.choice((2, 2, 2, 4)), dtype=lib.float64).requires_grad_(True)]
    hx = None
    if rng.random() < 0.6:
        count = 2 if kind == "LSTM" else 1
        of_hidden = batch if rng.random() < 0.8 else (3,)
        states = [lib.randn(*of_hidden, 3, dtype=lib.float64).requires_grad_(True) for _ in range(count)]
        leaves += states
        hx = tuple(states) if kind == "LSTM" else states[0]
    found: list[Any] = [repr(module), module.state_dict()]
    result = module(leaves[0], hx)
    output = sum(result) if kind == "LSTM" else result
    return [*found, result, *gradients(lib, output, [*leaves, *module.parameters()])]


@pytest.mark.parametrize("seed", range(12))
def test_cells_are_those_of_torch(real_torch: ModuleType, seed: int) -> None:
    compare(lambda lib: tried(lambda: cells(lib, seed)), real_torch)


def errors(lib: Any) -> list[Any]:
    nn, double = lib.nn, lib.ones(2, 1, 3, dtype=lib.float64)
    net = nn.LSTM(3, 4)
    calls = (
        lambda: nn.LSTM(3, 4, dropout=1.5),
        lambda: nn.LSTM(3, 4, dropout=True),
        lambda: nn.LSTM(3, 0),
        lambda: nn.LSTM(0, 3),
        lambda: nn.LSTM(3.0, 4),
        lambda: nn.LSTM(3, 4.0),
        lambda: nn.LSTM(3, 4, num_layers=0),
        lambda: nn.LSTM(3, 4, bias=1),
        lambda: nn.LSTM(3, 4, batch_first=1),
        lambda: nn.LSTM(3, 4, proj_size=-1),
        lambda: nn.LSTM(3, 4, proj_size=4),
        lambda: nn.GRU(3, 4, proj_size=1),
        lambda: nn.RNN(3, 4, proj_size=1),
        lambda: nn.RNN(3, 4, 1, "gelu"),
        lambda: nn.RNNBase("other", 3, 4),
        lambda: net(double),
        lambda: net(lib.ones(3)),
        lambda: nn.GRU(3, 4)(lib.ones(3)),
        lambda: nn.RNN(3, 4)(lib.ones(3)),
        lambda: net(lib.ones(0, 1, 3)),
        lambda: nn.GRU(3, 4, bidirectional=True)(lib.ones(0, 1, 3)),
        lambda: net(lib.ones(2, 1, 3), (lib.ones(1, 1, 4), lib.ones(1, 4))),
        lambda: net(lib.ones(2, 3), (lib.ones(1, 1, 4), lib.ones(1, 4))),
        lambda: net(lib.ones(2, 1, 3), (lib.ones(1, 1, 4), lib.ones(1, 2, 4))),
        lambda: nn.GRU(3, 4)(lib.ones(2, 1, 3), lib.ones(1, 4)),
        lambda: nn.GRU(3, 4)(lib.ones(2, 3), lib.ones(1, 1, 4)),
        lambda: nn.GRU(3, 4)(lib.ones(2, 1, 3), lib.ones(2, 1, 4)),
        lambda: lib.lstm(lib.ones(2, 1, 3), [double], net._flat_weights, True, 1, 0.0, False, False, False),
        lambda: lib.gru(lib.ones(2, 1, 3), lib.ones(1, 1, 4), net._flat_weights[:3], True, 1, 0.0, False, False, False),
    )
    return [tried(call) for call in calls]


def test_errors_are_those_of_torch(real_torch: ModuleType) -> None:
    compare(errors, real_torch)


def test_dropout_of_one_layer_warns(real_torch: ModuleType) -> None:
    def warned(lib: Any) -> list[Any]:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            lib.nn.GRU(2, 3, dropout=0.5)
        return [(str(w.message), w.category) for w in caught]

    assert len(warned(reftorch)) == 1
    assert warned(reftorch) == asked(real_torch, warned)


def test_the_flat_list_follows_the_parameters(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        net, x = lib.nn.LSTM(2, 3), lib.ones(2, 1, 2, dtype=lib.float64)
        found = [net.double()(x)[0]]
        net.weight_ih_l0 = lib.nn.Parameter(lib.ones(12, 2, dtype=lib.float64))
        found.append(net(x)[0])
        others = {name: value * 2 for name, value in net.state_dict().items()}
        found += [lib.func.functional_call(net, others, (x,))[0], net(x)[0]]
        lib.nn.utils.parametrizations.weight_norm(net, "weight_hh_l0")
        return [*found, net(x)[0], net.load_state_dict(net.state_dict())]

    compare(program, real_torch)


@pytest.mark.parametrize(
    "options",
    [{}, {"num_layers": 2, "bidirectional": True}, {"bias": False}, {"num_layers": 2, "batch_first": True}],
    ids=str,
)
def test_an_lstm_of_float32_equals_the_other_kernel_of_torch(real_torch: ModuleType, options: dict) -> None:
    def program(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        net, x = lib.nn.LSTM(5, 3, **options), lib.randn(3, 2, 5)
        output, (h, c) = net(x)
        first = lib.autograd.grad(output.sin().sum() + c.sum(), [*net.parameters()], create_graph=True)
        second = lib.autograd.grad(sum(g.square().sum() for g in first), [*net.parameters()])
        return [output, h, c, first, second, names_of_graph(output.grad_fn), names_of_graph(c.grad_fn)]

    compare(program, real_torch)


def names_of_graph(node: Any, depth: int = 9) -> Any:
    if node is None or depth == 0:
        return None
    return [type(node).__name__, [names_of_graph(parent, depth - 1) for parent, _ in node.next_functions]]


@pytest.mark.parametrize("kind", KINDS)
def test_the_graph_is_that_of_torch(real_torch: ModuleType, kind: str) -> None:
    def program(lib: Any) -> list[Any]:
        net = getattr(lib.nn, kind)(2, 3, batch_first=True, dtype=lib.float64)  # float32 has another graph: see above
        output, hidden = net(lib.ones(1, 2, 2, dtype=lib.float64))
        hidden = hidden[1] if kind == "LSTM" else hidden
        return [names_of_graph(output.grad_fn), names_of_graph(hidden.grad_fn)]

    compare(program, real_torch)


def test_a_tagger_of_packed_sequences_learns_as_torch_does(real_torch: ModuleType) -> None:
    def program(lib: Any) -> list[Any]:
        lib.manual_seed(0)
        words, net = lib.nn.Embedding(6, 4, dtype=lib.float64), lib.nn.LSTM(4, 3, bidirectional=True, dtype=lib.float64)
        scores = lib.nn.Linear(6, 2, dtype=lib.float64)
        optimizer = lib.optim.Adam([*words.parameters(), *net.parameters(), *scores.parameters()], lr=0.05)
        texts = [lib.tensor(text) for text in ([1, 2, 3, 4], [5, 1], [2, 2, 5])]
        tags = lib.nn.utils.rnn.pack_sequence([text % 2 for text in texts], enforce_sorted=False).data
        losses = []
        for _ in range(10):
            packed = lib.nn.utils.rnn.pack_sequence([words(text) for text in texts], enforce_sorted=False)
            loss = lib.nn.functional.cross_entropy(scores(net(packed)[0].data), tags)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        return losses

    compare(program, real_torch)
