import io
import json
import shutil
import sys
import zipfile

import numpy as np
import pytest

from tordinal.text import pretrained
from tordinal.text.pretrained import check_folder, choose_device, find_folder, pack, unpack


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r'pip install "tordinal\[encoder\]"'):
        pretrained.require_extra()


def _folder(tmp_path, *names, modules=None):
    for name in ("config.json", *names):
        (tmp_path / name).write_text("{}")
    if modules is not None:
        parts = [{"idx": i, "path": "", "type": kind} for i, kind in enumerate(modules)]
        (tmp_path / "modules.json").write_text(json.dumps(parts))
    return tmp_path


def test_only_safetensors_weights_are_accepted(tmp_path):
    with pytest.raises(ValueError, match=r"neither config\.json nor modules\.json"):
        check_folder(tmp_path)
    with pytest.raises(ValueError, match="safetensors format, but it has none"):
        check_folder(_folder(tmp_path))
    with pytest.raises(ValueError, match=r"has only pytorch_model\.bin, which may run code"):
        find_folder(_folder(tmp_path, "pytorch_model.bin"), download=False)
    with pytest.raises(ValueError, match="has no tokenizer"):
        find_folder(_folder(tmp_path, "model.safetensors"), download=False)
    assert find_folder(_folder(tmp_path, "vocab.txt"), download=False) == tmp_path


@pytest.mark.parametrize(
    "kind",
    [
        "custom.Transformer",
        "os.system",
        "sentence_transformers.models.Dense",
        "sentence_transformers.models.Router",
    ],
)
def test_parts_with_code_of_their_own_are_rejected(tmp_path, kind):
    own = ["sentence_transformers.models.Transformer", "sentence_transformers.models.Pooling"]
    whole = ("model.safetensors", "tokenizer.json")
    assert check_folder(_folder(tmp_path, *whole, modules=own)) == tmp_path
    with pytest.raises(ValueError, match=f"has a part of the type '{kind}'"):
        check_folder(_folder(tmp_path, modules=[*own, kind]))
    with pytest.raises(ValueError, match="has a part of the type"):
        check_folder(_folder(tmp_path, modules=[own[1]]))


