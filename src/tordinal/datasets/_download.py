"""Where data files lie, and how they get there: a folder, or a checked download into one."""

import json
import os
import shutil
import tarfile
import tempfile
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Source", "data_folder", "locate"]

RECORD = "checksums.json"  # of downloads whose checksum was not known beforehand


@dataclass(frozen=True)
class Source:
    """A file to download.

    Attributes
    ----------
    url : str
        Where it is.
    sha256 : str or None
        Its checksum. None: not known; it is recorded at the first download and must then stay the same.
    members : dict of str to str
        For an archive, the place of each member under the data folder. Empty: the file itself is what is wanted.
    """

    url: str
    sha256: str | None
    members: dict[str, str]


def data_folder(data_home: str | os.PathLike[str] | None) -> Path:
    """The folder of the data sets: the argument, the environment variable ``TORDINAL_DATA``, or the user's cache."""
    if data_home is None:
        data_home = os.environ.get("TORDINAL_DATA")
    if data_home is not None:
        return Path(data_home).expanduser()
    import pooch

    return Path(pooch.os_cache("tordinal"))


def locate(name: str, home: Path, source: Source, *, download_if_missing: bool) -> Path:
    """Find a file under the data folder, downloading it first where it is missing.

    Parameters
    ----------
    name : str
        Path of the file under the folder.
    home : Path
        The folder.
    source : Source
        Where it can be had.
    download_if_missing : bool
        Whether to download.

    Returns
    -------
    path : Path
        The file.

    Raises
    ------
    OSError
        If it is missing and not to be downloaded, or the download failed.
    """
    path = home / name
    if path.is_file():
        return path
    remedy = (
        f"Get {source.url} yourself and put {'its ' if source.members else 'it as '}{Path(name).name} at {path}, or "
        "point data_home or the environment variable TORDINAL_DATA at a folder that has it."
    )
    if not download_if_missing:
        raise OSError(f"{path} is missing and download_if_missing is False. {remedy}")
    try:
        _download(home, source, name)
    except (OSError, ValueError, tarfile.TarError) as error:
        raise OSError(f"{source.url} could not be downloaded ({error}). {remedy}") from error
    if not path.is_file():
        raise OSError(f"{source.url} does not hold {Path(name).name}. {remedy}")
    return path


def _download(home: Path, source: Source, name: str) -> None:
    """Download into a folder of its own, check, and move into place."""
    import pooch

    home.mkdir(parents=True, exist_ok=True)
    record = home / RECORD
    known = json.loads(record.read_text()) if record.is_file() else {}
    expected = source.sha256 or known.get(source.url)
    with tempfile.TemporaryDirectory(dir=home, prefix=".download-") as folder:
        got = Path(
            pooch.retrieve(
                source.url,
                known_hash=f"sha256:{expected}" if expected else None,
                path=folder,
                fname="file",
                progressbar=False,
            )
        )
        if expected is None:
            known[source.url] = pooch.file_hash(str(got), alg="sha256")
            part = Path(folder) / RECORD
            part.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
            os.replace(part, record)
        if not source.members:
            _place(got, home / name)
            return
        with tarfile.open(got) as archive:
            for member, target in source.members.items():
                held = archive.extractfile(member)
                if held is not None:
                    part = Path(folder) / "member"
                    with part.open("wb") as file:
                        shutil.copyfileobj(held, file)
                    _place(part, home / target)


def _place(part: Path, target: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    os.replace(part, target)
