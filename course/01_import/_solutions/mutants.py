"""Wrong answers to the exercises of chapter 01: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which stand in exercises.py.
"""


# %% exercise="01.1" role="mutant" why="the module's function first, as the name PyInit suggests"
def order_of_import() -> list[str]:
    return ["PyInit__C", "registerDef", "initDtypes", "initTensorBase", "initOps", "register_derivative"]


# %% exercise="01.1" role="mutant" why="formulas register with their ops"
def order_of_import() -> list[str]:
    return ["registerDef", "register_derivative", "PyInit__C", "initDtypes", "initTensorBase", "initOps"]


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
def mended_source() -> str:
    return BROKEN


# %% exercise="01.4" role="mutant" why="moves the registry up, which helps in this file only"
def mended_source() -> str:
    return BROKEN.replace("extern Registry registry;", "Registry registry;").replace(");\n\nRegistry registry;", ");")


# %% exercise="01.4" role="mutant" why="moves the registrars down"
def mended_source() -> str:
    lines = [line for line in BROKEN.splitlines() if not line.startswith("static const Registrar")]
    return "\n".join([*lines, "static const Registrar softsign(1);"])


# %% exercise="01.4" role="mutant" why="a pointer, which the registrars follow before it points anywhere"
def mended_source() -> str:
    source = BROKEN.replace("extern Registry registry", "extern Registry* registry").replace("registry.", "registry->")
    return source.replace("\nRegistry registry;", "\nRegistry* registry = new Registry();")


# %% exercise="01.5" role="mutant" why="takes loading for importing"
def after_loading() -> dict[str, bool]:
    return {
        "the Dispatcher knows its schema": True,
        "_C._VariableFunctions has a function of its name": True,
        "torch.Tensor has a method of its name": True,
        "autograd has a formula for it": False,
    }


# %% exercise="01.5" role="mutant" why="thinks that the registry is closed"
def after_loading() -> dict[str, bool]:
    return {
        "the Dispatcher knows its schema": False,
        "_C._VariableFunctions has a function of its name": False,
        "torch.Tensor has a method of its name": False,
        "autograd has a formula for it": False,
    }
