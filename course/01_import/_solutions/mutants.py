"""Wrong answers to the exercises of chapter 01: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="01.1" role="mutant" why="the body of the module first, as the name of the module suggests"
def order_of_import() -> list[str]:
    return ["initStorage", "updateDispatchTable", "link_forms", "registerImpl", "make_packet", "register_derivative"]


# %% exercise="01.1" role="mutant" why="formulas register with their ops"
def order_of_import() -> list[str]:
    return ["updateDispatchTable", "link_forms", "registerImpl", "register_derivative", "initStorage", "make_packet"]


# %% exercise="01.2" role="mutant" why="asks whether an op has the name, not whether it is the object"
def origin(name: str) -> str:
    if hasattr(torch._C._VariableFunctions, name):
        return "op"
    return "extension" if hasattr(torch._C, name) else "python"


# %% exercise="01.2" role="mutant" why="takes all that has no Python source for an op"
def origin(name: str) -> str:
    return "python" if inspect.isfunction(getattr(torch, name)) else "op"


# %% exercise="01.2" role="mutant" why="looks only into the module"
def origin(name: str) -> str:
    return "extension" if getattr(torch, name) is getattr(torch._C, name, None) else "python"


# %% exercise="01.3" role="mutant" why="enters the module only when its body has run"
def load(name: str, path: Path) -> types.ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules[name] = module
    return module


# %% exercise="01.3" role="mutant" why="leaves a half-made module behind"
def load(name: str, path: Path) -> types.ModuleType:
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


# %% exercise="01.3" role="mutant" why="loads anew each time"
def load(name: str, path: Path) -> types.ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


# %% exercise="01.4" role="mutant" why="the bug as it was"
def fixed_source() -> str:
    return BROKEN


# %% exercise="01.4" role="mutant" why="moves the registry up, which helps in this file only"
def fixed_source() -> str:
    return BROKEN.replace("extern Registry registry;", "Registry registry;").replace(");\n\nRegistry registry;", ");")


# %% exercise="01.4" role="mutant" why="moves the registrars down"
def fixed_source() -> str:
    lines = [line for line in BROKEN.splitlines() if not line.startswith("static const Registrar")]
    return "\n".join([*lines, "static const Registrar softsign(1);"])


# %% exercise="01.4" role="mutant" why="a pointer, which the registrars follow before it points anywhere"
def fixed_source() -> str:
    source = BROKEN.replace("extern Registry registry", "extern Registry* registry").replace("registry.", "registry->")
    return source.replace("\nRegistry registry;", "\nRegistry* registry = new Registry();")


# %% exercise="01.5" role="mutant" why="the two ops call the same function"
def after_loading() -> dict[str, bool]:
    return {
        "a gradient flows back through late_plain": True,
        "a gradient flows back through late_composed": True,
        "dir(torch.ops.aten) has the name late_plain": True,
        "late_plain takes a tensor on the device meta": True,
        "torch.ops.two_late has the name late_plain": False,
    }


# %% exercise="01.5" role="mutant" why="the namespace is that of the library"
def after_loading() -> dict[str, bool]:
    return {
        "a gradient flows back through late_plain": False,
        "a gradient flows back through late_composed": True,
        "dir(torch.ops.aten) has the name late_plain": False,
        "late_plain takes a tensor on the device meta": True,
        "torch.ops.two_late has the name late_plain": True,
    }


# %% exercise="01.5" role="mutant" why="without a formula nothing has a gradient"
def after_loading() -> dict[str, bool]:
    return {
        "a gradient flows back through late_plain": False,
        "a gradient flows back through late_composed": False,
        "dir(torch.ops.aten) has the name late_plain": True,
        "late_plain takes a tensor on the device meta": True,
        "torch.ops.two_late has the name late_plain": False,
    }


# %% exercise="01.6" role="mutant" why="the bug as it was"
def register_all(package: types.ModuleType) -> None:
    broken_register_all(package)


# %% exercise="01.6" role="mutant" why="goes one level down and no further"
def register_all(package: types.ModuleType) -> None:
    for module in pkgutil.iter_modules(package.__path__):
        imported = importlib.import_module(f"{package.__name__}.{module.name}")
        if module.ispkg:
            broken_register_all(imported)


# %% exercise="01.6" role="mutant" why="swallows what a module raises"
def register_all(package: types.ModuleType) -> None:
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            importlib.import_module(module.name)
        except ImportError:
            continue


# %% exercise="01.7" role="mutant" why="the first use of an op always asks"
def lookups() -> dict[str, int]:
    return {"hypot": 1, "no_such_op": 2, "twice": 2, "thrice": 1}


# %% exercise="01.7" role="mutant" why="what is missing is kept, too"
def lookups() -> dict[str, int]:
    return {"hypot": 0, "no_such_op": 1, "twice": 2, "thrice": 1}


# %% exercise="01.7" role="mutant" why="define does not ask"
def lookups() -> dict[str, int]:
    return {"hypot": 0, "no_such_op": 2, "twice": 1, "thrice": 0}


# %% exercise="01.7" role="mutant" why="a new overload is looked up again"
def lookups() -> dict[str, int]:
    return {"hypot": 0, "no_such_op": 2, "twice": 3, "thrice": 1}
