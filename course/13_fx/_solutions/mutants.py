"""Wrong answers to the exercises of chapter 13: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.

The wrong answers of exercise 13.7 are the right one with one change: the first of them keeps the right one.
"""


# %% exercise="13.1" role="mutant" why="counts what the text of the program has"
def calls() -> dict[str, int | str]:
    return {"a": 4, "b": 2, "c": 1, "d": 3, "e": 2, "f": 2, "g": 1, "h": 2, "i": 3, "j": 1}


# %% exercise="13.1" role="mutant" why="takes a proxy for a tensor with a shape"
def calls() -> dict[str, int | str]:
    return {"a": 1, "b": 6, "c": 1, "d": 3, "e": "raises", "f": 2, "g": 1, "h": 2, "i": "raises", "j": 1}


# %% exercise="13.2" role="mutant" why="runs to the end"
def first_bad(module, *inputs):
    class Watch(fx.Interpreter):
        found = None

        def run_node(self, n):
            value = super().run_node(n)
            values = value if isinstance(value, (tuple, list)) else [value]
            if any(isinstance(v, torch.Tensor) and not torch.isfinite(v).all().item() for v in values):
                self.found = self.found or n.name
            return value

    watch = Watch(module)
    watch.run(*inputs)
    return watch.found


# %% exercise="13.2" role="mutant" why="looks for NaN alone, and not for infinity"
def first_bad(module, *inputs):
    class Found(Exception):
        pass

    class Watch(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            if isinstance(value, torch.Tensor) and value.isnan().any().item():
                raise Found(n.name)
            return value

    try:
        Watch(module).run(*inputs)
    except Found as found:
        return found.args[0].split("\n")[0]
    return None


# %% exercise="13.2" role="mutant" why="does not look into tuples and lists"
def first_bad(module, *inputs):
    found = []

    class Watch(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            if isinstance(value, torch.Tensor) and not torch.isfinite(value).all().item():
                found.append(n.name)
                raise ValueError
            return value

    with contextlib.suppress(ValueError):
        Watch(module).run(*inputs)
    return found[0] if found else None


# %% exercise="13.2" role="mutant" why="looks into a tuple, and not into a list in a list"
def first_bad(module, *inputs):
    class Found(Exception):
        pass

    found = []

    class Watch(fx.Interpreter):
        def run_node(self, n):
            value = super().run_node(n)
            values = value if isinstance(value, (tuple, list)) else [value]
            if any(isinstance(v, torch.Tensor) and not torch.isfinite(v).all().item() for v in values):
                found.append(n.name)
                raise Found
            return value

    with contextlib.suppress(Found):
        Watch(module).run(*inputs)
    return found[0] if found else None


# %% exercise="13.2" role="mutant" why="changes the graph: leaves a node for each check"
def first_bad(module, *inputs):
    found = []

    def is_bad(value):
        if isinstance(value, torch.Tensor):
            return not torch.isfinite(value).all().item()
        return isinstance(value, (tuple, list)) and any(is_bad(item) for item in value)

    def looked_at(value, name):
        if is_bad(value):
            found.append(name)
            raise ValueError
        return value

    for node in list(module.graph.nodes):
        if node.op != "output":
            with module.graph.inserting_after(node):
                look = module.graph.call_function(looked_at, (node, node.name))
            node.replace_all_uses_with(look, delete_user_cb=lambda user, look=look: user is not look)
    with contextlib.suppress(ValueError):
        fx.Interpreter(module).run(*inputs)
    return found[0] if found else None


# %% exercise="13.3" role="mutant" why="compares values with ==, so that 1 is 1.0"
def merge_equal(module):
    seen, erased = [], 0
    for node in list(module.graph.nodes):
        if node.op != "call_function" or node.target not in PURE:
            continue
        key = (node.target, node.args, dict(node.kwargs))
        first = next((other for known, other in seen if known == key), None)
        if first is None:
            seen.append((key, node))
        else:
            node.replace_all_uses_with(first)
            module.graph.erase_node(node)
            erased += 1
    module.recompile()
    return erased


# %% exercise="13.3" role="mutant" why="forgets the keyword arguments"
def merge_equal(module):
    first, erased = {}, 0
    for node in list(module.graph.nodes):
        if node.op != "call_function" or node.target not in PURE:
            continue
        other = first.setdefault((node.target, repr(node.args)), node)
        if other is not node:
            node.replace_all_uses_with(other)
            module.graph.erase_node(node)
            erased += 1
    module.recompile()
    return erased


# %% exercise="13.3" role="mutant" why="merges random operations, too"
def merge_equal(module):
    first, erased = {}, 0
    for node in list(module.graph.nodes):
        if node.op != "call_function":
            continue
        other = first.setdefault((node.target, repr(node.args), repr(node.kwargs)), node)
        if other is not node:
            node.replace_all_uses_with(other)
            module.graph.erase_node(node)
            erased += 1
    module.recompile()
    return erased


# %% exercise="13.3" role="mutant" why="collects the keys before it merges, and so misses what becomes equal"
def merge_equal(module):
    keys = {node: (node.target, repr(node.args), repr(node.kwargs)) for node in module.graph.nodes}
    first, erased = {}, 0
    for node, key in keys.items():
        if node.op == "call_function" and node.target in PURE and first.setdefault(key, node) is not node:
            node.replace_all_uses_with(first[key])
            module.graph.erase_node(node)
            erased += 1
    module.recompile()
    return erased


# %% exercise="13.3" role="mutant" why="forgets to recompile"
def merge_equal(module):
    first, erased = {}, 0
    for node in list(module.graph.nodes):
        if node.op == "call_function" and node.target in PURE:
            other = first.setdefault((node.target, repr(node.args), repr(node.kwargs)), node)
            if other is not node:
                node.replace_all_uses_with(other)
                module.graph.erase_node(node)
                erased += 1
    return erased


# %% exercise="13.4" role="mutant" why="the bug as it was"
def hoist(module):
    return broken_hoist(module)


# %% exercise="13.4" role="mutant" why="deterministic, but in the order of the names"
def hoist(module):
    reads = sorted((node for node in module.graph.nodes if node.op == "get_attr"), key=lambda node: node.name)
    first = next(node for node in module.graph.nodes if node.op not in ("placeholder", "get_attr"))
    for node in reads:
        first.prepend(node)
    module.recompile()
    return module


# %% exercise="13.4" role="mutant" why="each read goes before the one that was moved last: the order is reversed"
def hoist(module):
    last = [node for node in module.graph.nodes if node.op == "placeholder"][-1]
    for node in module.graph.find_nodes(op="get_attr"):
        last.append(node)
    module.recompile()
    return module


# %% exercise="13.5" role="mutant" why="breaks the dead code pass itself: users are right"
def change() -> tuple[str, str]:
    return (
        "reftorch/fx/graph/__init__.py",
        """
-            if not node.users and not is_impure(node):
+            if False:
""",
    )


# %% exercise="13.5" role="mutant" why="forgets the new user instead of the old one"
def change() -> tuple[str, str]:
    return (
        "reftorch/fx/node.py",
        """
-                arg.users[self] = None
+                pass
""",
    )


# %% exercise="13.6" role="mutant" why="writes into the layer, which may be used in two places"
def fuse(model):
    if model.training:
        raise ValueError("call model.eval() first")
    traced = fx.symbolic_trace(copy.deepcopy(model))
    layers = dict(traced.named_modules())
    for node in list(traced.graph.find_nodes(op="call_module")):
        norm, before = layers[node.target], node.args[0]
        if isinstance(norm, nn.BatchNorm1d) and before.op == "call_module" and len(before.users) == 1:
            linear = layers[before.target]
            if isinstance(linear, nn.Linear) and norm.running_mean is not None:
                new = folded(linear, norm)
                linear.weight, linear.bias = new.weight, new.bias
                node.replace_all_uses_with(before)
                traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced.eval()


# %% exercise="13.6" role="mutant" why="changes the model, because it traces without a copy"
def fuse(model):
    if model.training:
        raise ValueError("call model.eval() first")
    traced = fx.symbolic_trace(model)
    layers = dict(traced.named_modules())
    for node in list(traced.graph.find_nodes(op="call_module")):
        norm, before = layers[node.target], node.args[0]
        if isinstance(norm, nn.BatchNorm1d) and before.op == "call_module" and len(before.users) == 1:
            linear = layers[before.target]
            if isinstance(linear, nn.Linear) and norm.running_mean is not None:
                with torch.no_grad():
                    new = folded(linear, norm)
                    linear.weight.copy_(new.weight)
                    linear.bias = new.bias
                node.replace_all_uses_with(before)
                traced.graph.erase_node(node)
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced.eval()


# %% exercise="13.6" role="mutant" why="does not ask who else uses the result of the layer"
def fuse(model):
    if model.training:
        raise ValueError("call model.eval() first")
    traced = fx.symbolic_trace(copy.deepcopy(model))
    layers = dict(traced.named_modules())
    for number, node in enumerate(list(traced.graph.find_nodes(op="call_module"))):
        norm, before = layers[node.target], node.args[0]
        linear = layers.get(before.target) if before.op == "call_module" else None
        if isinstance(norm, nn.BatchNorm1d) and isinstance(linear, nn.Linear) and norm.running_mean is not None:
            traced.add_submodule(f"fused_{number}", folded(linear, norm))
            with traced.graph.inserting_before(node):
                new = traced.graph.call_module(f"fused_{number}", before.args)
            node.replace_all_uses_with(new)
            traced.graph.erase_node(node)
    traced.graph.eliminate_dead_code()
    traced.delete_all_unused_submodules()
    traced.recompile()
    return traced.eval()


# %% exercise="13.6" role="mutant" why="forgets eps"
def folded(linear, norm):
    new = nn.Linear(linear.in_features, linear.out_features, dtype=linear.weight.dtype).eval()
    with torch.no_grad():
        scale = norm.running_var.rsqrt()
        if norm.weight is not None:
            scale = scale * norm.weight
        bias = -norm.running_mean if linear.bias is None else linear.bias - norm.running_mean
        new.weight.copy_(linear.weight * scale.unsqueeze(1))
        new.bias.copy_(bias * scale if norm.bias is None else bias * scale + norm.bias)
    return new


# %% exercise="13.6" role="mutant" why="a proof on the model as it is: a fresh batch norm is nearly the identity"
def proves(a_pass, model, width):
    original = copy.deepcopy(model).eval()
    before = {name: value.clone() for name, value in original.state_dict().items()}
    x = torch.randn(64, width)
    try:
        with torch.no_grad():
            same = torch.allclose(a_pass(original)(x), original(x), rtol=1e-3, atol=1e-3)
    except Exception:
        return False
    return same and all(original.state_dict()[name].equal(value) for name, value in before.items())


# %% exercise="13.6" role="mutant" why="random weights, but positive inputs and the statistics of a fresh model"
def proves(a_pass, model, width):
    original = copy.deepcopy(model).double().eval()
    before = {name: value.clone() for name, value in original.state_dict().items()}
    try:
        with torch.no_grad():
            for parameter in original.parameters():
                parameter.copy_(torch.rand(parameter.shape, dtype=torch.float64))
            before = {name: value.clone() for name, value in original.state_dict().items()}
            x = torch.rand(64, width, dtype=torch.float64)
            same = torch.allclose(a_pass(original)(x), original(x), rtol=1e-9, atol=1e-9)
    except Exception:
        return False
    return same and all(original.state_dict()[name].equal(value) for name, value in before.items())


# %% exercise="13.7" role="mutant" why="a star unpacks as a pair does"
right_instructions = instructions()


def instructions() -> dict[str, str | int | float]:
    return right_instructions | {"starred": "UNPACK_SEQUENCE"}


# %% exercise="13.7" role="mutant" why="a list in brackets is a loop"
def instructions() -> dict[str, str | int | float]:
    return right_instructions | {"listed": "GET_ITER"}


# %% exercise="13.7" role="mutant" why="a loop is the other way round"
def instructions() -> dict[str, str | int | float]:
    return right_instructions | {"loop": "FOR_ITER"}


# %% exercise="13.7" role="mutant" why="the proxy knows how many rows there are"
def instructions() -> dict[str, str | int | float]:
    return right_instructions | {"items": 3}


# %% exercise="13.7" role="mutant" why="the graph checks the length as Python does"
def instructions() -> dict[str, str | int | float]:
    return right_instructions | {"three rows": "raises"}


# %% exercise="13.7" role="mutant" why="the graph adds all rows"
def instructions() -> dict[str, str | int | float]:
    return right_instructions | {"three rows": 111.0}
