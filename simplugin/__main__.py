"""The ``simplugin`` command, also as ``python -m simplugin``."""

import atexit
import gc


def main() -> None:
    """Run the command."""
    # Imported modules stay until the end. To look through them for garbage, again and again and
    # once more at the end, takes a quarter of the time of a short command.
    gc.set_threshold(10_000)
    atexit.register(gc.freeze)
    from simplugin.cli import app

    app(prog_name="simplugin")


if __name__ == "__main__":
    main()
