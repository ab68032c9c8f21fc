"""A part of debugpy's package of this name, in which its debugger looks for plugins that show a type.

Mirrors: nothing in PyTorch: its tensors are shown in a debugger by their attributes, those that raise included.
Left out: nothing: all is in extensions/.
"""

import pkgutil

__path__ = pkgutil.extend_path(__path__, __name__)
