"""Model files: skops files, which hold data and names of known classes, so loading runs no code.

A member ``tordinal.json`` says what the file is, which version of the layout it has and the
checksum of the rest. A tuned sentence encoder is a separate member. Names and times inside are
made regular, so the same model gives the same bytes.
"""

import copy
import hashlib
import io
import json
import os
import warnings
import zipfile
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tordinal.calibration import Calibration
from tordinal.estimators import REDSVM, TOR, TORCV, Calibrator
from tordinal.kernels import KERNELS
from tordinal.projection import Projection
from tordinal.tables.archive import ENCODER, LABEL, checked_json, pack, unpack
from tordinal.tables.columns import TableEncoder
from tordinal.tables.model_checks import check_model
from tordinal.tables.sentences import SentenceFeatures
from tordinal.tables.table_model import TableModel
from tordinal.tables.values import TableError
from tordinal.text import LatentAxes, ReviewVectorizer, TextVectorizer, TextViews
from tordinal.text.vectorizers import LetterVectorizer

__all__ = ["dump_model", "load_model"]

LAYOUT = 2  # raised when older versions can no longer read the files of newer ones
SCHEMA = "schema.json"
KIND = "tordinal model"
# Nodes of a skops file that hold plain values; arrays and estimators are shared when loaded.
UNSHARED = ("JsonNode", "ListNode", "DictNode", "TupleNode")
MOST_LABEL = 10_000  # bytes of the label
OURS = (
    Calibration,
    Calibrator,
    Projection,
    *KERNELS.values(),
    REDSVM,
    TOR,
    TORCV,
    TableEncoder,
    SentenceFeatures,
    ReviewVectorizer,
    TextVectorizer,
    LatentAxes,
    LetterVectorizer,
    TextViews,
)
TRUSTED = [f"{kind.__module__}.{kind.__qualname__}" for kind in OURS] + [
    "numpy.dtype",
    "scipy.sparse._csr.csr_array",
    "scipy.sparse._csr.csr_matrix",
]


def dump_model(model: TableModel) -> bytes:
    """A model as the content of a file.

    Parameters
    ----------
    model : TableModel
        The model.

    Returns
    -------
    content : bytes
        What to write.
    """
    from skops.io import dumps

    encoder = copy.copy(model.encoder)
    content = None
    if encoder.sentences is not None:
        content = encoder.sentences.content
        encoder.sentences_ = replace(encoder.sentences, content=None)
    state = {**vars(model), "estimator": model.estimator.compact(), "encoder": encoder}
    with zipfile.ZipFile(io.BytesIO(dumps(state))) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    members = _regular(members)
    if content is not None:
        members[ENCODER] = content
    label = {
        "kind": KIND,
        "layout": LAYOUT,
        "tordinal": model.card["versions"]["tordinal"],
    }
    members[LABEL] = json.dumps({**label, "sha256": _digest(members)}, indent=1).encode()
    return pack(members)


