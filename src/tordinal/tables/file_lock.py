"""Locking a file against other processes, and making sure that what was written is on disk."""

import os
import sys
from pathlib import Path

__all__ = ["BINARY", "lock", "read_from", "sync_folder", "unlock"]

BINARY = getattr(os, "O_BINARY", 0)

if sys.platform == "win32":
    import msvcrt
    import time

    BEYOND = 2**62  # a byte that no log reaches: locks there keep nobody from reading

    def lock(descriptor: int) -> None:
        """Lock an open file, and wait until others have unlocked it."""
        while True:
            os.lseek(descriptor, BEYOND, os.SEEK_SET)
            try:
                return msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
            except OSError:
                time.sleep(0.01)

    def unlock(descriptor: int) -> None:
        """Let others lock the file."""
        os.lseek(descriptor, BEYOND, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)

    def sync_folder(folder: Path) -> None:
        """Do nothing: Windows has no such call."""
else:
    import fcntl

    def lock(descriptor: int) -> None:
        """Lock an open file, and wait until others have unlocked it."""
        fcntl.flock(descriptor, fcntl.LOCK_EX)

    def unlock(descriptor: int) -> None:
        """Let others lock the file."""
        fcntl.flock(descriptor, fcntl.LOCK_UN)

    def sync_folder(folder: Path) -> None:
        """Make sure that the name of a new file is on disk, too."""
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def read_from(descriptor: int, offset: int) -> bytes:
    """All bytes of an open file from an offset on."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    return b"".join(iter(lambda: os.read(descriptor, 2**20), b""))
