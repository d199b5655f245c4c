"""Pretrained sentence encoders: found, checked, loaded, saved."""

import hashlib
import io
import json
import os
import re
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = [
    "check_folder",
    "choose_device",
    "find_folder",
    "fingerprint",
    "load_model",
    "no_progress_bars",
    "pack",
    "read_description",
    "unpack",
]

DESCRIPTION = "tordinal.json"
FORMAT = 1
MODULES = {"Transformer", "Pooling", "Normalize"}  # parts that need no code but the library's own
PICKLED = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "*.model")
FILES = ("*.json", "*.txt", "*.model", "*.safetensors")  # of a model on the hub that are needed
SAFE_NAME = re.compile(
    r"(?:[A-Za-z0-9][\w.-]*/)?[A-Za-z0-9][\w.-]*\.(?:json|txt|model|safetensors)"
)
MOST_FILES = 100
MOST_BYTES = 4 * 2**30
MOST_HEADER = 2**24  # bytes of the description at the beginning of a safetensors file


def require_extra() -> None:
    """Raise an error that names the extra if a package is missing."""
    try:
        for name in ("torch", "transformers", "sentence_transformers"):
            import_module(name)
    except ImportError as error:
        raise ModuleNotFoundError(
            f"SentenceEncoder needs packages that are not installed ({error.name}): "
            'pip install "tordinal[encoder]"',
            name=error.name,
        ) from None


def find_folder(model: str | os.PathLike[str], *, download: bool) -> Path:
    """Find the folder of a model: a folder itself, or one in the cache of the hub.

    Parameters
    ----------
    model : str or path
        A folder, or a name such as "sentence-transformers/all-MiniLM-L6-v2".
    download : bool
        Whether files that are not in the cache may be downloaded.

    Returns
    -------
    folder : Path
        The folder, checked by `check_folder`.
    """
    folder = Path(model)
    if folder.is_dir():
        return check_folder(folder)
    require_extra()
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError

    name = os.fspath(model)
    try:
        found = snapshot_download(
            name if "/" in name else f"sentence-transformers/{name}",
            cache_dir=os.environ.get("SENTENCE_TRANSFORMERS_HOME"),
            local_files_only=not download,
            allow_patterns=[*FILES, *(f"*/{pattern}" for pattern in FILES)],
            ignore_patterns=["onnx/*", "openvino/*"],
        )
    except HFValidationError:
        raise FileNotFoundError(
            f"model={name!r} is neither a folder nor the name of a model. Pass a folder, or a name "
            "such as 'sentence-transformers/all-MiniLM-L6-v2'."
        ) from None
    except (OSError, ValueError) as error:
        if download:
            why = str(error).partition("\n")[0].rstrip(".")
            raise OSError(
                f"model={name!r} could not be downloaded: {why}. Check the name and the "
                "connection, or pass the folder of a model."
            ) from error
        raise FileNotFoundError(
            f"model={name!r} is neither a folder nor in the cache of downloaded models. Pass "
            "download=True to download it once, or the folder of a model."
        ) from None
    return check_folder(Path(found))


