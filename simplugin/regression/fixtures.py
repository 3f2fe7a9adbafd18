"""What the fixtures `simulation` and `platform` of the pytest plug-in return."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from simplugin.errors import ScenarioError, SimpluginError

if TYPE_CHECKING:
    from simplugin.inputs.kinds import Outcome
    from simplugin.platforms import Platform
    from simplugin.simulation import Result
    from simplugin.simulation.placement import Actors


@dataclass(frozen=True)
class Places:
    """Where the files are looked for that tests name.

    Attributes
    ----------
    directories : tuple of Path
        That of the test, then the session's root.
    """

    directories: tuple[Path, ...]

    def file(self, name: str | os.PathLike[str]) -> Path:
        """Return a file that a test names.

        Raises
        ------
        SimpluginError
            It is in none of the directories.
        """
        for directory in self.directories:
            path = directory / name
            if path.is_file():
                return path
        looked = " and ".join(str(directory) for directory in self.directories)
        raise SimpluginError(f"there is no file {os.fspath(name)!r}; looked in {looked}")


@dataclass(frozen=True)
class Simulations:
    """Runs scenarios, or actors on a platform."""

    places: Places

    @overload
    def __call__(self, what: str | os.PathLike[str], /, **changes: Any) -> Outcome: ...

    @overload
    def __call__(
        self, what: Platform | str | os.PathLike[str], actors: Actors, /, **arguments: Any
    ) -> Result: ...

    def __call__(self, what: Any, actors: Any = None, /, **given: Any) -> Outcome | Result:
        """Run a scenario with changes at dotted keys, or actors on a platform.

        Parameters
        ----------
        what : path or Platform
            A scenario file, relative to the test's directory or the root; with actors, a
            platform or its file.
        actors : actors, optional
            As `simplugin.simulate` takes them.
        **given
            Without actors: values for keys of the scenario, such as
            ``**{"scheduler.name": "bags.fcfs"}``. With actors: arguments of `simplugin.simulate`.

        Raises
        ------
        SimpluginError
            A file is not there, a key leads into nothing, or what running raises.
        """
        if actors is None:
            return self._scenario(what, given)
        from simplugin.simulation import simulate

        if isinstance(what, str | os.PathLike):
            what = self.places.file(what)
        if isinstance(actors, str | os.PathLike):
            actors = self.places.file(actors)
        return simulate(what, actors, **given)

    def _scenario(self, name: str | os.PathLike[str], changes: dict[str, Any]) -> Outcome:
        """Run a scenario file with other values at some keys."""
        from simplugin.scenarios.scenario import load_scenario, run_scenario, scenario_from
        from simplugin.scenarios.substitutions import NowhereError, path_of, plain, substituted

        if not isinstance(name, str | os.PathLike):
            raise SimpluginError(
                f"simulation({name!r}): give a scenario file, or a platform and its actors"
            )
        scenario = load_scenario(self.places.file(name))
        if not changes:
            return run_scenario(scenario)
        document: Any = scenario.document
        for key, value in changes.items():
            try:
                document = substituted(document, path_of(document, [key]), plain(value))
            except NowhereError as error:
                raise ScenarioError(error.message, file=name, remedy=error.remedy) from None
        # The lines of the file are not those of the changed document.
        return run_scenario(scenario_from(document, scenario.file))


@dataclass(frozen=True)
class Platforms:
    """Finds platform files, and makes platforms."""

    places: Places

    def __call__(self, name: str | os.PathLike[str], /, **parameters: Any) -> Path | Platform:
        """Return a platform file, or what a generator makes.

        Parameters
        ----------
        name : path or str
            An XML file, relative to the test's directory or the root; a shipped generator; or
            ``module:function`` of a module beside the test.
        **parameters
            Of the generator.

        Raises
        ------
        SimpluginError
            There is no such file or generator, or it refuses its parameters.
        """
        from simplugin.scenarios.generators.calls import generator_called
        from simplugin.scenarios.importing import importable

        if Path(name).suffix.lower() == ".xml":
            if parameters:
                raise SimpluginError(f"{os.fspath(name)}: a platform file has no parameters")
            return self.places.file(name)
        directory = self.places.directories[0]
        with importable(directory):
            generator = generator_called(os.fspath(name), "beside the test")
            return generator.platform(parameters, directory)


def places_of(test_file: Path, root: Path) -> Places:
    """Return where a test's files are looked for."""
    return Places(tuple(dict.fromkeys((test_file.parent, root))))
