"""The exercises of chapter 07, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 930 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 07: nn.Module
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 07.1")` in a cell of its own. Done? `course("check 07")` runs the notebook, as
# last saved, from top to bottom.

# %%
import warnings
from collections import OrderedDict

import reftorch as torch
from course._tools import check, course, rebuild, registries, show_source, stops_in_torch, write_for_torch
from reftorch import nn
from reftorch.utils.hooks import RemovableHandle

# %% [markdown] exercise="07.1" role="task" kind="read" title="who finds what"
# ## 07.1 Read: who finds what
#
# ★☆☆, 10 minutes. If a checkpoint lacks a tensor, you may notice it months later. So learn to see at a glance what a
# class saves and what it trains. This class has attributes of many kinds:
#
# ```python
# class Zoo(nn.Module):
#     def __init__(self):
#         super().__init__()
#         self.gain = nn.Parameter(torch.ones(2))
#         self.half = self.gain * 0.5
#         self.heads = [nn.Linear(2, 2)]
#         self.body = nn.Sequential(nn.Linear(2, 2, bias=False))
#         self.alias = self.body[0].weight
#         self.register_buffer("mask", torch.ones(2), persistent=False)
#         self.mask = torch.zeros(2)
#         self.register_parameter("shift", None)
#         self.table = nn.Buffer(torch.zeros(2))
#         self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)
# ```
#
# For each of the nine names below: which of `named_parameters()` (p), `named_buffers()` (b) and `state_dict()` (s) of
# a `Zoo` have the name? Answer with the letters in this order, as `"ps"`; with `""` where none has it.
#
# `gain`, `half`, `heads.0.weight`, `body.0.weight`, `alias`, `mask`, `shift`, `table`, `frozen`


# %% exercise="07.1" role="answer"
def who_finds_what() -> dict[str, str]:
    """For each name the letters of the walks that find it, as `{"gain": ..., "half": ..., ...}`."""
    # BEGIN SOLUTION
    return {
        "gain": "ps",
        "half": "",
        "heads.0.weight": "",
        "body.0.weight": "s",
        "alias": "ps",
        "mask": "b",
        "shift": "",
        "table": "bs",
        "frozen": "ps",
    }
    # END SOLUTION


# %% exercise="07.1" role="check"
class Zoo(nn.Module):
    def __init__(self):
        super().__init__()
        self.gain = nn.Parameter(torch.ones(2))
        self.half = self.gain * 0.5
        self.heads = [nn.Linear(2, 2)]
        self.body = nn.Sequential(nn.Linear(2, 2, bias=False))
        self.alias = self.body[0].weight
        self.register_buffer("mask", torch.ones(2), persistent=False)
        self.mask = torch.zeros(2)
        self.register_parameter("shift", None)
        self.table = nn.Buffer(torch.zeros(2))
        self.frozen = nn.Parameter(torch.ones(2), requires_grad=False)


with check("07.1", "who finds what") as c:
    zoo = Zoo()
    walks = {"p": dict(zoo.named_parameters()), "b": dict(zoo.named_buffers()), "s": zoo.state_dict()}
    nine = ("gain", "half", "heads.0.weight", "body.0.weight", "alias", "mask", "shift", "table", "frozen")
    truth = {name: "".join(letter for letter, there in walks.items() if name in there) for name in nine}
    c.answers("who finds each name", came=who_finds_what(), truth=truth, look="Ask `__setattr__` about each value.")

# %% [markdown] exercise="07.1" role="debrief"
# **In PyTorch** the answers are the same. A frozen parameter is a parameter: it is saved, and the optimizer gets it,
# but skips it as long as it has no gradient. If one parameter has two names, `named_parameters()` yields the name that
# the walk meets first. A module's own parameters come before those of its children, so the name is `alias`.

# %% [markdown] exercise="07.1" role="hint"
# Take each assignment to `__setattr__` in the lesson: is the value a `Parameter`, a `Module`, a `Buffer`, or is the
# name registered already? `alias` gets a parameter, so a registry of `Zoo` itself has it.

# %% [markdown] exercise="07.1" role="hint"
# `_named_members` has a `memo`, and `state_dict()` has none. All three leave out a name whose value is None.


# %% [markdown] exercise="07.2" role="task" kind="fix" title="a model of which half is missing"
# ## 07.2 Fix: a model of which half is missing
#
# ★☆☆, 20 minutes. The outputs of the class `BrokenMixer` are right. But training changes nothing, the checkpoint of a
# trained model is empty, and after `model.double()` the first call raises. Write `Mixer`, with the same arguments:
#
# - after the same `torch.manual_seed`, a new `Mixer` and a new `BrokenMixer` give equal outputs;
# - `named_parameters()` has the layers (`layers.0.weight`, `layers.0.bias`, and so on), the slope of the activation
#   (`acts.prelu.weight`) and `mix`, and nothing else. `mix` starts as `1 / depth` everywhere;
# - `mask` is saved and not trained. `last`, the mean of the latest output, is neither saved nor trained, and it is
#   computed without history;
# - `model.double()` converts all of it, before and after a call, and a call works.


# %% exercise="07.2" role="given"
class BrokenMixer(nn.Module):
    """Layers one after another; the result is a weighted sum of what comes out of each."""

    def __init__(self, width, depth):
        super().__init__()
        self.layers = [nn.Linear(width, width) for _ in range(depth)]
        self.acts = {"prelu": nn.PReLU()}
        self.mix = nn.Parameter(torch.ones(depth)) / depth
        self.mask = (torch.arange(width) % 2).float()
        self.last = torch.zeros(())

    def forward(self, x):
        total = 0
        for position, layer in enumerate(self.layers):
            x = self.acts["prelu"](layer(x))
            total = total + self.mix[position] * x * self.mask
        self.last = total.mean()
        return total


# %% exercise="07.2" role="answer"
class Mixer(nn.Module):
    def __init__(self, width, depth):
        super().__init__()
        # BEGIN SOLUTION
        self.layers = nn.ModuleList(nn.Linear(width, width) for _ in range(depth))
        self.acts = nn.ModuleDict({"prelu": nn.PReLU()})
        self.mix = nn.Parameter(torch.ones(depth) / depth)
        self.register_buffer("mask", (torch.arange(width) % 2).float())
        self.register_buffer("last", torch.zeros(()), persistent=False)
        # END SOLUTION

    def forward(self, x):
        # BEGIN SOLUTION
        total = 0
        for position, layer in enumerate(self.layers):
            x = self.acts["prelu"](layer(x))
            total = total + self.mix[position] * x * self.mask
        self.last = total.mean().detach()
        return total
        # END SOLUTION


# %% exercise="07.2" role="check"
def seeded(kind, *args):
    torch.manual_seed(7)
    return kind(*args)


with check("07.2", "a model of which half is missing") as c:
    ours, broken, x = seeded(Mixer, 4, 3), seeded(BrokenMixer, 4, 3), torch.linspace(-1, 1, 8).reshape(2, 4)
    c.close("the output, with one seed", came=ours(x), expected=broken(x))
    layers = [f"layers.{number}.{name}" for number in range(3) for name in ("weight", "bias")]
    trained = sorted([*layers, "acts.prelu.weight", "mix"])
    c.equal("the names of the parameters", came=sorted(name for name, _ in ours.named_parameters()), expected=trained)
    c.close("mix", came=ours.mix, expected=torch.full((3,), 1 / 3))
    c.equal("the keys of state_dict()", came=sorted(ours.state_dict()), expected=sorted([*trained, "mask"]))
    c.close("last, after a call", came=ours.last, expected=broken.last)
    c.equal("whether last has a history", came=ours.last.requires_grad, expected=False)
    ours(x).sum().backward()
    idle = [name for name, parameter in ours.named_parameters() if parameter.grad is None]
    c.equal("parameters without a gradient after backward", came=idle, expected=[])
    for case, model in (("double() after a call", ours), ("double() before a call", seeded(Mixer, 4, 3))):
        c.case(case)
        dtypes = {tensor.dtype for tensor in [*model.double().state_dict().values(), model.last]}
        c.equal(f"{case}: the dtypes of all tensors", came=dtypes, expected={torch.float64})
        c.close(f"{case}: the output", came=model(x.double()), expected=broken(x).double())

# %% [markdown] exercise="07.2" role="debrief"
# **In PyTorch** `nn.ModuleList`, `nn.ModuleDict`, `nn.ParameterList` and `nn.ParameterDict` exist for this purpose:
# they are modules whose registries you fill with the syntax of lists and dicts. A registered buffer stays a buffer:
# `self.last = ...` in `forward` replaces its value, because `__setattr__` finds the name in `_buffers`.

# %% [markdown] exercise="07.2" role="hint"
# `registries(BrokenMixer(4, 3), "what is registered")` draws what is missing. Five attributes, and each of them needs
# another line in `__init__`.

# %% [markdown] exercise="07.2" role="hint"
# `nn.ModuleList`, `nn.ModuleDict`, `nn.Parameter` of the quotient (and not the quotient of a parameter), and twice
# `register_buffer`, once with `persistent=False`. In `forward` one line changes: `last` needs `detach()`.


# %% [markdown] exercise="07.3" role="task" kind="build" title="the shapes of a model"
# ## 07.3 Build: the shapes of a model
#
# ★★☆, 25 minutes. A call raises *mat1 and mat2 shapes cannot be multiplied*. In which layer did it happen, and which
# shapes came before? Write `shapes_of(model, *args)`, which calls the model once and returns what came out of each
# module.
#
# - The result is a list of pairs, the name of a module and the shape of its output as a tuple of ints:
#   `[("0", (5, 3)), ("1", (5, 3)), ("", (5, 3))]`. The name is that of `named_modules()`, so the model itself is `""`.
# - The pairs are in the order in which the modules finish. A module that is called twice has two pairs.
# - A module whose output is not a tensor has no pair.
# - Afterwards the model has the hooks that it had before, no more and no fewer. This holds also if the model raises;
#   the error goes on to the caller.


# %% exercise="07.3" role="answer"
def shapes_of(model, *args) -> list[tuple[str, tuple[int, ...]]]:
    """The name of each module that finished, and the shape of what it returned."""
    # BEGIN SOLUTION
    pairs = []

    def note(name):
        def hook(module, args, output):
            if isinstance(output, torch.Tensor):
                pairs.append((name, tuple(output.shape)))

        return hook

    handles = [module.register_forward_hook(note(name)) for name, module in model.named_modules()]
    try:
        model(*args)
    finally:
        for handle in handles:
            handle.remove()
    return pairs
    # END SOLUTION


# %% exercise="07.3" role="check"
class Twice(nn.Module):
    def __init__(self):
        super().__init__()
        self.same = nn.Linear(3, 3)
        self.pair = Halves()

    def forward(self, x):
        first, second = self.pair(self.same(self.same(x)))
        return first + second


class Halves(nn.Module):
    def forward(self, x):
        return x / 2, x / 2


def hooks_in(model):
    return [len(module._forward_hooks) for module in model.modules()]


with check("07.3", "the shapes of a model") as c:
    nested = nn.Sequential(nn.Linear(4, 3), nn.Sequential(nn.ReLU(), nn.Flatten(0)))
    x = torch.ones(5, 4)
    c.equal(
        "a Sequential in a Sequential",
        came=shapes_of(nested, x),
        expected=[("0", (5, 3)), ("1.0", (5, 3)), ("1.1", (15,)), ("1", (15,)), ("", (15,))],
    )
    c.equal(
        "a module that is called twice, and one that returns a tuple",
        came=shapes_of(Twice(), torch.ones(2, 3)),
        expected=[("same", (2, 3)), ("same", (2, 3)), ("", (2, 3))],
    )
    calls = []
    nested[0].register_forward_hook(lambda module, args, output: calls.append(1))
    shapes_of(nested, x)
    c.equal("hooks of each module afterwards, where one had a hook", came=hooks_in(nested), expected=[0, 1, 0, 0, 0])
    c.equal("calls of that hook", came=len(calls), expected=1)
    wrong = nn.Sequential(nn.Linear(4, 3), nn.Linear(4, 3))
    c.raises("a model whose second layer does not fit", RuntimeError, "shapes", shapes_of, wrong, x)
    c.equal("hooks of each module after the error", came=hooks_in(wrong), expected=[0, 0, 0])

# %% [markdown] exercise="07.3" role="debrief"
# **In PyTorch** tools such as `torchinfo` print the result of such a function as a table. The hooks see only what
# modules return: if a `view` in `forward` changes the shape between two modules, no pair shows the new shape. Here
# `reftorch.debug.summary` is such a table.

# %% [markdown] exercise="07.3" role="hint"
# `module.register_forward_hook(hook)` for each of `model.named_modules()`; `hook` is called with module, arguments and
# output. Keep the handles.

# %% [markdown] exercise="07.3" role="hint"
# A hook that is made in a loop must keep its own name: make it by a function that takes the name, or write
# `name=name` among the parameters. `try: ... finally:` removes the hooks whatever happens.


# %% [markdown] exercise="07.4" role="task" kind="read" title="which hook runs when"
# ## 07.4 Read: which hook runs when
#
# ★★☆, 20 minutes. A hook that cleans up may not run after an error, and a hook for gradients may run before the
# gradients of the inputs exist. Read the order in the source, then in a program of your own.
#
# First: `net = nn.Sequential(first, second)`, and the `forward` of `second` raises. Before the call these hooks were
# registered:
#
# - `net`: a pre-hook A, a hook B, a hook C with `always_call=True`
# - `first`: a pre-hook D, a hook E
# - `second`: a pre-hook F, a hook G, a hook H with `always_call=True`
#
# Which hooks run, in which order? Answer `"error"` with the letters, as `"ABC"`.
#
# Second: `model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())` has a full backward hook on the model (M), on the linear
# layer (L) and on the activation (T). In which order do they run in `model(x).sum().backward()` if `x` requires a
# gradient (`"with"`), and if it does not (`"without"`)?


# %% exercise="07.4" role="answer"
def order_of_hooks() -> dict[str, str]:
    """The letters of the hooks that run, in their order, as `{"error": ..., "with": ..., "without": ...}`."""
    # BEGIN SOLUTION
    return {"error": "ADEFHC", "with": "TLM", "without": "MTL"}
    # END SOLUTION


# %% exercise="07.4" role="check"
from contextlib import suppress


class Raises(nn.Module):
    def forward(self, x):
        raise ValueError("second does not work")


def letters_after_error():
    log = []

    def writes(letter):
        return lambda *_: log.append(letter)

    net = nn.Sequential(nn.Identity(), Raises())
    for module, before, after, always in ((net, "A", "B", "C"), (net[0], "D", "E", ""), (net[1], "F", "G", "H")):
        module.register_forward_pre_hook(writes(before))
        module.register_forward_hook(writes(after))
        for letter in always:
            module.register_forward_hook(writes(letter), always_call=True)
    with suppress(ValueError):
        net(torch.ones(2))
    return "".join(log)


def letters_of_backward(requires_grad):
    log, model = [], nn.Sequential(nn.Linear(2, 2), nn.Tanh())
    for letter, module in (("M", model), ("L", model[0]), ("T", model[1])):
        module.register_full_backward_hook(lambda *_, letter=letter: log.append(letter))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model(torch.ones(1, 2, requires_grad=requires_grad)).sum().backward()
    return "".join(log)


with check("07.4", "which hook runs when") as c:
    truth = {
        "error": letters_after_error(),
        "with": letters_of_backward(True),
        "without": letters_of_backward(False),
    }
    look = "Read `_call_with_hooks` and `_run_always_called_hooks`, then `BackwardHook._on_outputs`."
    c.answers("the order of the hooks", came=order_of_hooks(), truth=truth, look=look)

# %% [markdown] exercise="07.4" role="debrief"
# **In PyTorch** the three orders are the same, and the last one comes with the warning *Full backward hook is firing
# when gradients are computed with respect to module outputs since no inputs require gradients*. The hook of the model
# should see the gradients of the model's inputs. If the inputs get no gradients, the hook is called as soon as the
# gradients of the outputs are there. At that moment the backward pass has not reached anything inside the model.

# %% [markdown] exercise="07.4" role="hint"
# Begin with the error: `__call__` of `net` runs its pre-hooks, then `forward`, which calls `first` and then `second`.
# The `except` of the inner call runs before that of the outer one.

# %% [markdown] exercise="07.4" role="hint"
# A backward hook of a module runs when the node around its *inputs* runs, because only then are their gradients there.
# `show_source("BackwardHook._on_outputs")` says what happens if no input requires a gradient.


# %% [markdown] exercise="07.5" role="task" kind="fix" title="the best model is the last one"
# ## 07.5 Fix: the best model is the last one
#
# ★★☆, 20 minutes. `broken_fit` trains a model and, at the end, should give it back the weights of its best step. Two
# bugs were reported. First: the weights after `broken_fit` are always those of the last step. Second: a program makes
# an optimizer, calls `broken_fit`, and then trains the model further with that optimizer. The model does not change any
# more. Write `fit`:
#
# - it calls `step(model)` and then `score(model)`, `steps` times, and returns the best (lowest) score;
# - afterwards the model has the parameters *and buffers* of the step with the best score. Of equal scores the first
#   counts;
# - the model's parameters are the objects that they were before, so an optimizer goes on to train them;
# - with `steps=0` the model stays as it is, and the result is `float("inf")`.


# %% exercise="07.5" role="given"
def broken_fit(model, steps, step, score):
    best_score, best = float("inf"), None
    for _ in range(steps):
        step(model)
        now = score(model)
        if now < best_score:
            best_score, best = now, model.state_dict()
    model.load_state_dict(best, assign=True)
    return best_score


# %% exercise="07.5" role="answer"
def fit(model, steps, step, score) -> float:
    """Train the model, and give it the weights of its best step."""
    # BEGIN SOLUTION
    best_score, best = float("inf"), None
    for _ in range(steps):
        step(model)
        now = score(model)
        if now < best_score:
            best_score = now
            best = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    if best is not None:
        model.load_state_dict(best)
    return best_score
    # END SOLUTION


# %% exercise="07.5" role="check"
class Walker(nn.Module):
    """A parameter that moves by 1 in each step, and a buffer that counts the steps."""

    def __init__(self):
        super().__init__()
        self.place = nn.Parameter(torch.zeros(2))
        self.register_buffer("steps", torch.zeros((), dtype=torch.int64))


def one_step(walker):
    with torch.no_grad():
        walker.place += 1
    walker.steps += 1


def distance_to(goal):
    return lambda walker: abs(walker.place[0].item() - goal)


with check("07.5", "the best model is the last one") as c:
    for goal, steps, best in ((3, 7, 3), (9, 4, 4), (1, 5, 1), (2.5, 6, 2)):
        case = c.case(f"{steps} steps, the goal at {goal}")
        walker = Walker()
        place, optimizer = walker.place, torch.optim.SGD(walker.parameters(), lr=1.0)
        result = fit(walker, steps, one_step, distance_to(goal))
        c.equal(f"{case}: the best score", came=result, expected=abs(float(best) - goal))
        c.equal(f"{case}: the parameter", came=walker.place.tolist(), expected=[float(best)] * 2)
        c.equal(f"{case}: the buffer", came=walker.steps.item(), expected=best)
        c.equal(f"{case}: the parameter is the object it was", came=walker.place is place, expected=True)
        walker.place.sum().backward()
        optimizer.step()
        c.equal(f"{case}: after a step of the optimizer", came=walker.place.tolist(), expected=[best - 1.0] * 2)
    case = c.case("no steps")
    walker = Walker()
    c.equal(f"{case}: the score", came=fit(walker, 0, one_step, distance_to(1)), expected=float("inf"))
    c.equal(f"{case}: the parameter", came=walker.place.tolist(), expected=[0.0, 0.0])

# %% [markdown] exercise="07.5" role="debrief"
# **In PyTorch** one writes `copy.deepcopy(model.state_dict())`, or saves to a file, which copies too. `assign=True` is
# made for a model on the meta device, which has no memory to copy into: the loaded tensors become its parameters. So
# you must make the optimizer after loading.

# %% [markdown] exercise="07.5" role="hint"
# What does `model.state_dict()["place"]` share with `model.place`? The lesson asks this question.

# %% [markdown] exercise="07.5" role="hint"
# Clone each tensor of the dict at the moment of the best score. Then load without `assign`, which copies into the
# parameters that are there.


# %% [markdown] exercise="07.6" role="task" kind="build" title="project: a Module that passes the hook tests"
# ## 07.6 Project: a Module that passes the hook tests
#
# ★★★, an evening. Write `Module`, without `nn.Module`. PyTorch tests the hooks of its own class in
# `test/nn/test_module_hooks.py`; the functions in the next cell ask the same questions under the same names. Try them:
# `test_forward_hooks(c, nn.Module)` inside a `with check("07.6", "a try") as c:` passes.
#
# - `__setattr__` registers an `nn.Parameter` and a `Module`; anything else is an ordinary attribute. A registered value
#   is not in `__dict__`, and `__getattr__` finds it. Both raise an AttributeError as the tests say.
# - `named_parameters()` yields pairs of dotted name and parameter: the module's own first, then those of its
#   submodules.
# - `__call__` runs the hooks around `self.forward`.
# - `register_forward_pre_hook(hook, *, prepend=False, with_kwargs=False)`,
#   `register_forward_hook(hook, *, prepend=False, with_kwargs=False, always_call=False)`,
#   `register_full_backward_pre_hook(hook)` and `register_full_backward_hook(hook)` return a handle with `remove()`.
#   `RemovableHandle(hooks)` is one: it removes the entry `handle.id` from an `OrderedDict`.
#
# What hooks get and may return is what the lesson shows; the tests have every case. Arguments and results of a module
# with backward hooks are tensors or other values, at the top level; a result is a tensor or a tuple.


# %% exercise="07.6" role="given"
def scale_of(Module):
    """A module with one parameter, the number 3, made of the class that is tested."""

    class Scale(Module):
        def __init__(self):
            super().__init__()
            self.factor = nn.Parameter(torch.tensor(3.0))

        def forward(self, x, other=None, *, shift=0.0):
            if shift is None:
                raise ValueError("no shift")
            return x * self.factor + shift

    return Scale()


def two_of(Module):
    """A module with two such modules, one after the other."""

    class Two(Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = scale_of(Module), scale_of(Module)

        def forward(self, x):
            return self.second(self.first(x))

    return Two()


def test_registration(c, Module):
    two = two_of(Module)
    names = [name for name, _ in two.named_parameters()]
    c.equal("the names of the parameters", came=names, expected=["first.factor", "second.factor"])
    c.equal("what is registered is in __dict__", came="first" in two.__dict__, expected=False)
    two.note = [1]
    c.equal("an ordinary attribute", came=two.note, expected=[1])
    two.note = nn.Parameter(torch.ones(1))
    c.equal("the same name for a parameter", came=next(iter(two.named_parameters()))[0], expected="note")
    c.raises("a name that is nowhere", AttributeError, "has no attribute 'missing'", lambda: two.missing)

    class Early(Module):
        def __init__(self):
            self.factor = nn.Parameter(torch.ones(1))

    c.raises("a parameter before super().__init__()", AttributeError, "before Module.__init__", Early)


def test_forward_pre_hooks(c, Module):
    scale, log = scale_of(Module), []
    scale.register_forward_pre_hook(lambda module, args: log.append(("second", module is scale, args[0].item())))
    handle = scale.register_forward_pre_hook(lambda module, args: args[0] + 1, prepend=True)
    c.equal("a pre-hook that returns a value replaces the argument", came=scale(torch.tensor(1.0)).item(), expected=6.0)
    c.equal("the pre-hook behind it sees", came=log, expected=[("second", True, 2.0)])
    handle.remove()
    scale.register_forward_pre_hook(lambda module, args: (args[0] * 10,))
    c.equal("one removed, one that returns a tuple", came=scale(torch.tensor(1.0)).item(), expected=30.0)


def test_forward_hooks(c, Module):
    scale, log = scale_of(Module), []
    handle = scale.register_forward_hook(lambda module, args, output: log.append((args[0].item(), output.item())))
    scale.register_forward_hook(lambda module, args, output: output * 2, prepend=True)
    scale.register_forward_hook(lambda module, args, output: output + 1)
    c.equal("hooks that replace the output, one after the other", came=scale(torch.tensor(1.0)).item(), expected=7.0)
    c.equal("the hook between them sees", came=log, expected=[(1.0, 6.0)])
    handle.remove()
    scale(torch.tensor(1.0))
    c.equal("calls of a removed hook", came=len(log), expected=1)
    two, order = two_of(Module), []
    for name, module in (("two", two), ("first", two.first), ("second", two.second)):
        module.register_forward_hook(lambda module, args, output, name=name: order.append(name))
    two(torch.tensor(1.0))
    c.equal("the order in a module with submodules", came=order, expected=["first", "second", "two"])


def test_kwarg_hooks(c, Module):
    scale, log = scale_of(Module), []
    scale.register_forward_pre_hook(lambda module, args, kwargs: (args, {"shift": 5.0}), with_kwargs=True)
    scale.register_forward_hook(lambda module, args, kwargs, output: log.append(kwargs), with_kwargs=True)
    c.equal("a pre-hook that replaces keyword arguments", came=scale(torch.tensor(1.0), shift=1.0).item(), expected=8.0)
    c.equal("the forward hook gets them", came=log, expected=[{"shift": 5.0}])


def test_always_called_forward_hooks(c, Module):
    scale, log = scale_of(Module), []
    scale.register_forward_hook(lambda module, args, output: log.append(("only without an error", output)))
    scale.register_forward_hook(lambda module, args, output: log.append(("always", output)), always_call=True)
    c.raises("the error of forward", ValueError, "no shift", lambda: scale(torch.tensor(1.0), shift=None))
    c.equal("the hooks that ran, and their output", came=log, expected=[("always", None)])
    log.clear()
    scale(torch.tensor(1.0))
    c.equal("how many run without an error", came=len(log), expected=2)


def test_full_backward_hooks(c, Module):
    scale, log = scale_of(Module), []
    scale.register_full_backward_pre_hook(lambda module, grad_output: (grad_output[0] * 10,))
    handle = scale.register_full_backward_hook(
        lambda module, grad_input, grad_output: log.append((grad_input[0].item(), grad_output[0].item()))
    )
    x = torch.tensor(2.0, requires_grad=True)
    scale(x).backward()
    c.equal("the gradients that the hook sees", came=log, expected=[(30.0, 10.0)])
    c.equal("the gradient of the parameter", came=scale.factor.grad.item(), expected=20.0)
    c.equal("the gradient of the input", came=x.grad.item(), expected=30.0)
    handle.remove()
    scale.register_full_backward_hook(lambda module, grad_input, grad_output: (grad_input[0] + 1,))
    x.grad = None
    scale(x).backward()
    c.equal("the gradient of the input, replaced by the hook", came=x.grad.item(), expected=31.0)


def test_hook_no_requires_grad(c, Module):
    scale, log = scale_of(Module), []
    scale.register_full_backward_hook(lambda module, grad_input, grad_output: log.append((grad_input, grad_output)))
    scale(torch.tensor(2.0)).backward()
    c.equal("an input that wants no gradient", came=log, expected=[((None,), (torch.tensor(1.0),))])
    with torch.no_grad():
        c.equal("a call without a graph", came=scale(torch.tensor(2.0)).item(), expected=6.0)


def test_hook_extra_input(c, Module):
    scale, log = scale_of(Module), []
    scale.register_full_backward_hook(lambda module, grad_input, grad_output: log.append(grad_input))
    scale(torch.tensor(2.0, requires_grad=True), "no tensor").backward()
    c.equal("the gradients of a tensor and of a str", came=log, expected=[(torch.tensor(3.0), None)])


def test_hook_invalid_outputs(c, Module):
    scale = scale_of(Module)
    scale.register_full_backward_hook(lambda module, grad_input, grad_output: (*grad_input, None))
    loss = scale(torch.tensor(2.0, requires_grad=True))
    c.raises("a hook that returns two gradients for one input", RuntimeError, "got 2, but expected 1", loss.backward)


HOOK_TESTS = (
    test_registration,
    test_forward_pre_hooks,
    test_forward_hooks,
    test_kwarg_hooks,
    test_always_called_forward_hooks,
    test_full_backward_hooks,
    test_hook_no_requires_grad,
    test_hook_extra_input,
    test_hook_invalid_outputs,
)


# %% exercise="07.6" role="answer"
class Module:
    def __init__(self):
        # BEGIN SOLUTION
        for name in ("_parameters", "_modules", "_pre_hooks", "_hooks", "_backward_pre_hooks", "_backward_hooks"):
            self.__dict__[name] = OrderedDict()
        # END SOLUTION

    def __setattr__(self, name, value):
        # BEGIN SOLUTION
        kinds = {"_parameters": nn.Parameter, "_modules": Module}
        home = next((registry for registry, kind in kinds.items() if isinstance(value, kind)), None)
        if home is not None and home not in self.__dict__:
            raise AttributeError(f"cannot assign {name} before Module.__init__() call")
        for entries in (self.__dict__, *(self.__dict__.get(registry, {}) for registry in kinds)):
            entries.pop(name, None)
        (self.__dict__ if home is None else self.__dict__[home])[name] = value
        # END SOLUTION

    def __getattr__(self, name):
        # BEGIN SOLUTION
        for registry in ("_parameters", "_modules"):
            if name in self.__dict__.get(registry, {}):
                return self.__dict__[registry][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        # END SOLUTION

    def named_parameters(self, prefix=""):
        """Pairs of dotted name and parameter."""
        # BEGIN SOLUTION
        for name, parameter in self._parameters.items():
            yield prefix + name, parameter
        for name, module in self._modules.items():
            yield from module.named_parameters(f"{prefix}{name}.")
        # END SOLUTION

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        # BEGIN SOLUTION
        return self.register(self._pre_hooks, hook, prepend, with_kwargs=with_kwargs)
        # END SOLUTION

    def register_forward_hook(self, hook, *, prepend=False, with_kwargs=False, always_call=False):
        # BEGIN SOLUTION
        return self.register(self._hooks, hook, prepend, with_kwargs=with_kwargs, always_call=always_call)
        # END SOLUTION

    def register_full_backward_pre_hook(self, hook):
        # BEGIN SOLUTION
        return self.register(self._backward_pre_hooks, hook)
        # END SOLUTION

    def register_full_backward_hook(self, hook):
        # BEGIN SOLUTION
        return self.register(self._backward_hooks, hook)
        # END SOLUTION

    def __call__(self, *args, **kwargs):
        """`self.forward(*args, **kwargs)`, with the hooks around it."""
        # BEGIN SOLUTION
        output, waiting = None, [entry for entry in self._hooks.values() if entry[1]["always_call"]]
        try:
            args, kwargs = self.run_pre_hooks(args, kwargs)
            gradients = Gradients(self, len(args)) if self._backward_pre_hooks or self._backward_hooks else None
            if gradients is not None:
                args = gradients.around_inputs(args)
            output = self.forward(*args, **kwargs)
            for entry in list(self._hooks.values()):
                waiting = [each for each in waiting if each is not entry]
                output = self.run_hook(entry, args, kwargs, output)
            return output if gradients is None else gradients.around_outputs(output)
        except Exception:
            for entry in waiting:
                output = self.run_hook(entry, args, kwargs, output)
            raise

    def register(self, hooks, hook, prepend=False, **options):
        handle = RemovableHandle(hooks)
        hooks[handle.id] = (hook, options)
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def run_pre_hooks(self, args, kwargs):
        for hook, options in list(self._pre_hooks.values()):
            result = hook(self, args, kwargs) if options["with_kwargs"] else hook(self, args)
            if result is not None and options["with_kwargs"]:
                args, kwargs = result
            elif result is not None:
                args = result if isinstance(result, tuple) else (result,)
        return args, kwargs

    def run_hook(self, entry, args, kwargs, output):
        hook, options = entry
        result = hook(self, args, kwargs, output) if options["with_kwargs"] else hook(self, args, output)
        return output if result is None else result


class Around(torch.autograd.Function):
    """A node that hands tensors on, and hands their gradients back."""

    @staticmethod
    def forward(ctx, *tensors):
        ctx.mark_non_differentiable(*[tensor for tensor in tensors if not tensor.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx, *gradients):
        return gradients


class Gradients:
    """One call of a module with backward hooks: a node around its inputs, and one around its outputs."""

    def __init__(self, module, number):
        self.module, self.number, self.inputs = module, number, None

    def around_inputs(self, args):
        args, self.inputs = self.through(args, lambda gradients, _: self.on_inputs(gradients))
        return args

    def around_outputs(self, output):
        outputs = output if isinstance(output, tuple) else (output,)
        self.count = len(outputs)
        outputs, self.outputs = self.through(outputs, lambda _, gradients: self.on_outputs(gradients))
        return outputs if isinstance(output, tuple) else outputs[0]

    def through(self, values, hook):
        where = [place for place, value in enumerate(values) if isinstance(value, torch.Tensor)]
        if not (torch.is_grad_enabled() and any(values[place].requires_grad for place in where)):
            return values, None
        passed = Around.apply(*[values[place] for place in where])
        next(tensor.grad_fn for tensor in passed if tensor.requires_grad).register_hook(hook)
        replaced = dict(zip(where, passed, strict=True))
        return tuple(replaced.get(place, value) for place, value in enumerate(values)), where

    def on_outputs(self, gradients):
        there = dict(zip(self.outputs, gradients, strict=True))
        self.grad_output = tuple(there.get(place) for place in range(self.count))
        for hook, _ in self.module._backward_pre_hooks.values():
            result = hook(self.module, self.grad_output)
            self.grad_output = self.grad_output if result is None else result
        if self.inputs is None:
            for hook, _ in self.module._backward_hooks.values():
                hook(self.module, (None,) * self.number, self.grad_output)
        return tuple(self.grad_output[place] for place in self.outputs)

    def on_inputs(self, gradients):
        there = dict(zip(self.inputs, gradients, strict=True))
        grad_input = tuple(there.get(place) for place in range(self.number))
        for hook, _ in self.module._backward_hooks.values():
            result = hook(self.module, grad_input, self.grad_output)
            if result is not None and len(result) != self.number:
                raise RuntimeError(f"the hook returned gradients: got {len(result)}, but expected {self.number}")
            grad_input = grad_input if result is None else result
        return tuple(grad_input[place] for place in self.inputs)
        # END SOLUTION


# %% exercise="07.6" role="check"
with check("07.6", "a Module that passes the hook tests") as c, warnings.catch_warnings():
    warnings.simplefilter("ignore")
    c.equal("whether Module is made from nn.Module", came=issubclass(Module, nn.Module), expected=False)
    for test in HOOK_TESTS:
        c.case(test.__name__)
        test(c, Module)

# %% [markdown] exercise="07.6" role="debrief"
# **In PyTorch** the class has the same outline, and is longer because it checks more: it refuses names with dots,
# tensors in the place of parameters, and two kinds of backward hooks at once. `_call_impl` also looks for hooks of all
# modules. If there is no hook at all, as in most calls, it calls `forward` at once. The price of the two nodes around a
# module is that its inputs and outputs are views, and may not be changed in place.

# %% [markdown] exercise="07.6" role="hint"
# Begin with `test_registration`, and take the tests one after the other. In `__init__` write into `self.__dict__`,
# because your own `__setattr__` looks for the registries. `RemovableHandle` needs a dict to which weak references are
# possible: an `OrderedDict`.

# %% [markdown] exercise="07.6" role="hint"
# For `always_call`, note which of these hooks have not run yet; in `except`, run them, and `raise`.

# %% [markdown] exercise="07.6" role="hint"
# For gradients write an `autograd.Function` that returns its tensors as they are. `node.register_hook(f)` calls
# `f(grad_inputs, grad_outputs)` after the node ran, and what `f` returns takes the place of `grad_inputs`. Remember
# at which places the tensors were: the tuples that hooks see have a None for everything else. Inputs of which none
# requires a gradient have no node; then the hooks run when the gradients of the outputs have come.


# %% [markdown] exercise="07.7" role="task" kind="fix" title="a broken library: files that nobody can load"
# ## 07.7 Fix: a broken library, files that nobody can load
#
# ★★☆, 30 minutes. Since the last pull there is trouble with checkpoints. The file of a new model can be
# loaded. The file of a model that has run once cannot be loaded into a new one: it has a key too many. *One line of
# Python* of the library was changed. `PROGRAM` asks the questions, and `REPORT` holds what the broken library prints.
#
# Find the line. You have found it when you can break the library in the same way: return the file, and a patch as
# `%%rebuild` takes one, with `-` and `+` before the lines. Your own library stays as it is. The check runs `PROGRAM` on
# a scratch copy with your patch, and names the first line that differs from `REPORT`.

# %% exercise="07.7" role="given"
PROGRAM = """
import reftorch as torch
from reftorch import nn


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(2))
        self.register_buffer("table", torch.ones(2))
        self.register_buffer("cache", torch.zeros(2), persistent=False)
        self.extra = nn.Buffer(torch.zeros(2), persistent=False)

    def forward(self, x):
        self.cache = x * self.weight.detach()
        return self.cache.sum()


