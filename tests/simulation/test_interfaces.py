"""Both back ends offer what the documented interfaces say."""

import inspect
import pkgutil
from importlib import import_module

import pytest

from simplugin.simulation import _driver, api, threads

INTERFACES = [getattr(api, name) for name in api.__all__]


def names_of(interface):
    own = {n for n in vars(interface) if not n.startswith("_") or n == "__await__"}
    return own | set(vars(interface).get("__annotations__", {}))


def in_threads(name):
    for module in pkgutil.iter_modules(threads.__path__):
        found = getattr(import_module(f"{threads.__name__}.{module.name}"), name, None)
        if inspect.isclass(found) and found.__module__.startswith(threads.__name__):
            return found
    raise AssertionError(f"no {name} in {threads.__name__}")


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda interface: interface.__name__)
def test_the_compiled_types_offer_the_interface(interface):
    # A route is a named tuple that the driver makes on demand.
    if interface is not api.Route:
        assert names_of(interface) - set(dir(getattr(_driver, interface.__name__))) == set()


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda interface: interface.__name__)
def test_the_reference_types_offer_the_interface(interface):
    found = in_threads(interface.__name__)
    offered = set(dir(found)) | set(inspect.get_annotations(found)) | in_init(found)
    assert names_of(interface) - offered == set()


def in_init(found):
    makers = [vars(kind).get("__init__") for kind in found.__mro__]
    return {n for maker in makers if inspect.isfunction(maker) for n in maker.__code__.co_names}
