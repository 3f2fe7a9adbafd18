"""Deployments of a master and its workers, and arguments of actors with placeholders."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from simplugin.core.errors import DeploymentError, FileError
from simplugin.platforms.deployment import DIE, DeployedActor, Deployment
from simplugin.platforms.host_choices import ALL, HostChoice
from simplugin.platforms.platform import Platform
from simplugin.platforms.validation import require_name

# Name in place of the parent of a root among the arguments of an actor.
NO_PARENT = "-"


@dataclass(frozen=True)
class ActorLifetime:
    """When actors start and end.

    Attributes
    ----------
    start_time : float
        Date of the start [s].
    kill_time : float, optional
        Date at which those that still run are killed [s]; None for never.
    on_failure : str
        Fate of an actor whose host fails and comes back: ``DIE`` or ``RESTART``.
    """

    start_time: float = 0.0
    kill_time: float | None = None
    on_failure: str = DIE

    def actor(self, host: str, function: str, arguments: tuple[str, ...]) -> DeployedActor:
        """Return an actor of this lifetime."""
        times = (self.start_time, self.kill_time, self.on_failure)
        return DeployedActor(host, function, arguments, *times)


WHOLE_RUN = ActorLifetime()


@dataclass(frozen=True)
class ActorProgram:
    """A function that actors run, and its arguments, which may hold placeholders."""

    function: str
    arguments: Sequence[str] = ()


@dataclass(frozen=True)
class ApplicationTree:
    """An application's tree of hosts.

    Attributes
    ----------
    application : str
        Name of the application.
    root : str
        The host from which all others receive, often that of a master.
    parent : mapping of str to str
        The parent of each host but the root; what `pricing.platform_trees.sharing_of` takes for
        an application, and `bags.trees.tree_of` as parents. Put into breadth-first
        order: parents first, the children of a host in the order in which they were given.

    Raises
    ------
    DeploymentError
        The parents make no tree with this root; the message names the application and a host.
    """

    application: str
    root: str
    parent: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        """Check the tree, and put hosts into order."""
        what = f"the tree of application {self.application!r}"
        try:
            require_name("an application", self.application)
            for host in (self.root, *self.parent, *self.parent.values()):
                require_name("a host", host)
            require_tree(self.root, self.parent)
        except FileError as error:
            raise DeploymentError(f"{what}: {error.message}", remedy=error.remedy) from None
        order = _breadth_first(self.root, self.parent)
        object.__setattr__(self, "parent", {host: self.parent[host] for host in order[1:]})

    @cached_property
    def hosts(self) -> tuple[str, ...]:
        """All hosts, in breadth-first order from the root."""
        return (self.root, *self.parent)

    @cached_property
    def children(self) -> dict[str, tuple[str, ...]]:
        """The children of each host, in their order; of a leaf, none."""
        found: dict[str, list[str]] = {host: [] for host in self.hosts}
        for host, parent in self.parent.items():
            found[parent].append(host)
        return {host: tuple(below) for host, below in found.items()}

    @cached_property
    def depth(self) -> dict[str, int]:
        """Number of hosts above each host."""
        depth = {self.root: 0}
        for host, parent in self.parent.items():
            depth[host] = depth[parent] + 1
        return depth

    def pruned(self, hosts: Collection[str]) -> ApplicationTree:
        """Return the smallest subtree that reaches some hosts.

        Parameters
        ----------
        hosts : collection of str
            To be kept, with the hosts above them.

        Raises
        ------
        DeploymentError
            A host is not in the tree.
        """
        kept = {self.root}
        for host in hosts:
            above = host
            while above not in kept:
                if above not in self.parent:
                    raise DeploymentError(
                        f"host {host!r} is not in the tree of application {self.application!r}",
                        remedy="leave it out, or join it to the root",
                    )
                kept.add(above)
                above = self.parent[above]
        parent = {host: above for host, above in self.parent.items() if host in kept}
        return ApplicationTree(self.application, self.root, parent)

    def deployment(
        self,
        function: str = "node",
        function_below: str | None = None,
        arguments: Sequence[str] = (),
        *,
        lifetime: ActorLifetime = WHOLE_RUN,
    ) -> Deployment:
        """Deploy an actor on each host, which gets its place in the tree.

        An actor's arguments are `arguments`, then the application, the parent's host (``-`` at
        the root) and the hosts of the children: ``async def node(me, application, parent,
        *children)``. Placeholders in `arguments`: ``{host}``, ``{application}``, ``{master}`` (the
        root), ``{workers}`` (how many hosts are below it), ``{number}`` (of the host in
        breadth-first order, 0 for the root), ``{depth}``; ``{hosts}`` as an argument of its own
        becomes all hosts but the root.

        Parameters
        ----------
        function : str
            Function of the actors.
        function_below : str, optional
            Function of the actors that are not at the root; None for the same.
        arguments : sequence of str
            Put before the place in the tree.
        lifetime : ActorLifetime
            Of all actors.

        Returns
        -------
        Deployment
            The actors in breadth-first order.

        Raises
        ------
        DeploymentError
            A placeholder means nothing, or a date is out of range.
        """
        actors = []
        known: dict[str, str | int] = {
            "application": self.application,
            "master": self.root,
            "workers": len(self.parent),
        }
        below = tuple(self.parent)
        for number, host in enumerate(self.hosts):
            values = {**known, "host": host, "number": number, "depth": self.depth[host]}
            place = (self.application, self.parent.get(host, NO_PARENT), *self.children[host])
            given = (*filled(arguments, values, below), *place)
            runs = function if number == 0 else function_below or function
            actors.append(lifetime.actor(host, runs, given))
        return Deployment(tuple(actors))


def application_trees(
    deployment: Deployment, functions: Collection[str] | None = None, before: int = 0
) -> tuple[ApplicationTree, ...]:
    """Read trees back from the actors that `ApplicationTree.deployment` made.

    Parameters
    ----------
    deployment : Deployment
        Actors of any number of applications.
    functions : collection of str, optional
        Look at actors that run one of these; None for all.
    before : int
        Number of arguments before an actor's place in its tree.

    Returns
    -------
    tuple of ApplicationTree
        In the order of their first actors; equal to those that the deployment was made from, the
        order of children included.

    Raises
    ------
    DeploymentError
        An actor does not say its place, two disagree about it, or there is no tree.
    """
    places: dict[str, dict[str, tuple[str, tuple[str, ...]]]] = {}
    for actor in deployment.actors:
        if functions is not None and actor.function not in functions:
            continue
        place = actor.arguments[before:]
        if len(place) < 2:
            raise DeploymentError(
                f"actor {actor.function!r} on host {actor.host!r} does not say its application"
                " and its parent",
                remedy="name the functions of the trees, and how many arguments come before",
            )
        hosts = places.setdefault(place[0], {})
        if actor.host in hosts:
            raise DeploymentError(
                f"application {place[0]!r} has two actors on host {actor.host!r}",
                remedy="give each host one",
            )
        hosts[actor.host] = place[1], place[2:]
    return tuple(_tree_of_places(application, hosts) for application, hosts in places.items())


def require_tree(root: str, parent: Mapping[str, str]) -> None:
    """Raise unless parents make a tree with a root.

    Parameters
    ----------
    root : str
        The host that all others are to be below.
    parent : mapping of str to str
        Of each other host.

    Raises
    ------
    DeploymentError
        They make none; its `path` is the host with the wrong parent.
    """
    reached = set(_breadth_first(root, parent))
    lost = next((host for host in parent if host not in reached), "")
    way = {lost: None} if lost else {}
    above = parent.get(lost, "")
    while above in parent and above not in way:
        way[above] = None
        above = parent[above]
    if root in parent:
        culprit, message = root, f"its root {root!r} has a parent, {parent[root]!r}"
        remedy = "leave that out, or choose another root"
    elif NO_PARENT in (root, *parent, *parent.values()):
        culprit, message = NO_PARENT, f"a host is called {NO_PARENT!r}"
        remedy = f"give that host another name: {NO_PARENT!r} means no parent"
    elif not lost:
        return
    elif above in way:
        ring = [*list(way)[list(way).index(above) :], above]
        culprit, message = above, f"the parents of {above!r} lead back to it: {_shown(ring)}"
        remedy = f"let them lead to the root {root!r}"
    else:
        culprit = list(way)[-1]
        message = f"host {lost!r} is not below the root {root!r}: {above!r} has no parent"
        remedy = "give it one: a tree has one root"
    error = DeploymentError(message, remedy=remedy)
    error.path = (culprit,)
    raise error


def sole_root(parent: Mapping[str, str]) -> str:
    """Return the host that is a parent and has none.

    Raises
    ------
    DeploymentError
        There is none, or there are several.
    """
    roots = list(dict.fromkeys(above for above in parent.values() if above not in parent))
    if len(roots) == 1:
        return roots[0]
    if not parent:
        raise DeploymentError("a tree without parents does not say its root", remedy="name it")
    if not roots:
        host = next(iter(parent))
        raise DeploymentError(
            f"every host has a parent, {host!r} too; there is no root",
            remedy="leave out the parent of the root",
        )
    raise DeploymentError(
        f"{_shown(roots, ' and ')} have no parent", remedy="leave one root, the parent of others"
    )


def _tree_of_places(
    application: str, hosts: Mapping[str, tuple[str, tuple[str, ...]]]
) -> ApplicationTree:
    """Return the tree that actors describe by their places."""
    roots = [host for host, (parent, _) in hosts.items() if parent == NO_PARENT]
    if len(roots) != 1:
        found = "no root" if not roots else f"several roots, {_shown(roots, ' and ')}"
        raise DeploymentError(
            f"application {application!r} has {found}",
            remedy=f"give one of its actors, and only one, the parent {NO_PARENT!r}",
        )
    # What parents say of their children, and children of their parents.
    below = [(child, host) for host, (_, children) in hosts.items() for child in children]
    above = [(host, parent) for host, (parent, _) in hosts.items() if parent != NO_PARENT]
    said, meant = Counter(below), Counter(above)
    if said != meant:
        child, host = next(iter((said - meant) + (meant - said)))
        raise DeploymentError(
            f"application {application!r}: the actors of host {host!r} and of its child {child!r}"
            " disagree, or one is missing",
            remedy="name parents and children alike, and once",
        )
    return ApplicationTree(application, roots[0], dict(below))


def _breadth_first(root: str, parent: Mapping[str, str]) -> list[str]:
    """Return the hosts that are below a root, and the root, in breadth-first order."""
    children: dict[str, list[str]] = {}
    for host, above in parent.items():
        children.setdefault(above, []).append(host)
    order = [root]
    for host in order:
        order += children.pop(host, ())
    return order


def _shown(hosts: Iterable[str], between: str = " <- ") -> str:
    """Return some names, not too many."""
    names = [repr(host) for host in hosts]
    return between.join(names if len(names) <= 8 else [*names[:7], "...", names[-1]])


HOSTS = "{hosts}"


def filled(
    arguments: Iterable[str], values: Mapping[str, str | int], hosts: Sequence[str]
) -> tuple[str, ...]:
    """Return arguments with values in the place of placeholders.

    Parameters
    ----------
    arguments : iterable of str
        Texts with placeholders as `str.format` has them, for instance ``{host}`` or
        ``{number:03}``; ``{{`` and ``}}`` for braces. An argument that is ``{hosts}`` and nothing
        else becomes as many as there are hosts.
    values : mapping of str to str or int
        The value of each placeholder.
    hosts : sequence of str
        The value of ``{hosts}``.

    Returns
    -------
    tuple of str
        The arguments.

    Raises
    ------
    DeploymentError
        A placeholder is unknown or a brace is unpaired; the message shows the argument.
    """
    result: list[str] = []
    for argument in arguments:
        if argument == HOSTS:
            result += hosts
            continue
        try:
            result.append(argument.format_map(values))
        except KeyError as error:
            [name] = error.args
            known = ", ".join(f"{{{each}}}" for each in (*values, "hosts"))
            message = f"argument {argument!r} has an unknown placeholder {{{name}}}"
            remedy = f"here are {known}; write {{{{ and }}}} for braces"
            if "{" + str(name) + "}" == HOSTS:
                message = f"argument {argument!r} has {HOSTS} within other text"
                remedy = f"give {HOSTS} as an argument of its own; it becomes one for each host"
            raise DeploymentError(message, remedy=remedy) from None
        except (AttributeError, IndexError, TypeError, ValueError) as error:
            message = f"argument {argument!r} cannot be filled in: {error}"
            remedy = "write {{ and }} for braces that are no placeholders"
            raise DeploymentError(message, remedy=remedy) from None
    return tuple(result)


def master_workers(
    platform: Platform,
    master: str,
    workers: str | int | Iterable[str] = ALL,
    *,
    master_program: ActorProgram = ActorProgram("master"),
    worker_program: ActorProgram = ActorProgram("worker"),
    per_host: int = 1,
    spread: bool = False,
    lifetime: ActorLifetime = WHOLE_RUN,
) -> Deployment:
    """Deploy a master and workers.

    Arguments may hold placeholders: ``{host}``, where the actor is; ``{master}``, the master's
    host; ``{workers}``, how many workers there are; for workers also ``{number}``, counted from 1,
    and ``{index}``, counted from 0. An argument ``{hosts}`` becomes the names of all workers'
    hosts, an argument each. See `actor_arguments.filled`.

    Parameters
    ----------
    platform : Platform
        Where.
    master : str
        The host of the master.
    workers : str, int, or iterable of str
        The hosts of the workers, as `HostChoice.chosen` takes them: ``"all"``, a number, a zone or
        cluster, hosts, patterns, or several of these with commas: ``"chuque:8,grelon:16"``. The
        master's host has a worker only where its own name is given.
    master_program, worker_program : ActorProgram
        Functions of the master and of the workers, with their arguments.
    per_host : int
        Number of workers of each of these hosts.
    spread : bool
        True to take a number of hosts evenly from those to choose from instead
        of the first ones.
    lifetime : ActorLifetime
        Of all; a master never restarts with its host, as its state is lost.

    Returns
    -------
    Deployment
        The master, then the workers in the order in which they were chosen.

    Raises
    ------
    DeploymentError
        A host, zone or cluster is unknown, there are too few hosts, a placeholder
        means nothing, or a date is out of range.
    """
    choice = HostChoice(platform)
    choice.require("the master", master)
    if per_host < 1:
        raise DeploymentError(f"{per_host} workers a host are asked for", remedy="give at least 1")
    chosen = choice.chosen(workers, master=master, spread=spread)
    hosts = [host for host in chosen for _ in range(per_host)]
    known: dict[str, str | int] = {"host": master, "master": master, "workers": len(hosts)}
    arguments = filled(master_program.arguments, known, hosts)
    of_master = replace(lifetime, on_failure=DIE)
    actors = [of_master.actor(master, master_program.function, arguments)]
    for index, host in enumerate(hosts):
        values = {**known, "host": host, "number": index + 1, "index": index}
        arguments = filled(worker_program.arguments, values, hosts)
        actors.append(lifetime.actor(host, worker_program.function, arguments))
    return Deployment(tuple(actors))
