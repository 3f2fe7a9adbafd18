"""The trace of a simulation: its activities as columns."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simplugin.core.errors import SetupError, SimpluginError
from simplugin.core.formatting import html_table, readable
from simplugin.simulation.chrome_trace import write_chrome_trace
from simplugin.simulation.digests import canonical_bytes

if TYPE_CHECKING:
    from os import PathLike

    import pandas as pd

KINDS = ("exec", "ptask", "comm", "sleep", "read", "write")
STATES = ("done", "failed", "canceled")
# Of amounts, by kind.
UNITS = {
    "exec": "flop",
    "ptask": "flop",
    "comm": "byte",
    "sleep": "s",
    "read": "byte",
    "write": "byte",
}
COLUMNS = ("actor", "resource", "kind", "label", "start", "end", "amount", "state")
# Activities that a notebook shows.
_SHOWN = 20


def read_only(values: Any, dtype: Any) -> NDArray[Any]:
    """Return `values`, numbers or their bytes, as an array that cannot be written to."""
    if isinstance(values, bytes):
        return np.frombuffer(values, dtype)
    # A copy, since a view's base could still be written to.
    column = np.array(values, dtype=dtype)
    column.flags.writeable = False
    return column


class TraceColumns:
    """Data classes of texts and of columns that cannot be written to.

    They are equal when the canonical bytes of their fields are, and show themselves in notebooks.
    """

    # Of the columns; the other fields are tuples of texts.
    dtypes: ClassVar[Mapping[str, Any]]

    def __post_init__(self) -> None:
        """Freeze the columns."""
        for each in fields(self):  # type: ignore[arg-type]
            value = getattr(self, each.name)
            dtype = self.dtypes.get(each.name)
            frozen = tuple(value) if dtype is None else read_only(value, dtype)
            object.__setattr__(self, each.name, frozen)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Unpickle; numpy forgets that an array was read-only."""
        self.__dict__.update(state)
        for name in self.dtypes:
            state[name].flags.writeable = False

    def __eq__(self, other: object) -> bool:
        """Compare the fields; NaN equals itself."""
        if type(other) is not type(self):
            return NotImplemented
        return self is other or self._bytes() == other._bytes()

    def __hash__(self) -> int:
        """Hash the fields."""
        return hash(self._bytes())

    def __repr__(self) -> str:
        """Return the kind and number of rows; there may be millions."""
        return f"<{type(self).__name__}: {len(self)} rows>"

    def __len__(self) -> int:
        raise NotImplementedError

    def _bytes(self) -> bytes:
        """Return the canonical bytes of the fields."""
        return canonical_bytes([getattr(self, each.name) for each in fields(self)])  # type: ignore[arg-type]


