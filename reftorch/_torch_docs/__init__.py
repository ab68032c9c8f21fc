"""What each op does, in words: the texts behind ``help(torch.add)``, Shift-Tab and hover.

Mirrors: torch/_torch_docs.py, torch/_tensor_docs.py
Leaves out: texts for ``foo_`` and ``out=``, which follow from those of ``foo``.

One file for each family of ops; ``_describe`` reads them all when a docstring is first asked for, so that
``import reftorch`` does not pay for them. This package itself is imported with reftorch and is empty: a walk over the
names of ``reftorch`` that asks for docstrings must not add a name to what it walks over.
"""