def check_folder(folder: Path) -> Path:
    """Check that a model's weights are safetensors and that it needs no code of its own."""
    if not (folder / "config.json").is_file() and not (folder / "modules.json").is_file():
        raise ValueError(
            f"model={str(folder)!r} holds no sentence encoder: it has neither config.json nor "
            "modules.json. Pass a folder that sentence-transformers or transformers has saved."
        )
    if not list(folder.glob("*.safetensors")):
        pickled = [path.name for path in folder.iterdir() if path.suffix in PICKLED]
        have = f"only {pickled[0]}, which may run code when it is loaded" if pickled else "none"
        raise ValueError(
            f"model={str(folder)!r} must have weights in safetensors format, but it has {have}. "
            "Use a model with model.safetensors, or save it again with "
            "save_pretrained(folder, safe_serialization=True)."
        )
    # Without it transformers makes a tokenizer that knows no words, and says nothing.
    if not any(path for pattern in TOKENIZERS for path in folder.glob(pattern)):
        raise ValueError(
            f"model={str(folder)!r} has no tokenizer ({', '.join(TOKENIZERS)}). The copy may be "
            "incomplete: copy or download the model again."
        )
    parts = folder / "modules.json"
    if parts.is_file():
        kinds = [str(part.get("type", "")) for part in _read_json(parts)]
        unknown = [
            kind for kind in kinds
            if not kind.startswith("sentence_transformers.") or kind.split(".")[-1] not in MODULES
        ]  # fmt: skip
        if unknown or not kinds or not kinds[0].endswith(".Transformer"):
            raise ValueError(
                f"model={str(folder)!r} has a part of the type {(unknown or kinds or [''])[0]!r}, "
                "which is not supported. Use a model that is made of a transformer and pooling; "
                "models with code of their own are never loaded."
            )
    return folder


def choose_device(device: str) -> str:
    """Choose where to compute: with "auto" a CUDA GPU, then an Apple GPU, then the CPU."""
    import torch

    if device != "auto":
        try:
            torch.empty(0, device=device)
        except (RuntimeError, AssertionError) as error:
            why = str(error).partition("\n")[0].rstrip(".")
            raise ValueError(
                f"device={device!r} is not available: {why}. Pass 'cpu', or 'auto' for a GPU where "
                "there is one."
            ) from None
        return device
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def load_model(folder: Path, device: str) -> Any:
    """Load a model with `sentence_transformers`, from its folder alone."""
    require_extra()
    # Without it products of matrices on a GPU are not the same in each run.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    from sentence_transformers import SentenceTransformer

    check_folder(folder)
    try:
        with own_random_state(0), no_progress_bars():
            return SentenceTransformer(
                str(folder),
                device=device,
                trust_remote_code=False,
                local_files_only=True,
                # Attention in plain products is the only kind that is deterministic on every
                # device.
                model_kwargs={
                    "use_safetensors": True, "attn_implementation": "eager", "dtype": "float32",
                },
            ).eval()  # fmt: skip
    except Exception as error:  # of many libraries, whatever is wrong with the files
        why = str(error).partition("\n")[0].rstrip(".")
        raise ValueError(
            f"model={str(folder)!r} cannot be loaded: {why}. Its files may be damaged or "
            "incomplete: copy or download the model again."
        ) from error


@contextmanager
def own_random_state(seed: int) -> Iterator[None]:
    """Seed torch and make it deterministic; leave its state as it was afterwards."""
    import torch

    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    precision = torch.get_float32_matmul_precision()
    on_mps = torch.backends.mps.is_available()
    mps_state = torch.mps.get_rng_state() if on_mps else None
    with torch.random.fork_rng(range(torch.cuda.device_count())):
        try:
            torch.use_deterministic_algorithms(True, warn_only=True)
            torch.manual_seed(seed)
            if torch.cuda.is_available():
                torch.set_float32_matmul_precision("high")  # TF32: several times as fast
            yield
        finally:
            torch.set_float32_matmul_precision(precision)
            torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
            if on_mps:
                torch.mps.set_rng_state(mps_state)


@contextmanager
def no_progress_bars() -> Iterator[None]:
    """Keep progress bars of transformers out of the terminal."""
    from transformers.utils import logging

    enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if enabled:
            logging.enable_progress_bar()


