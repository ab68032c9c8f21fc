"""The version of the package.

Mirrors: torch/version.py
Leaves out: the hash of the commit.
"""

__version__ = "0.1.0"
debug = False
cuda = None  # the versions of GPU toolkits; there are none
hip = None
