"""Modules as functions of their parameters, against torch.

Mirrors: test/test_stateless.py, test/functorch/test_eager_transforms.py (TestExamplesCorrectness)
"""

import pytest

import reftorch as torch
from reftorch.func import functional_call, grad, stack_module_state, vmap
from tests.answers.watched import asked


def network(lib):
    """The same parameters in both libraries."""
    model = lib.nn.Sequential(lib.nn.Linear(3, 4), lib.nn.Tanh(), lib.nn.Linear(4, 2)).double()
    count = 0
    with lib.no_grad():
        for parameter in model.parameters():
            values = lib.arange(count, count + parameter.numel(), dtype=lib.float64)
            parameter.copy_((values * 0.7).sin().view(parameter.shape))
            count += parameter.numel()
    return model


def data(lib):
    inputs = lib.arange(15, dtype=lib.float64).view(5, 3).cos()
    return inputs, lib.tensor([0, 1, 1, 0, 1])


def per_sample_gradients(lib):
    model, (inputs, targets) = network(lib), data(lib)
    parameters = {name: p.detach() for name, p in model.named_parameters()}

    def loss(parameters, x, y):
        logits = lib.func.functional_call(model, parameters, (x.unsqueeze(0),))
        return lib.nn.functional.cross_entropy(logits, y.unsqueeze(0))

    return lib.func.vmap(lib.func.grad(loss), in_dims=(None, 0, 0))(parameters, inputs, targets)


def one_by_one(lib):
    model, (inputs, targets) = network(lib), data(lib)
    rows = []
    for x, y in zip(inputs, targets, strict=True):
        model.zero_grad()
        lib.nn.functional.cross_entropy(model(x.unsqueeze(0)), y.unsqueeze(0)).backward()
        rows.append({name: p.grad.clone() for name, p in model.named_parameters()})
    return {name: lib.stack([row[name] for row in rows]) for name in rows[0]}


def assert_same(ours, theirs):
    assert ours.keys() == theirs.keys()
    for name in ours:
        assert tuple(ours[name].shape) == tuple(theirs[name].shape)
        assert ours[name].reshape(-1).tolist() == pytest.approx(theirs[name].reshape(-1).tolist(), rel=1e-9, abs=1e-12)


def test_per_sample_gradients():
    assert_same(per_sample_gradients(torch), one_by_one(torch))


def test_per_sample_gradients_as_torch_has_them(real_torch):
    assert_same(per_sample_gradients(torch), per_sample_gradients(real_torch))


def test_an_ensemble(real_torch):
    def outputs(lib):
        models = [network(lib) for _ in range(3)]
        with lib.no_grad():
            for i, model in enumerate(models):
                model[0].weight.add_(i)
        parameters, buffers = lib.func.stack_module_state(models)
        base = network(lib)

        def run(parameters, buffers, x):
            return lib.func.functional_call(base, (parameters, buffers), (x,))

        return {"y": lib.func.vmap(run, in_dims=(0, 0, None))(parameters, buffers, data(lib)[0])}

    assert_same(outputs(torch), outputs(real_torch))


def test_the_module_is_as_before():
    model = network(torch)
    before = dict(model.named_parameters())
    functional_call(model, {"0.bias": torch.ones(4, dtype=torch.float64)}, data(torch)[0])
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        functional_call(model, {"0.bias": torch.ones(4)}, torch.ones(2, 2, dtype=torch.float64))
    after = dict(model.named_parameters())
    assert all(after[name] is before[name] for name in before)


def test_tied_parameters():
    layer = torch.nn.Linear(2, 2, bias=False)
    model = torch.nn.Sequential(layer, layer)
    eye = torch.eye(2)
    x = torch.tensor([1.0, 2.0])
    assert functional_call(model, {"0.weight": 2 * eye}, x).tolist() == [4, 8]
    with pytest.raises(ValueError, match="functional_call got multiple values for keys"):
        functional_call(model, {"0.weight": eye, "1.weight": 2 * eye}, x)
    untied = torch.nn.Sequential(torch.nn.Linear(2, 2, bias=False), torch.nn.Linear(2, 2, bias=False))
    assert functional_call(untied, {"0.weight": eye, "1.weight": 3 * eye}, x, tie_weights=False).tolist() == [3, 6]


