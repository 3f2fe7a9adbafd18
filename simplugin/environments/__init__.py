"""Scenarios with choices as Gymnasium environments; the import registers them."""

import lazy_loader

from simplugin.core.errors import SetupError

try:
    import gymnasium
except ImportError as error:
    raise SetupError("environments need Gymnasium; pip install 'simplugin[rl]'") from error

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

for _name in ("TaskGraphs", "Bags", "Actors"):
    gymnasium.register(f"simplugin/{_name}-v0", f"simplugin.environments.kinds:{_name}Environment")