def load_model(path: str | os.PathLike[str]) -> TableModel:
    """Load a model that `tordinal label --model` or `RatedTable.save_model` saved.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    model : TableModel
        The model.

    Raises
    ------
    TableError
        If there is no such file, it is something else, comes from a newer version or was changed.

    See Also
    --------
    RatedTable.save_model : Saves a model.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from tordinal import load_model, rate_table
    >>> sizes = pd.DataFrame({"cm": [1, 2, 8, 9], "grade": [1, None, None, 2]})
    >>> rated = rate_table(sizes, "grade", columns="cm", method="tor")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     rated.save_model(f"{folder}/model.skops")
    ...     model = load_model(f"{folder}/model.skops")
    >>> model.predict(pd.DataFrame({"cm": [3, 10]}))["grade_predicted"].tolist()
    [1.0, 2.0]
    """
    from skops.io import loads

    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise TableError(f"{path}: cannot be read ({error.strerror})") from None
    if not content.startswith(b"PK"):
        raise TableError(f"{path} is not a tordinal model; save one with `tordinal label`")
    try:
        members = unpack(content)
        label = checked_json(members.pop(LABEL), MOST_LABEL)
        layout, digest = label["layout"], label["sha256"]
        if not isinstance(layout, int) or label["kind"] != KIND:
            raise ValueError("its label is not that of a model")
    except (KeyError, TypeError):
        raise TableError(
            f"{path} is not a tordinal model; save one with `tordinal label`"
        ) from None
    except ValueError as error:
        raise TableError(
            f"{path} is not a tordinal model, or damaged: {error}; save one with `tordinal label`"
        ) from None
    if layout < LAYOUT:
        raise TableError(
            f"{path} was written by tordinal {label.get('tordinal')}, whose models this version "
            "does not read; label the table again"
        )
    if layout > LAYOUT:
        raise TableError(
            f"{path} was written by tordinal {label.get('tordinal')}, which is newer; "
            "upgrade tordinal"
        )
    if digest != _digest(members):
        raise TableError(
            f"{path} was changed or damaged after it was written: its checksum does not fit"
        )
    try:
        with warnings.catch_warnings():
            # The file may come from another scikit-learn; the card has the versions.
            warnings.simplefilter("ignore")
            weights = members.pop(ENCODER, b"") or None
            # What was checked is packed again: how the file was packed does not matter any more.
            state = loads(pack(members), trusted=TRUSTED)
            model = TableModel(**state)
            _rename_roles(model)
        if not isinstance(model.encoder, TableEncoder) or not isinstance(
            model.estimator, (TORCV, TOR, REDSVM)
        ):
            raise TypeError("parts of a model are missing")
        if isinstance(model.encoder.sentences, SentenceFeatures):
            model.encoder.sentences.content = weights
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            check_model(model)
        return model
    except Exception as error:  # damaged content fails in many ways, inside of libraries, too
        what = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise TableError(
            f"{path} is not a sound model and was rejected: {what}{_remedy(label)}"
        ) from None


def _remedy(label: dict[str, Any]) -> str:
    """What to do with the file of another version that does not load."""
    written, here = label.get("tordinal"), version("tordinal")
    if not isinstance(written, str) or written == here:
        return ""
    return (
        f"; it was written by tordinal {written}, and this is {here}: label the table again, or "
        "predict with that version"
    )


def _rename_roles(model: TableModel) -> None:
    """Write the role of excluded columns as it is called since version 0.3."""
    for column in [*model.encoder.plan_, *model.card["columns"]]:
        if column["role"] == "left out":
            column["role"] = "excluded"


def _regular(members: dict[str, bytes]) -> dict[str, bytes]:
    """Number the objects of a skops file in their order instead of by their address in memory."""
    schema = json.loads(members[SCHEMA])
    identities: dict[object, int] = {}
    names: dict[str, str] = {}

    def visit(node: Any) -> None:
        if isinstance(node, list):
            for child in node:
                visit(child)
        elif isinstance(node, dict):
            if isinstance(node.get("__id__"), int):
                # Whether two equal lists are one object depends on the options that were given.
                shared = node["__id__"] if node.get("__loader__") not in UNSHARED else object()
                node["__id__"] = identities.setdefault(shared, len(identities) + 1)
            if isinstance(node.get("file"), str) and node["file"] in members:
                suffix = Path(node["file"]).suffix
                node["file"] = names.setdefault(node["file"], f"{len(names) + 1}{suffix}")
            for child in node.values():
                visit(child)

    visit(schema)
    renamed = {names[name]: data for name, data in members.items() if name in names}
    return {SCHEMA: json.dumps(schema, indent=1).encode(), **renamed}


def _digest(members: dict[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name in sorted(members):
        digest.update(f"{name}\0{len(members[name])}\0".encode())
        digest.update(members[name])
    return digest.hexdigest()
