import multiprocessing
import os
import time

from tordinal.tables.file_lock import BINARY, lock, read_from, sync_folder, unlock


def hold(path, ready, seconds):
    descriptor = os.open(path, os.O_RDWR | BINARY)
    lock(descriptor)
    ready.set()
    time.sleep(seconds)
    os.write(descriptor, b"first ")
    unlock(descriptor)


def test_a_lock_keeps_another_process_out_until_it_is_given_back(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"")
    context = multiprocessing.get_context("spawn")
    ready = context.Event()
    other = context.Process(target=hold, args=(path, ready, 0.3))
    other.start()
    assert ready.wait(60)
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | BINARY)
    lock(descriptor)
    os.write(descriptor, b"second")
    unlock(descriptor)
    assert read_from(descriptor, 0) == b"first second"
    assert read_from(descriptor, 6) == b"second"
    os.close(descriptor)
    other.join()
    sync_folder(tmp_path)
