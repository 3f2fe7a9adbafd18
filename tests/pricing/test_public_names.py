import subprocess
import sys
from types import ModuleType

import pytest

from simplugin import pricing


@pytest.mark.parametrize("name", pricing.__all__)
def test_public_names_are_no_modules(name):
    """A submodule of the same name would take the place of the name when it is imported."""
    assert not isinstance(getattr(pricing, name), ModuleType)


def test_the_package_loads_nothing():
    code = "import sys, simplugin.pricing; print('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_unknown_names():
    with pytest.raises(AttributeError, match="no attribute 'price'"):
        pricing.price  # noqa: B018
