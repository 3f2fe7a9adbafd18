"""A terminal that no text can steer."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from simplugin.core.formatting import EscapingStream, printable


class EscapingConsole(Console):
    """A console that shows texts with escapes instead of what would steer a terminal.

    A closed pipe is left to the program; rich would end it without a word.

    Parameters
    ----------
    stderr : bool
        True to write to the standard error instead of the standard output.
    highlight : bool
        True to colour numbers and names.
    """

    def __init__(self, *, stderr: bool = False, highlight: bool = True) -> None:
        super().__init__(stderr=stderr, highlight=highlight)
        if self._file is None:
            stream = sys.stderr if self.stderr else sys.stdout
            # Colours and movements are its own.
            self.file = stream.stream if isinstance(stream, EscapingStream) else stream

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """Render as a console does, and escape texts."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text), style, control)

    def on_broken_pipe(self) -> None:
        """Raise the caught exception."""
        raise
