"""The ``simplugin`` command, also as ``python -m simplugin``."""

import atexit
import gc
import warnings


def main() -> None:
    """Run the command."""
    # Imported modules stay until the end. To look through them for garbage, again and again and
    # once more at the end, takes a quarter of the time of a short command.
    gc.set_threshold(10_000)
    atexit.register(gc.freeze)
    # A warning is about a file of the user's, not about a line of ours.
    warnings.formatwarning = lambda message, *_: f"simplugin: {message}\n"
    from simplugin.cli import app

    app(prog_name="simplugin")


if __name__ == "__main__":
    main()