class Counting:
    """The same module in both libraries: a parameter, a buffer it counts in, and a plain attribute."""

    def __new__(cls, lib):
        class Module(lib.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = lib.nn.Linear(1, 1)
                self.register_buffer("count", lib.zeros(1))
                self.rate = lib.tensor([2.0])
                self.name = "none"

            def forward(self, x):
                self.count = self.count + 1
                out = x * self.rate + self.count
                return out if self.inner.bias is None else out + self.inner.bias.detach() * 0

        return Module()


GIVEN = {
    "an attribute": lambda lib: {"rate": lib.tensor([5.0])},
    "a buffer that is assigned to": lambda lib: {"count": lib.tensor([10.0])},
    "None": lambda lib: {"inner.bias": None, "rate": lib.tensor([1.0])},
    "a name that the module has not": lambda lib: {"inner.extra": lib.ones(1), "more": lib.ones(1)},
    "no tensor": lambda lib: {"rate": 3.0},
    "in place of no tensor": lambda lib: {"count": lib.tensor([10.0]), "name": lib.ones(1)},
    "of no module": lambda lib: {"outer.bias": lib.ones(1)},
    "of a module below that is not there": lambda lib: {"inner.deeper.bias": lib.ones(1)},
}


@pytest.mark.parametrize("given", GIVEN.values(), ids=GIVEN)
@pytest.mark.parametrize("strict", [False, True])
def test_what_may_be_given(given, strict, real_torch):
    def outcome(lib):
        module, values = Counting(lib), given(lib)
        state, rate = dict(module.named_parameters()), module.rate
        try:
            result = lib.func.functional_call(module, values, lib.tensor([3.0]), strict=strict).tolist()
        except (RuntimeError, TypeError, AttributeError) as raised:
            result = type(raised), str(raised)
        assert all(module.get_parameter(name) is state[name] for name in state)
        assert module.rate is rate
        assert not hasattr(module, "more")
        return result, {name: v.tolist() if isinstance(v, lib.Tensor) else v for name, v in values.items()}

    assert outcome(torch) == asked(real_torch, outcome)


def test_what_the_module_assigns_is_in_the_dict_afterwards():
    module, given = Counting(torch), {"count": torch.tensor([10.0])}
    former = given["count"]
    functional_call(module, given, torch.ones(1))
    assert given["count"].tolist() == [11]
    assert former.tolist() == [10]
    assert module.count.tolist() == [0]


def test_a_module_in_itself():
    module = Counting(torch)
    module.inner.outer = module
    given = {"inner.outer.rate": torch.tensor([4.0])}
    assert functional_call(module, given, torch.ones(1), tie_weights=False).tolist() == [5]


def test_names():
    model = network(torch)
    with pytest.raises(RuntimeError, match=r"Unexpected key\(s\): 'none'.\s+Missing key\(s\): '0.bias', '0.weight'"):
        functional_call(model, {"none": torch.ones(1)}, data(torch)[0], strict=True)
    with pytest.raises(ValueError, match="appeared in multiple dictionaries"):
        functional_call(model, [{"0.bias": torch.ones(4)}, {"0.bias": torch.ones(4)}], data(torch)[0])
    with pytest.raises(ValueError, match="to be a dict, or a list/tuple of dicts"):
        functional_call(model, 5, data(torch)[0])


def test_models_that_do_not_stack():
    with pytest.raises(RuntimeError, match="Expected at least one model"):
        stack_module_state([])
    with pytest.raises(RuntimeError, match="of the same class"):
        stack_module_state([torch.nn.Linear(1, 1), torch.nn.Tanh()])
    with pytest.raises(RuntimeError, match="the same training/eval mode"):
        stack_module_state([torch.nn.Linear(1, 1), torch.nn.Linear(1, 1).eval()])
    frozen = torch.nn.Linear(1, 1)
    frozen.bias.requires_grad_(False)
    with pytest.raises(RuntimeError, match=r"Expected bias from each model to have the same \.requires_grad"):
        stack_module_state([torch.nn.Linear(1, 1), frozen])


def test_a_batch_of_gradients_is_a_batch():
    model = network(torch)
    parameters = {name: p.detach() for name, p in model.named_parameters()}
    calls = []

    def loss(parameters, x):
        calls.append(tuple(x.shape))
        return functional_call(model, parameters, x).square().sum()

    vmap(grad(loss), in_dims=(None, 0))(parameters, data(torch)[0])
    assert calls == [(3,)]
