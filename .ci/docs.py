"""Writes the reference of the Python API as HTML, from the docstrings.

Mirrors: nothing in PyTorch: it uses Sphinx; this program needs only the standard library.

    python .ci/docs.py build/docs
"""

import importlib
import pkgutil
import pydoc
import sys
from pathlib import Path


def module_names(package: str) -> list[str]:
    """Return the names of the package and of its public modules, except modules that run only inside gdb."""
    root = importlib.import_module(package)
    found = [package]
    for info in pkgutil.walk_packages(root.__path__, package + "."):
        private = any(part.startswith("_") and not part.startswith("__") for part in info.name.split("."))
        if not private and not info.name.startswith(f"{package}.debug.gdb"):
            found.append(info.name)
    return found


def main(target: Path) -> None:
    target.mkdir(parents=True, exist_ok=True)
    names = module_names("reftorch")
    for name in names:
        module = importlib.import_module(name)
        page = pydoc.html.page(pydoc.describe(module), pydoc.html.document(module, name))
        (target / f"{name}.html").write_text(page, encoding="utf-8")
    print(f"{len(names)} pages; start at {target / 'reftorch.html'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
