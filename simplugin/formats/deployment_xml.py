"""Deployments from and to SimGrid 4.1 XML files."""

from __future__ import annotations

import os

from simplugin.errors import DeploymentError, PlatformError
from simplugin.formats import xml_text
from simplugin.formats.platform_reading import PlatformReader, read_document
from simplugin.formats.platform_xml import PlatformLines
from simplugin.inputs.files import write
from simplugin.platforms.deployment import Deployment
from simplugin.platforms.platform import Platform


def read_deployment(path: str | os.PathLike[str]) -> Deployment:
    """Read the actors of a deployment file.

    Parameters
    ----------
    path : path
        A file in SimGrid's format 4 or 4.1.

    Returns
    -------
    Deployment
        Its actors, in the order of the file.

    Raises
    ------
    DeploymentError
        The file cannot be read, says something wrong or holds other things than actors; the
        first error, with its line. `simplugin.formats.check` gives all of them.
    """
    document = read_document(path, DeploymentError)
    if document.doctype_error is not None:
        raise document.doctype_error
    try:
        platform = PlatformReader(path).platform(document.root)
    except PlatformError as problem:
        raise DeploymentError(
            problem.message, file=path, line=problem.line, remedy=problem.remedy
        ) from None
    if platform.elements:
        raise DeploymentError(
            "this is a platform file, not a deployment",
            file=path,
            line=document.root.children[0].line,
            remedy="give the hardware as the platform, and <actor> elements as the deployment",
        )
    return Deployment(platform.actors)


def write_deployment(
    deployment: Deployment, path: str | os.PathLike[str], *, comment: str | None = None
) -> None:
    """Write a deployment to a file that SimGrid 4.1 loads.

    Parameters
    ----------
    deployment : Deployment
        What to write; reading the file gives it back.
    path : path
        Where; an existing file is replaced.
    comment : str, optional
        Placed at the top, for instance the command that made the file.

    Raises
    ------
    DeploymentError
        The file cannot be written.
    """
    write(deployment_text(deployment, comment=comment), path, DeploymentError)


def deployment_text(deployment: Deployment, *, comment: str | None = None) -> str:
    """Return a deployment as SimGrid 4.1 XML.

    Parameters
    ----------
    deployment : Deployment
        What to write.
    comment : str, optional
        Placed at the top.

    Returns
    -------
    str
        The whole document.
    """
    lines = PlatformLines().platform(Platform(actors=deployment.actors))
    return xml_text.HEADER + xml_text.comment(comment) + "\n".join(lines) + "\n"