def pack(folder: Path) -> bytes:
    """Pack the files of a folder into one archive; equal folders make equal bytes."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for path in sorted(folder.rglob("*")):
            name = path.relative_to(folder).as_posix()
            if path.is_file() and SAFE_NAME.fullmatch(name):
                archive.writestr(zipfile.ZipInfo(name), path.read_bytes())
    return file.getvalue()


def unpack(data: bytes, folder: Path, max_bytes: int = MOST_BYTES) -> None:
    """Write the files of an archive made by `pack` into a folder, after checks of names and sizes.

    Parameters
    ----------
    data : bytes
        The archive. It need not be trusted.
    folder : Path
        An empty folder.
    max_bytes : int
        Most bytes of all files together.
    """
    if len(data) > max_bytes:
        raise ValueError(
            f"The saved encoder has {len(data):,} bytes, more than max_bytes={max_bytes:,}. Raise "
            "max_bytes if you trust its source."
        )
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            names = [entry.filename for entry in entries]
            plain = all(
                entry.compress_type == zipfile.ZIP_STORED and entry.file_size <= len(data)
                for entry in entries
            )
            if (
                len(names) > MOST_FILES
                or len({name.lower() for name in names}) < len(names)
                or not all(SAFE_NAME.fullmatch(name) for name in names)
                or not plain
                or sum(entry.file_size for entry in entries) > len(data)
            ):
                raise ValueError("unexpected names or sizes of files")
            for entry in entries:
                path = folder / entry.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(archive.read(entry))
        _check_sizes(folder)
    except Exception as error:  # of many libraries, whatever is wrong with the files
        raise ValueError(
            f"The saved encoder is damaged or was not written by SentenceEncoder: {error}. Save it "
            "again."
        ) from None


def read_description(folder: Path) -> dict[str, Any]:
    """Read the settings and the projection that `save` has written."""
    try:
        state = json.loads((folder / DESCRIPTION).read_text(encoding="utf-8"))
        if state["format"] != FORMAT or set(state) != {"format", "parameters", "projection"}:
            raise ValueError(f"format {state['format']!r} is not known")
        return state
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{folder} holds no encoder saved by SentenceEncoder: {error}. Save it again."
        ) from None


def fingerprint(folder: Path) -> str:
    """Return the SHA-256 of a model's weights, which distinguishes models of equal names."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.safetensors")):
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _check_sizes(folder: Path) -> None:
    """Check that the configuration describes the tensors that are there, before any is made."""
    import torch
    from transformers import AutoConfig, AutoModel

    check_folder(folder)
    shapes: dict[str, list[int]] = {}
    for path in folder.glob("*.safetensors"):
        shapes |= {name: entry["shape"] for name, entry in _tensors(path).items()}
    raw = _read_json(folder / "config.json")
    if not isinstance(raw, dict) or "quantization_config" in raw:
        raise ValueError("config.json is not the configuration of a plain model")
    most = max(size for shape in shapes.values() for size in shape)
    for name in ("hidden_size", "dim", "intermediate_size", "vocab_size", "num_hidden_layers",
                 "n_layers", "num_attention_heads"):  # fmt: skip
        limit = len(shapes) if "layers" in name else most
        if not 0 <= raw.get(name, 0) <= limit:
            raise ValueError(f"{name}={raw[name]!r} in config.json does not fit its weights")
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    with torch.device("meta"):
        model = AutoModel.from_config(config, trust_remote_code=False)
    expected = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    buffers = {name for name, _ in model.named_buffers()}
    for name, shape in expected.items():
        if name not in buffers and shapes.get(name) != shape:
            raise ValueError(f"the tensor {name} has the shape {shapes.get(name)}, not {shape}")


def _tensors(path: Path) -> dict[str, Any]:
    """Describe the tensors of a safetensors file: types, shapes and places that fit the file."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if length > min(MOST_HEADER, path.stat().st_size):
            raise ValueError(f"{path.name} has no valid header")
        header = json.loads(file.read(length))
    header.pop("__metadata__", None)
    end = path.stat().st_size - 8 - length
    for name, entry in header.items():
        start, stop = entry["data_offsets"]
        n = 1
        for size in entry["shape"]:
            n *= size
        if entry["dtype"] != "F32" or not 0 <= start <= stop <= end or 4 * n != stop - start:
            raise ValueError(f"the tensor {name} does not fit {path.name}")
    if not header:
        raise ValueError(f"{path.name} holds no tensors")
    return header


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ValueError(f"{path} cannot be read as JSON: {error}") from None
