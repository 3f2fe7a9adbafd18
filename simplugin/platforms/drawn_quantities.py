"""Types of quantities that a document gives as a number, a text with a unit, or a law."""

from __future__ import annotations

import functools
from operator import or_
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, create_model

from simplugin.core.errors import PlatformError
from simplugin.inputs.messages import InvalidValueError
from simplugin.inputs.quantities import POSITIVE, HostSpeed, Latency, LinkBandwidth, Time
from simplugin.inputs.sections import Section
from simplugin.platforms.laws import PARAMETERS, WITHOUT_UNIT, Law


def drawn(kind: Any, parameter: Any = None) -> Any:
    """Return the type of a number, or of the law that it is drawn from as a table.

    Parameters
    ----------
    kind : type
        Of the number.
    parameter : type, optional
        Type of the law's dimensional parameters; by default `kind`, above 0.
    """
    # Laws are of positive numbers, whatever is drawn.
    own: Any = kind if parameter is None else parameter
    laws: list[Any] = []
    for name, keys in PARAMETERS.items():
        kinds = {key: float if key in WITHOUT_UNIT else own for key in keys}
        types: Any = {key: (Annotated[each, POSITIVE], ...) for key, each in kinds.items()}
        types["law"] = (Literal[name], ...)
        laws.append(create_model(name, __base__=Section, **types))
    law: Any = Annotated[
        functools.reduce(or_, laws), Field(discriminator="law"), AfterValidator(_law)
    ]
    return Annotated[
        Annotated[kind, Tag("a number")] | Annotated[law, Tag("a law")],
        Discriminator(lambda value: "a law" if isinstance(value, dict) else "a number"),
    ]


def _law(values: Any) -> Law:
    """Return the law that a table describes."""
    try:
        return Law(values.law, tuple(getattr(values, key) for key in PARAMETERS[values.law]))
    except PlatformError as error:
        raise InvalidValueError(f"{{key}}: {error.message}", error.remedy) from None


if TYPE_CHECKING:
    DrawnSpeed = float | Law
    DrawnBandwidth = float | Law
    DrawnLatency = float | Law
else:
    DrawnSpeed = drawn(HostSpeed)
    DrawnBandwidth = drawn(LinkBandwidth)
    DrawnLatency = drawn(Latency, Time)