layer = Layer()
print("new:", list(layer.state_dict()))
layer(torch.ones(2))
print("after a call:", list(layer.state_dict()))
print("buffers:", [name for name, _ in layer.named_buffers()])
print("double() converts:", layer.double().cache.dtype)
layer.extra = nn.Buffer(torch.ones(2), persistent=False)
print("after a Buffer:", list(layer.state_dict()))
"""
REPORT = [
    "new: ['weight', 'table']",
    "after a call: ['weight', 'table', 'cache']",
    "buffers: ['table', 'cache', 'extra']",
    "double() converts: torch.float64",
    "after a Buffer: ['weight', 'table', 'cache']",
]


# %% exercise="07.7" role="answer"
def change() -> tuple[str, str]:
    """The file, and the patch that breaks the library as in REPORT."""
    # BEGIN SOLUTION
    return (
        "reftorch/nn/modules/module/__init__.py",
        """
-        persistent = value.persistent if is_buffer else name not in self._non_persistent_buffers_set
+        persistent = value.persistent if is_buffer else True
""",
    )
    # END SOLUTION


# %% exercise="07.7" role="check"
with check("07.7", "a broken library: files that nobody can load") as c:
    file, patch = change()
    c.case(f"the patch of {file}")
    broken = rebuild(file, patch)
    outcome = broken.run(PROGRAM)
    broken.close()
    c.equal("an error of the library with your patch", came=outcome.error, expected="")
    for came, expected in zip(outcome.printed.splitlines(), REPORT, strict=True):
        c.equal("a line that PROGRAM prints with your patch", came=came, expected=expected)

# %% [markdown] exercise="07.7" role="debrief"
# **In PyTorch** the rule is the same: a tensor that is assigned to the name of a buffer is as persistent as the buffer
# before it was. The fault is seen only after an assignment in `forward`, so a test that saves a new model passes. Tests
# of this library save after a call too.

# %% [markdown] exercise="07.7" role="hint"
# Which of the three ways of making a buffer still works in the report: `register_buffer`, an assignment of an
# `nn.Buffer`, an assignment of a plain tensor?

# %% [markdown] exercise="07.7" role="hint"
# The lesson shows where a plain tensor goes that is assigned to the name of a buffer: the last branch but one of
# `__setattr__`, and a function that it calls.

# %% [markdown] exercise="07.7" role="hint"
# `show_source("Module._set_buffer in module/__init__.py")`: what is `persistent` for a tensor that is no `nn.Buffer`?


# %% [markdown] exercise="07.8" role="task" kind="read" title="in PyTorch: what __setattr__ decides"
# ## 07.8 Read, in PyTorch: what __setattr__ decides
#
# ★★☆, 15 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# `IN_TORCH` makes a layer and assigns to it. Stop in `Module.__setattr__` of `torch/nn/modules/module.py`. How often
# is it called in the whole program, and which names come to its last line, `super().__setattr__(name, value)`? Return
# the number under `"calls"` and the names, in order, under `"ordinary"`.


# %% exercise="07.8" role="given"
IN_TORCH = """\
import torch

