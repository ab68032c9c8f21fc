"""The version of the package.

Mirrors: torch/version.py
Leaves out: the hash of the commit and the versions of GPU toolkits.
"""

__version__ = "0.1.0"
