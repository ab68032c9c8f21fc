"""Wrong answers to the exercises of chapter 11: what each check must reject, and why somebody would write it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: the tasks, the right answers and the checks, which are in exercises.py.
"""


# %% exercise="11.1" role="mutant" why="counts what each tensor shows"
def costs() -> dict[str, int]:
    return {"a": 40, "b": 40, "c": 11800, "d": 8000, "e": 800, "f": 8000, "g": 4000}


# %% exercise="11.1" role="mutant" why="takes contiguous() for a view, and equal values for one storage"
def costs() -> dict[str, int]:
    return {"a": 4000, "b": 40, "c": 4000, "d": 4000, "e": 4000, "f": 8000, "g": 4}


# %% exercise="11.2" role="mutant" why="clones everything"
def compact(obj):
    if isinstance(obj, torch.Tensor):
        return obj.clone()
    if isinstance(obj, dict):
        return {key: compact(value) for key, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        return type(obj)(compact(value) for value in obj)
    return obj


# %% exercise="11.2" role="mutant" why="contiguous() leaves a row as it is"
def compact(obj):
    if isinstance(obj, torch.Tensor):
        return obj.contiguous()
    if isinstance(obj, dict):
        return {key: compact(value) for key, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        return type(obj)(compact(value) for value in obj)
    return obj


# %% exercise="11.2" role="mutant" why="makes lists of tuples"
def compact(obj):
    if isinstance(obj, torch.Tensor):
        return obj.clone() if obj.untyped_storage().nbytes() > obj.nbytes else obj
    if isinstance(obj, dict):
        return {key: compact(value) for key, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        return [compact(value) for value in obj]
    return obj


# %% exercise="11.2" role="mutant" why="makes a plain dict of an OrderedDict"
def compact(obj):
    if isinstance(obj, torch.Tensor):
        return obj.clone() if obj.untyped_storage().nbytes() > obj.nbytes else obj
    if isinstance(obj, dict):
        return {key: compact(value) for key, value in obj.items()}
    if isinstance(obj, (list, tuple)):
        values = [compact(value) for value in obj]
        return type(obj)(*values) if hasattr(obj, "_fields") else type(obj)(values)
    return obj


# %% exercise="11.2" role="mutant" why="makes a plain tuple of a named one"
def compact(obj):
    if isinstance(obj, torch.Tensor):
        return obj.clone() if obj.untyped_storage().nbytes() > obj.nbytes else obj
    if isinstance(obj, dict):
        new = copy.copy(obj)
        new.update({key: compact(value) for key, value in obj.items()})
        return new
    if isinstance(obj, (list, tuple)):
        values = [compact(value) for value in obj]
        return tuple(values) if isinstance(obj, tuple) else values
    return obj


# %% exercise="11.2" role="mutant" why="changes the dict that it was given"
def compact(obj):
    if isinstance(obj, torch.Tensor):
        return obj.clone() if obj.untyped_storage().nbytes() > obj.nbytes else obj
    if isinstance(obj, dict):
        obj.update({key: compact(value) for key, value in obj.items()})
        return obj
    if isinstance(obj, (list, tuple)):
        values = [compact(value) for value in obj]
        return type(obj)(*values) if hasattr(obj, "_fields") else type(obj)(values)
    return obj


# %% exercise="11.3" role="mutant" why="knows GLOBAL only"
def names_in(data: bytes) -> list[str]:
    found = {argument for instruction, argument, _ in pickletools.genops(data) if instruction.name == "GLOBAL"}
    return sorted(name.replace(" ", ".") for name in found)


# %% exercise="11.3" role="mutant" why="forgets the memo"
def names_in(data: bytes) -> list[str]:
    texts, found = [], set()
    for instruction, argument, _ in pickletools.genops(data):
        if instruction.name == "GLOBAL":
            found.add(argument.replace(" ", "."))
        elif instruction.name == "STACK_GLOBAL":
            found.add(f"{texts[-2]}.{texts[-1]}")
        elif instruction.name.endswith("BINUNICODE"):
            texts.append(argument)
    return sorted(found)


# %% exercise="11.4" role="mutant" why="the bug as it was"
def steps(model, inputs, targets, count, rate):
    broken_steps(model, inputs, targets, count, rate)


# %% exercise="11.4" role="mutant" why="moves the new storage into shared memory, which the parent does not have"
def steps(model, inputs, targets, count, rate):
    for _ in range(count):
        broken_steps(model, inputs, targets, 1, rate)
        model.share_memory()


# %% exercise="11.4" role="mutant" why="adds the gradients of all steps"
def steps(model, inputs, targets, count, rate):
    for _ in range(count):
        ((model(inputs) - targets) ** 2).mean().backward()
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.sub_(rate * parameter.grad)


# %% exercise="11.5" role="mutant" why="breaks the writing: the file has two storages"
def change() -> tuple[str, str]:
    return (
        "reftorch/serialization/saving.py",
        """
-        key = self._keys.setdefault(storage._cdata, str(storage._cdata if self.legacy else len(self._keys)))
+        key = str(len(self.by_key))
""",
    )


# %% exercise="11.5" role="mutant" why="loses the offset, and PROGRAM has no view with an offset"
def change() -> tuple[str, str]:
    return (
        "reftorch/_utils.py",
        """
-    tensor = _rebuild_tensor(storage, storage_offset, size, stride)
+    tensor = _rebuild_tensor(storage, 0, size, stride)
""",
    )


# %% exercise="11.6" role="mutant" why="gives each tensor a key of its own"
def storages() -> dict[str, tuple[str, int]]:
    return {"row": ("0", 1000), "column": ("1", 1000), "copy": ("2", 10), "half": ("3", 10), "whole": ("4", 1000)}


# %% exercise="11.6" role="mutant" why="counts what each tensor shows"
def storages() -> dict[str, tuple[str, int]]:
    return {"row": ("0", 10), "column": ("0", 100), "copy": ("1", 10), "half": ("2", 10), "whole": ("0", 1000)}
