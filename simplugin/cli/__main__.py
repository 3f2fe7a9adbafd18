"""Run the command as ``python -m simplugin.cli``."""

from simplugin.cli.app import app

app(prog_name="simplugin")
