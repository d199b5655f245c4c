"""Archives of arrays and JSON texts; archives that are read are checked first.

Size, name and type of each member are checked before it is unpacked, and no array takes more
memory than the bytes in the file.
"""

import io
import json
import re
import zipfile
from typing import Any

import numpy as np

__all__ = ["ENCODER", "LABEL", "checked_json", "pack", "unpack"]

LABEL = "tordinal.json"  # the member of a model file that describes it
ENCODER = "encoder.zip"  # the member that is a tuned sentence encoder, which checks itself
NAME = re.compile(r"[0-9]{1,6}\.(npy|npz)|[a-z]{1,20}\.json|encoder\.zip")
KINDS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
MOST = 20_000  # members
ALWAYS, TIMES = (
    64 * 2**20,
    50,
)  # bytes that may be unpacked: the larger of this and a multiple of the file
EPOCH = (1980, 1, 1, 0, 0, 0)


def pack(members: dict[str, bytes]) -> bytes:
    """Members as one archive; the same members give the same bytes.

    Examples
    --------
    >>> unpack(pack({"schema.json": b"{}"}))
    {'schema.json': b'{}'}
    """
    content = _zipped(members, zipfile.ZIP_DEFLATED)
    if sum(map(len, members.values())) > _allowed(len(content)):
        content = _zipped(members, zipfile.ZIP_STORED)
    return content


def _zipped(members: dict[str, bytes], kind: int) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", kind) as packed:
        for name in sorted(members):
            how = zipfile.ZIP_STORED if name == ENCODER else kind  # weights hardly get smaller
            packed.writestr(zipfile.ZipInfo(name, EPOCH), members[name], how)
    return content.getvalue()


def _allowed(size: int) -> int:
    return ALWAYS + TIMES * size


def unpack(content: bytes) -> dict[str, bytes]:
    """The members of an archive.

    Parameters
    ----------
    content : bytes
        The archive.

    Returns
    -------
    members : dict of str to bytes
        Names and contents.

    Raises
    ------
    ValueError
        If it is not an archive, or one that `pack` cannot have made.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            _check(packed.infolist(), len(content))
            members = {info.filename: packed.read(info) for info in packed.infolist()}
    except ValueError:
        raise
    except Exception as error:  # zipfile has many ways to fail on crafted input
        raise ValueError(f"it cannot be unpacked ({type(error).__name__})") from None
    for name, data in members.items():
        if name.endswith(".npy"):
            _check_array(data)
        elif name.endswith(".npz"):
            _check_arrays(data)
    return members


def _check(infos: list[zipfile.ZipInfo], size: int, name: re.Pattern[str] = NAME) -> None:
    """Reject an archive by its table of contents."""
    names = [info.filename for info in infos]
    if len(names) > MOST or len(set(names)) < len(names):
        raise ValueError("it has too many members, or one of them twice")
    for info in infos:
        if not name.fullmatch(info.filename):
            raise ValueError(f"it has a member {info.filename[:40]!r}, which no model has")
        if info.compress_type not in KINDS or info.flag_bits & 1:
            raise ValueError("it is compressed in another way than model files")
    unpacked = sum(info.file_size for info in infos)
    if unpacked > _allowed(size):
        raise ValueError(f"it would unpack to {unpacked / 2**30:.1f} GiB")


def _check_array(data: bytes) -> None:
    """Reject an array whose header does not fit its data."""
    stream = io.BytesIO(data)
    try:
        version = np.lib.format.read_magic(stream)
        read = {(1, 0): np.lib.format.read_array_header_1_0}.get(
            version, np.lib.format.read_array_header_2_0
        )
        shape, _, dtype = read(stream)
    except Exception:
        raise ValueError("an array in it is damaged") from None
    there = len(data) - stream.tell()
    if dtype.hasobject or any(length < 0 for length in shape):
        raise ValueError("an array in it holds objects")
    needed = dtype.itemsize
    for length in shape:
        needed *= int(length)
    if needed != there:
        raise ValueError("an array in it is not as large as its header says")


def _check_arrays(data: bytes) -> None:
    """Reject an archive of arrays inside the archive by the same rules."""
    any_name = re.compile(r"[a-z_]{1,20}\.npy")
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            _check(packed.infolist(), len(data), any_name)
            arrays = [packed.read(info) for info in packed.infolist()]
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"arrays in it cannot be unpacked ({type(error).__name__})") from None
    for array in arrays:
        _check_array(array)


def checked_json(data: bytes, most: int) -> Any:
    """A JSON text of at most `most` bytes, without NaN and infinity."""
    if len(data) > most:
        raise ValueError(f"its label has {len(data):,} bytes")

    def reject(constant: str) -> None:
        raise ValueError(f"it contains {constant}, which is not valid JSON")

    try:
        return json.loads(data, parse_constant=reject)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
