"""The colours of a code cell: Python with magics, and what the course's cell magics take: C++, or a patch.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: lines of shell and other magics of IPython, which the lexer of IPython knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ipython_pygments_lexers import IPython3Lexer
from pygments.lexer import Lexer
from pygments.lexers import CppLexer, DiffLexer, PythonLexer
from pygments.token import Keyword, Token, _TokenType

Piece = tuple[int, _TokenType, str]
MAGIC = re.compile(r"%%(\w+)[^\n]*\n")


class CellLexer(Lexer):
    """One cell of a notebook of the course."""

    name = "A cell of the reftorch course"

    def get_tokens_unprocessed(self, text: str, **options: Any) -> Iterator[Piece]:
        """The pieces of a cell, each with its kind."""
        magic = MAGIC.match(text)
        if magic is None:
            yield from IPython3Lexer().get_tokens_unprocessed(text)
            return
        yield 0, Keyword, magic[0]
        end = magic.end()
        if magic[1] == "rebuild":  # the first empty line ends the patch
            patch = text.find("\n\n", end) + 1 or len(text)
            yield from _moved(DiffLexer(), text[end:patch], end)
            yield from _moved(PythonLexer(), text[patch:], patch)
        else:
            yield from _moved(CppLexer() if magic[1] == "cpp" else PythonLexer(), text[end:], end)


def _moved(lexer: Lexer, text: str, start: int) -> Iterator[Piece]:
    for position, kind, piece in lexer.get_tokens_unprocessed(text):
        yield start + position, Token.Text if kind is Token.Error else kind, piece
