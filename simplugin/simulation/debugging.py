"""A simulation in the caller's own process, for debuggers."""

from __future__ import annotations

import contextlib
import locale
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from simplugin.errors import SetupError
from simplugin.simulation.protocol import ActorJob, Settings

if TYPE_CHECKING:
    from simplugin.simulation.api.callbacks import Callbacks


def simulate_here(
    settings: Settings,
    actors: Sequence[ActorJob],
    callbacks: Callbacks | None,
    progress: Callable[[float, int], None] | None,
) -> bytes:
    """Simulate in this process and return the body of the result.

    An exception's traceback ends where the actor raised, so that debuggers show that place.

    """
    from simplugin.simulation import child

    try:
        child.prepare(settings.back_end)
    except ImportError as error:
        raise SetupError(
            f"the back end cannot be loaded: {error}; `make install` builds it"
        ) from error
    # SimGrid would run what is left of actors when the process ends.
    arguments = [*settings.arguments, "--cfg=debug/clean-atexit:no"]
    with _restored():
        child.seed(settings.seed)
        sys.set_coroutine_origin_tracking_depth(1)  # names the line of what is never awaited
        try:
            owner = child.Owner(progress)
            return child.simulate(replace(settings, arguments=arguments), actors, callbacks, owner)
        except Exception as error:
            known = child.known_error(error)
            inside = known.__cause__ and known.__cause__.__traceback__
            raise known.with_traceback(inside or known.__traceback__) from known.__cause__


@contextlib.contextmanager
def _restored() -> Iterator[None]:
    """Give the process back as it was: what a simulation changes in a process of its own."""
    import numpy as np

    stdout, depth = sys.stdout, sys.get_coroutine_origin_tracking_depth()
    warn = warnings._warn_unawaited_coroutine  # type: ignore[attr-defined]
    draws, global_draws = random.getstate(), np.random.get_state()  # noqa: NPY002
    categories = (locale.LC_NUMERIC, locale.LC_CTYPE)
    places = [locale.setlocale(category) for category in categories]
    try:
        yield
    finally:
        for category, place in zip(categories, places, strict=True):
            locale.setlocale(category, place)
        random.setstate(draws)
        np.random.set_state(global_draws)  # noqa: NPY002
        warnings._warn_unawaited_coroutine = warn  # type: ignore[attr-defined]
        sys.set_coroutine_origin_tracking_depth(depth)
        sys.stdout = stdout
