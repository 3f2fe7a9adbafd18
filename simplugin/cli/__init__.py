"""The ``simplugin`` command."""

from simplugin.cli.app import app

__all__ = ["app"]
