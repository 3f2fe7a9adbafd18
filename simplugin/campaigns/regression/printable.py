"""Texts of files and programs, as terminals and XML can have them."""

from __future__ import annotations

import re

# Control characters, which would act on a terminal, and what neither UTF-8 nor XML can write.
_UNPRINTABLE = re.compile("[^\t\n -~\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    """Return a text with a replacement for each character that cannot be shown."""
    return _UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)
