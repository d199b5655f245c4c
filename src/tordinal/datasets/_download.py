"""Data files: the folder that they are in, and verified downloads into it."""

import json
import os
import shutil
import tarfile
import tempfile
import zlib
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
        Its checksum. None: not known; it is recorded at the first download and must then stay the
        same.
    members : dict of str to str
        For an archive, the place of each member under the data folder. Empty: the
        file itself is the data.
    """

    url: str
    sha256: str | None
    members: dict[str, str]


def data_folder(data_home: str | os.PathLike[str] | None) -> Path:
    """The folder of the datasets: the argument, ``TORDINAL_DATA``, or the user's cache."""
    chosen = data_home or os.environ.get("TORDINAL_DATA")
    if chosen:
        return Path(chosen).expanduser()
    import pooch

    return Path(pooch.os_cache("tordinal"))


def locate(name: str, home: Path, source: Source, *, download_if_missing: bool) -> Path:
    """Find a file under the data folder, downloading it first if it is missing.

    Parameters
    ----------
    name : str
        Path of the file under the folder.
    home : Path
        The folder.
    source : Source
        Where it can be downloaded.
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
        f"Get {source.url} yourself and put {'its ' if source.members else 'it as '}"
        f"{Path(name).name} at {path}, or point data_home or the environment variable "
        "TORDINAL_DATA at a folder that has it."
    )
    if not download_if_missing:
        raise OSError(f"{path} is missing and download_if_missing is False. {remedy}")
    try:
        _download(home, source, name)
    except (OSError, ValueError, KeyError, EOFError, zlib.error, tarfile.TarError) as error:
        why = (str(error).splitlines() or [repr(error)])[0].rstrip(":")
        raise OSError(f"{source.url} could not be downloaded ({why}). {remedy}") from error
    if not path.is_file():
        raise OSError(f"{source.url} does not hold {Path(name).name}. {remedy}")
    return path


def _download(home: Path, source: Source, name: str) -> None:
    """Download and unpack in a temporary folder, and move new files into place."""
    import pooch

    pooch.get_logger().setLevel("WARNING")  # otherwise it asks users to put checksums into the code
    home.mkdir(parents=True, exist_ok=True)
    record = home / RECORD
    known = json.loads(record.read_text()) if record.is_file() else {}
    if not isinstance(known, dict):
        raise ValueError(f"{record} is damaged; remove it")
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
        known[source.url] = pooch.file_hash(str(got), alg="sha256")
        ready = {name: got} if not source.members else {}
        if source.members:
            with tarfile.open(got) as archive:
                for place, (member, target) in enumerate(source.members.items()):
                    held = archive.extractfile(member)
                    if held is None:
                        raise ValueError(f"{member} in it is not a file")
                    ready[target] = Path(folder) / f"member-{place}"
                    with ready[target].open("wb") as file:
                        shutil.copyfileobj(held, file)
        for target, part in ready.items():
            if not (home / target).exists():  # files of the user are not replaced
                (home / target).parent.mkdir(parents=True, exist_ok=True)
                os.replace(part, home / target)
        if expected is None:  # recorded now that it has proved to be whole
            part = Path(folder) / RECORD
            part.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n")
            os.replace(part, record)