def test_names_are_resolved_from_the_cache_alone(tiny_model, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTENCE_TRANSFORMERS_HOME", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="Pass download=True to download it once"):
        find_folder("somebody/tiny", download=False)
    with pytest.raises(FileNotFoundError, match="is neither a folder nor the name of a model"):
        find_folder("./no such folder/", download=False)
    for owner in ("somebody", "sentence-transformers"):
        cached = tmp_path / f"models--{owner}--tiny"
        (cached / "refs").mkdir(parents=True)
        (cached / "refs" / "main").write_text("abc")
        shutil.copytree(tiny_model, cached / "snapshots" / "abc")
    assert find_folder("somebody/tiny", download=False).name == "abc"
    short = find_folder("tiny", download=False)
    assert "sentence-transformers" in short.parts[-3]


def test_a_failed_download_says_so(tmp_path, monkeypatch):
    huggingface_hub = pytest.importorskip("huggingface_hub", reason="needs huggingface_hub")
    pytest.importorskip("sentence_transformers", reason="needs sentence-transformers")
    asked = {}

    def offline(name, **options):
        asked.update(options, name=name)
        raise OSError("no connection.\nLook into the log..")

    monkeypatch.setattr(huggingface_hub, "snapshot_download", offline)
    with pytest.raises(OSError, match=r"could not be downloaded: no connection\. Check the name"):
        find_folder("somebody/tiny", download=True)
    assert asked["local_files_only"] is False
    assert not any("bin" in pattern for pattern in asked["allow_patterns"])


def test_a_model_is_loaded_without_the_network_or_global_changes(tiny_model, monkeypatch, capfd):
    torch = pytest.importorskip("torch")
    import socket

    def no_network(*args, **kwargs):
        raise AssertionError("the network is used")

    monkeypatch.setattr(socket.socket, "connect", no_network)
    monkeypatch.setattr(socket, "getaddrinfo", no_network)
    state = torch.get_rng_state()
    model = pretrained.load_model(tiny_model, "cpu")
    assert torch.equal(torch.get_rng_state(), state)
    assert not model.training
    assert capfd.readouterr().err == ""


def test_the_state_of_torch_is_restored():
    torch = pytest.importorskip("torch", reason="needs torch")
    state = torch.get_rng_state()
    drawn = []

    def interrupted():
        with pretrained.own_random_state(3):
            assert torch.are_deterministic_algorithms_enabled()
            drawn.append(torch.rand(3))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert torch.equal(torch.get_rng_state(), state)
    assert not torch.are_deterministic_algorithms_enabled()
    with pretrained.own_random_state(3):
        assert torch.equal(torch.rand(3), drawn[0])


def test_device(monkeypatch):
    torch = pytest.importorskip("torch", reason="needs torch")
    assert choose_device("cpu") == "cpu"
    for missing in ("tpu", "cuda:99"):
        with pytest.raises(ValueError, match=f"device='{missing}' is not available: .*Pass 'cpu'"):
            choose_device(missing)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    assert choose_device("auto") == "mps"
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert choose_device("auto") == "cpu"
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    assert choose_device("auto") == "cuda"


def _archive(files, kind=zipfile.ZIP_STORED):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", kind) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return file.getvalue()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no archive",
        _archive({"../config.json": "{}"}),
        _archive({"/config.json": "{}"}),
        _archive({"model.pkl": "x"}),
        _archive({"config.json": "{}", "CONFIG.json": "{}"}),
        _archive({"config.json": "0" * 100_000}, zipfile.ZIP_DEFLATED),
        _archive({f"a{i}.json": "{}" for i in range(101)}),
    ],
)
def test_archives_of_others_are_rejected_before_anything_is_written(tmp_path, data):
    with pytest.raises(ValueError, match="damaged or was not written by SentenceEncoder"):
        unpack(data, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_too_large_an_archive_is_rejected(tmp_path):
    with pytest.raises(ValueError, match="more than max_bytes=10"):
        unpack(_archive({"config.json": "{}"}), tmp_path, max_bytes=10)


def test_equal_folders_make_equal_archives(tiny_model, tmp_path):
    data = pack(tiny_model)
    assert data == pack(tiny_model)
    unpack(data, tmp_path)
    assert pack(tmp_path) == data


def _header(path, change):
    raw = path.read_bytes()
    length = int.from_bytes(raw[:8], "little")
    header = json.loads(raw[8 : 8 + length])
    change(header)
    new = json.dumps(header).encode()
    path.write_bytes(len(new).to_bytes(8, "little") + new + raw[8 + length :])


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hidden_size", 10**9), ("num_hidden_layers", 10**9), ("vocab_size", 10**12),
        ("num_hidden_layers", 3), ("intermediate_size", 31), ("hidden_size", "x"),
        ("max_position_embeddings", 10**7),
    ],
)  # fmt: skip
def test_sizes_are_checked_before_tensors_are_made(tiny_model, tmp_path, field, value):
    folder = shutil.copytree(tiny_model, tmp_path / "tiny")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {field: value}))
    (tmp_path / "new").mkdir()
    with pytest.raises(ValueError, match="damaged or was not written by SentenceEncoder"):
        unpack(pack(folder), tmp_path / "new")


def test_damaged_weights_are_rejected(tiny_model, tmp_path):
    def longer(header):
        header["embeddings.word_embeddings.weight"]["data_offsets"][1] += 10**6

    def shorter(header):
        header["embeddings.word_embeddings.weight"]["shape"] = [1, 16]

    def other_type(header):
        header["embeddings.word_embeddings.weight"]["dtype"] = "F64"

    def nothing(header):
        header.clear()

    weights = (tiny_model / "model.safetensors").read_bytes()
    for number, change in enumerate((longer, shorter, other_type, nothing, None)):
        folder = shutil.copytree(tiny_model, tmp_path / f"tiny{number}")
        if change is None:
            (folder / "model.safetensors").write_bytes(np.uint64(2**40).tobytes() + weights[8:])
        else:
            _header(folder / "model.safetensors", change)
        (tmp_path / f"new{number}").mkdir()
        with pytest.raises(ValueError, match="damaged or was not written by SentenceEncoder"):
            unpack(pack(folder), tmp_path / f"new{number}")


@pytest.mark.parametrize("damage", ["weights", "configuration"])
def test_a_damaged_folder_is_named(tiny_model, tmp_path, damage):
    folder = tmp_path / "damaged"
    shutil.copytree(tiny_model, folder)
    if damage == "weights":
        content = (folder / "model.safetensors").read_bytes()
        (folder / "model.safetensors").write_bytes(content[: len(content) // 2])
    else:
        (folder / "config.json").write_text('{"model_type": "no such kind"}')
    with pytest.raises(ValueError, match=r"cannot be loaded: .* copy or download the model again"):
        pretrained.load_model(folder, "cpu")


@pytest.mark.parametrize("config", ["[]", '{"quantization_config": {"quant_method": "gptq"}}'])
def test_configurations_of_other_kinds_are_rejected(tiny_model, tmp_path, config):
    folder = tmp_path / "other"
    shutil.copytree(tiny_model, folder)
    (folder / "config.json").write_text(config)
    with pytest.raises(ValueError, match="not the configuration of a plain model"):
        unpack(pack(folder), tmp_path / "unpacked")
