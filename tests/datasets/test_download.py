"""Downloads from a server on this machine."""

import hashlib
import http.server
import io
import tarfile
import threading
from pathlib import Path

import pytest

from tordinal.datasets._download import Source, data_folder, locate


@pytest.fixture
def server():
    """A server on this machine; its files can be changed, and it may announce more than it sends.

    Its address, and for each path the content, or the content and the length that is announced.
    """
    files = {}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            answer = files.get(self.path)
            content, length = answer if isinstance(answer, tuple) else (answer, None)
            self.send_response(200 if content is not None else 404)
            if length is not None:
                self.send_header("Content-Length", str(length))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_):
            pass

    running = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=running.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{running.server_address[1]}", files
    running.shutdown()


def packed(members):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return buffer.getvalue()


def test_downloads_are_checked_recorded_and_whole(tmp_path, server):
    url, files = server
    files["/a.tgz"] = packed({"in/one": b"1", "in/two": b"2"})
    source = Source(f"{url}/a.tgz", None, {"in/one": "set/one", "in/two": "set/two"})
    assert locate("set/one", tmp_path, source, download_if_missing=True).read_bytes() == b"1"
    assert (tmp_path / "set/two").read_bytes() == b"2"
    assert url in (tmp_path / "checksums.json").read_text()
    (tmp_path / "set/one").unlink()
    files["/a.tgz"] = packed({"in/one": b"other", "in/two": b"2"})
    with pytest.raises(OSError, match=r"could not be downloaded.*hash"):
        locate("set/one", tmp_path, source, download_if_missing=True)
    assert not (tmp_path / "set/one").exists()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["checksums.json", "set"]


def test_a_bad_first_download_leaves_nothing_behind(tmp_path, server):
    url, files = server
    source = Source(f"{url}/a.tgz", None, {"in/one": "set/one", "in/two": "set/two"})
    good = packed({"in/one": b"1", "in/two": b"2"})
    for bad in (b"<html>busy</html>", good[:-20], packed({"in/one": b"1"})):
        files["/a.tgz"] = bad
        with pytest.raises(OSError, match=r"could not be downloaded.*Get http"):
            locate("set/one", tmp_path, source, download_if_missing=True)
        assert list(tmp_path.iterdir()) == []
    files["/a.tgz"] = good
    (tmp_path / "set").mkdir()
    (tmp_path / "set/two").write_bytes(b"mine")
    assert locate("set/one", tmp_path, source, download_if_missing=True).read_bytes() == b"1"
    assert (tmp_path / "set/two").read_bytes() == b"mine"  # what was there is not replaced
    (tmp_path / "checksums.json").write_text("[]")
    (tmp_path / "set/one").unlink()
    with pytest.raises(OSError, match=r"checksums.json is damaged"):
        locate("set/one", tmp_path, source, download_if_missing=True)


def test_an_empty_folder_name_is_none(monkeypatch):
    monkeypatch.setenv("TORDINAL_DATA", "")
    assert data_folder("") == data_folder(None) != Path()


def test_a_wrong_checksum_and_a_missing_file_are_rejected(tmp_path, server):
    url, files = server
    files["/f"] = b"content"
    with pytest.raises(OSError, match="could not be downloaded"):
        locate("set/f", tmp_path, Source(f"{url}/f", "0" * 64, {}), download_if_missing=True)
    with pytest.raises(OSError, match=r"could not be downloaded.*Get http"):
        locate("set/g", tmp_path, Source(f"{url}/g", None, {}), download_if_missing=True)
    assert list(tmp_path.iterdir()) == []


def test_a_transfer_that_ends_halfway_leaves_nothing_behind(tmp_path, server):
    url, files = server
    files["/f"] = b"half", 8
    source = Source(f"{url}/f", None, {})
    with pytest.raises(OSError, match=r"could not be downloaded.*Get http"):
        locate("set/f", tmp_path, source, download_if_missing=True)
    assert list(tmp_path.iterdir()) == []
    files["/f"] = b"halfhalf", 8
    assert locate("set/f", tmp_path, source, download_if_missing=True).read_bytes() == b"halfhalf"


def test_a_checksum_known_beforehand_is_not_recorded(tmp_path, server):
    url, files = server
    files["/f"] = b"content"
    source = Source(f"{url}/f", hashlib.sha256(b"content").hexdigest(), {})
    path = locate("set/f", tmp_path, source, download_if_missing=True)
    assert path == tmp_path / "set/f"
    assert path.read_bytes() == b"content"
    assert [p.name for p in tmp_path.iterdir()] == ["set"]


def test_an_archive_without_the_file_is_named(tmp_path, server):
    url, files = server
    files["/a.tgz"] = packed({"in/two": b"2"})
    source = Source(f"{url}/a.tgz", None, {"in/two": "set/two"})
    with pytest.raises(OSError, match=r"a\.tgz does not hold one\. Get http"):
        locate("set/one", tmp_path, source, download_if_missing=True)


def test_a_file_that_is_there_needs_no_network(tmp_path):
    (tmp_path / "set").mkdir()
    (tmp_path / "set/f").write_bytes(b"mine")
    source = Source("http://127.0.0.1:1/f", "0" * 64, {})
    for allowed in (True, False):
        path = locate("set/f", tmp_path, source, download_if_missing=allowed)
        assert path.read_bytes() == b"mine"
    with pytest.raises(OSError, match=r"download_if_missing is False.*put it as g at .*set/g"):
        locate("set/g", tmp_path, source, download_if_missing=False)
    assert not (tmp_path / "set/g").exists()


def test_the_folder_is_the_argument_then_the_variable_then_the_cache(monkeypatch):
    monkeypatch.setenv("TORDINAL_DATA", "~/named")
    assert data_folder("given") == Path("given")
    assert data_folder(None) == Path.home() / "named"
    monkeypatch.delenv("TORDINAL_DATA")
    assert data_folder(None).name == "tordinal"