layer = torch.nn.Linear(2, 3, bias=False)
layer.scale = torch.nn.Parameter(torch.ones(1))
layer.mask = torch.zeros(3)
layer.weight = None
layer.register_buffer("count", torch.zeros(1))
layer.count = torch.ones(1)
"""
print(write_for_torch(IN_TORCH, "in_torch_07_8.py"))


# %% exercise="07.8" role="answer"
def assignments() -> dict[str, int | list[str]]:
    # BEGIN SOLUTION
    return {"calls": 7, "ordinary": ["in_features", "out_features", "mask"]}
    # END SOLUTION


# %% exercise="07.8" role="check"
with check("07.8", "what __setattr__ decides") as c:
    answer, truth = assignments(), {}
    module, function = "torch/nn/modules/module.py", "Module.__setattr__"
    truth["calls"] = len(stops_in_torch(IN_TORCH, module, function, 'params = self.__dict__.get("_par', ["name"]))
    last = stops_in_torch(IN_TORCH, module, function, "super().__setattr__(name, value)", ["name"])
    truth["ordinary"] = [stop["name"].strip("'") for stop in last]
    look = "A breakpoint at the first line of the method, and one at its last line."
    c.answers("the calls, and the ordinary attributes", came=answer, truth=truth, look=look)

# %% [markdown] exercise="07.8" role="debrief"
# **In PyTorch** `Linear.__init__` assigns four times: two numbers, the weight, and with `bias=True` the bias as well;
# without it `register_parameter("bias", None)` writes into the registry and calls no `__setattr__`. Nor do
# `Module.__init__` and `register_buffer`, which use `super().__setattr__` and the dicts, because an assignment is
# slow.

# %% [markdown] exercise="07.8" role="hint"
# After `import torch` has run: `break torch.nn.Module.__setattr__`, then `continue` and `p name` at each stop.

# %% [markdown] exercise="07.8" role="hint"
# `break torch/nn/modules/module.py:NUMBER` stops at a line; `list` shows the numbers. `ignore` and `tbreak` are of
# help, and so is `commands`.
