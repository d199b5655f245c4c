import io
import json
import resource
import zipfile

import numpy as np
import pytest

from tordinal.tables.archive import checked_json, pack, unpack


def npy(array):
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def npz(**arrays):
    stream = io.BytesIO()
    np.savez(stream, **arrays)
    return stream.getvalue()


def zipped(members, kind=zipfile.ZIP_DEFLATED):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", kind) as packed:
        for name, data in members:
            packed.writestr(name, data)
    return stream.getvalue()


def test_what_is_packed_comes_back_in_the_same_bytes():
    members = {"1.npy": npy(np.arange(5.0)), "2.npz": npz(data=np.ones(3)), "schema.json": b"{}"}
    assert unpack(pack(members)) == members
    assert pack(members) == pack(dict(reversed(members.items())))


def test_what_packs_too_well_is_stored():
    members = {"1.npy": npy(np.zeros(10**7))}
    packed = pack(members)
    assert len(packed) > len(members["1.npy"])
    assert unpack(packed) == members


def lying(shape):
    """An array whose header promises more than there is."""
    stream = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + bytes(80)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "cannot be unpacked"),
        (b"PK\x03\x04 and so on", "cannot be unpacked"),
        (zipped([("../../evil.py", b"x")]), "which no model has"),
        (zipped([("run.sh", b"x")]), "which no model has"),
        (zipped([("1.npy", b"x"), ("1.npy", b"y")]), "twice"),
        (zipped([("schema.json", b"{}")], zipfile.ZIP_LZMA), "compressed in another way"),
        (zipped([("schema.json", b"{}")], zipfile.ZIP_BZIP2), "compressed in another way"),
        (zipped([("1.npy", bytes(2**27))]), "would unpack to 0.1 GiB"),
        (zipped([("1.npz", zipped([("data.npy", bytes(2**27))]))]), "would unpack to 0.1 GiB"),
        (zipped([("1.npy", lying((2**40,)))]), "not as large as its header says"),
        (
            zipped([("1.npz", zipped([("data.npy", lying((2**40,)))]))]),
            "not as large as its header says",
        ),
        (zipped([("1.npy", npy(np.array([None])))]), "holds objects"),
        (zipped([("1.npy", b"hello")]), "is damaged"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_no_model_holds_is_rejected_before_it_takes_memory(content, message):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ValueError, match=message):
        unpack(content)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


@pytest.mark.parametrize("text", ['{"layout": Infinity}', '{"a": NaN}', "[" * 100_000, "{", "\xff"])
def test_json_that_is_none(text):
    with pytest.raises(ValueError):  # noqa: PT011
        checked_json(text.encode("latin-1"), 200_000)


def test_a_label_has_a_few_bytes():
    assert checked_json(json.dumps({"a": 1}).encode(), 100) == {"a": 1}
    with pytest.raises(ValueError, match="label has 1,002 bytes"):
        checked_json(b'"' + 1000 * b"x" + b'"', 100)