@dataclass(frozen=True, eq=False, repr=False)
class Trace(TraceColumns):
    """The activities of a simulation, in order of their end.

    Two traces are equal when all their columns are, to the last bit; NaN equals itself.

    Texts are stored once: row i concerns actor ``actor_names[actor_code[i]]``, and so on. The
    properties `actor`, `resource`, `kind`, `label` and `state` give the texts row by row.

    Attributes
    ----------
    actor_code, resource_code, label_code : int32, shape (n,)
        Positions in the lists of names; a label of -1 is none.
    kind_code : int8, shape (n,)
        Position in ``("exec", "ptask", "comm", "sleep", "read", "write")``.
    state_code : int8, shape (n,)
        Position in ``("done", "failed", "canceled")``.
    start, end : float64, shape (n,)
        Dates [s].
    amount : float64, shape (n,)
        Work of an execution or a parallel task [flop], size of a transfer [byte], length of a
        sleep [s].
    actor_names, resource_names, label_names : tuple of str
        Texts. The resource is a host, or ``source->destination`` for a transfer.
    """

    dtypes: ClassVar[Mapping[str, Any]] = {
        **dict.fromkeys(("actor_code", "resource_code", "label_code"), np.int32),
        **dict.fromkeys(("kind_code", "state_code"), np.int8),
        **dict.fromkeys(("start", "end", "amount"), np.float64),
    }

    # False if the simulation ran with trace=False, as its `Result` knows.
    is_kept: ClassVar[bool] = True

    actor_code: NDArray[np.int32]
    resource_code: NDArray[np.int32]
    kind_code: NDArray[np.int8]
    label_code: NDArray[np.int32]
    start: NDArray[np.float64]
    end: NDArray[np.float64]
    amount: NDArray[np.float64]
    state_code: NDArray[np.int8]
    actor_names: tuple[str, ...]
    resource_names: tuple[str, ...]
    label_names: tuple[str, ...]

    @classmethod
    def from_columns(cls, columns: Mapping[str, Any]) -> Trace:
        """Build from a back end's columns; their codes are called `kind` and `state`."""
        given = dict(columns)
        for name in ("kind", "state"):
            if name in given:
                given[f"{name}_code"] = given.pop(name)
        # Half of a surrogate pair could not be written to any file.
        labels = (each.encode(errors="backslashreplace") for each in given.get("label_names", ()))
        given["label_names"] = tuple(each.decode() for each in labels)
        return cls(**{each.name: given.get(each.name, ()) for each in fields(cls)})

    def __len__(self) -> int:
        """Return the number of activities."""
        return len(self.start)

    @property
    def actor(self) -> NDArray[np.str_]:
        """Actor of each activity."""
        return _texts(self.actor_names, self.actor_code)

    @property
    def resource(self) -> NDArray[np.str_]:
        """Host, or ``source->destination``, of each activity."""
        return _texts(self.resource_names, self.resource_code)

    @property
    def kind(self) -> NDArray[np.str_]:
        """Kind of each activity."""
        return _texts(KINDS, self.kind_code)

    @property
    def label(self) -> NDArray[np.str_]:
        """Label of each activity, empty where it has none."""
        # The code -1 of "no label" finds the last text.
        return _texts((*self.label_names, ""), self.label_code)

    @property
    def state(self) -> NDArray[np.str_]:
        """State of each activity at its end."""
        return _texts(STATES, self.state_code)

    def rows(self) -> Iterator[tuple[str, str, str, str, float, float, float, str]]:
        """Go through the activities as tuples in the order of `COLUMNS`."""
        columns = [getattr(self, name).tolist() for name in COLUMNS]
        return zip(*columns, strict=True)

    def to_pandas(self) -> pd.DataFrame:
        """Return a data frame; texts are categories, a missing label is missing."""
        import pandas as pd

        columns: dict[str, Any] = {name: getattr(self, name) for name in COLUMNS[4:7]}
        texts: dict[str, tuple[tuple[str, ...], NDArray[Any]]] = {
            "actor": (self.actor_names, self.actor_code),
            "resource": (self.resource_names, self.resource_code),
            "kind": (KINDS, self.kind_code),
            "label": (self.label_names, self.label_code),
            "state": (STATES, self.state_code),
        }
        for name, (names, codes) in texts.items():
            columns[name] = pd.Categorical(np.array((*names, None), dtype=object)[codes])
        return pd.DataFrame({name: columns[name] for name in COLUMNS})

    def _repr_html_(self) -> str:
        """Show the first activities in a notebook."""
        first = replace(self, **{name: getattr(self, name)[:_SHOWN] for name in self.dtypes})
        lines = [(*row[:6], readable(row[6], UNITS[row[2]]), row[7]) for row in first.rows()]
        columns = [(name, "s" if name in ("start", "end") else "") for name in COLUMNS]
        return html_table(columns, lines, len(self), title="Activities", most=_SHOWN)

    def to_csv(self, path: str | PathLike[str]) -> None:
        """Write a CSV file with a header line; floats keep every digit."""
        with Path(path).open("w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(COLUMNS)
            writer.writerows(self.rows())

    def to_chrome(self, path: str | PathLike[str]) -> None:
        """Write the Trace Event Format that ui.perfetto.dev and chrome://tracing show, as JSON.

        A process is a host, a thread a lane of executions, transfers or sleeps that do not overlap;
        arrows lead from the senders of transfers to the receivers. Dates are in microseconds,
        with fractions.

        Raises
        ------
        SimpluginError
            The simulation ran with ``trace=False``.
        """
        if not (self.is_kept or len(self)):
            raise SimpluginError("the result has no trace to write; simulate with trace=True")
        with Path(path).open("w", encoding="utf-8") as file:
            write_chrome_trace(file, self.rows(), UNITS)

    def to_parquet(self, path: str | PathLike[str]) -> None:
        """Write a Parquet file; texts are dictionary-encoded.

        Raises
        ------
        SetupError
            pyarrow is not installed.
        """
        try:
            self.to_pandas().to_parquet(path, engine="pyarrow")
        except ImportError as error:
            raise SetupError("Parquet files need pyarrow; pip install pyarrow") from error


def _texts(names: tuple[str, ...], codes: NDArray[Any]) -> NDArray[np.str_]:
    """Return the text of each code."""
    # An empty list of names has nothing to take from, and no codes either.
    texts: NDArray[np.str_] = np.array(names or ("",), dtype=np.str_)[codes]
    return texts
