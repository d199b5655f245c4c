import os
import subprocess
import sys

from tordinal.tables.file_lock import BINARY, lock, read_from, sync_folder, unlock

HOLD = """
import os, sys, time
from tordinal.tables.file_lock import BINARY, lock, unlock
descriptor = os.open(sys.argv[1], os.O_RDWR | BINARY)
lock(descriptor)
print("ready", flush=True)
time.sleep(0.3)
os.write(descriptor, b"first ")
unlock(descriptor)
"""


def test_a_lock_keeps_another_process_out_until_it_is_given_back(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    command = [sys.executable, "-c", HOLD, str(path)]
    other = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert other.stdout.readline() == "ready\n"
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | BINARY)
    lock(descriptor)
    os.write(descriptor, b"second")
    unlock(descriptor)
    assert read_from(descriptor, 0) == b"first second"
    assert read_from(descriptor, 6) == b"second"
    os.close(descriptor)
    other.communicate()
    assert other.returncode == 0
    sync_folder(tmp_path)
