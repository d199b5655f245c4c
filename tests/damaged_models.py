"""Model files with damaged values inside and a checksum that fits, as an attacker makes them."""

import io
import json
import os
import random
import subprocess
import sys
import zipfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from tordinal.tables.archive import LABEL, pack, unpack
from tordinal.tables.models import SCHEMA, _digest

NUMBERS = [0, 1, -1, 7, 2**31, -(2**31), 2**63 - 1, 1e300, -1e-300, 0.5]
OTHERS = [None, True, "", "x", "\x1b[2J", [], {}, "nan"]


def damaged(content: bytes, seed: int) -> bytes:
    """A copy with one value, array, shape or reference changed."""
    rng = random.Random(seed)
    members = unpack(content)
    label = json.loads(members.pop(LABEL))
    name = rng.choice(sorted(members)) if rng.random() < 0.7 else SCHEMA
    if name == SCHEMA:
        schema = json.loads(members[name])
        for _ in range(rng.choice([1, 1, 2])):
            change_json(schema, rng)
        members[name] = json.dumps(schema).encode()
    elif name.endswith(".npy"):
        members[name] = changed_array(members[name], rng)
    else:
        with zipfile.ZipFile(io.BytesIO(members[name])) as packed:
            arrays = {n: packed.read(n) for n in packed.namelist()}
        one = rng.choice(sorted(arrays))
        arrays[one] = changed_array(arrays[one], rng)
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w") as packed:
            for n, data in arrays.items():
                packed.writestr(n, data)
        members[name] = stream.getvalue()
    members[LABEL] = json.dumps({**label, "sha256": _digest(members)}).encode()
    return pack(members)


def changed_array(data: bytes, rng: random.Random) -> bytes:
    array = np.load(io.BytesIO(data))
    flat = np.array(array).ravel()
    way = rng.randrange(6)
    if way == 0 and flat.size and flat.dtype.kind in "iuf":
        with np.errstate(invalid="ignore"):
            flat[rng.randrange(flat.size)] = np.array(rng.choice(NUMBERS)).astype(flat.dtype)
        array = flat.reshape(array.shape)
    elif way == 1 and flat.size and flat.dtype.kind == "f":
        flat[rng.randrange(flat.size)] = rng.choice([np.nan, np.inf, -np.inf])
        array = flat.reshape(array.shape)
    elif way == 2:
        array = flat[: rng.randrange(flat.size + 1)]
    elif way == 3:
        array = np.concatenate([flat, flat[:3]])
    elif way == 4 and flat.dtype.kind in "iuf":
        array = array.astype(rng.choice(["i1", "i8", "f4", "f8", "U3"]))
    else:
        array = np.array(array).reshape(1, -1) if rng.random() < 0.5 else flat[::-1]
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def change_json(schema, rng: random.Random) -> None:
    leaves = []

    def visit(node):
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, child in items:
            if isinstance(child, (dict, list)):
                visit(child)
            leaves.append((node, key))

    visit(schema)
    node, key = rng.choice(leaves)
    way = rng.randrange(4)
    if way == 0 and isinstance(node, dict):
        del node[key]
    elif way == 1:
        other, place = rng.choice(leaves)
        node[key] = json.loads(json.dumps(other.get(place) if isinstance(other, dict) else 3))
    else:
        node[key] = rng.choice(NUMBERS + OTHERS)
        if rng.random() < 0.5:
            node[key] = json.dumps(node[key])


def try_models(folder: Path, seeds: list[int], columns: str) -> Counter:
    """Load and use damaged models in a process of their own; how many ended in which way."""
    code = f"""
import json, sys, warnings
warnings.simplefilter("ignore")
from tordinal.tables.models import load_model
from tordinal.tables.values import TableError
table = json.loads({columns!r})
for name in sys.argv[1:]:
    print(name, end=" ", flush=True)
    try:
        model = load_model(name)
    except TableError as error:
        print("rejected", flush=True)
        continue
    try:
        model.rate(table)
    except TableError as error:
        print("rejected on use", flush=True)
    else:
        print("used", flush=True)
"""
    names = [str(folder / f"{seed}.skops") for seed in seeds]
    done = subprocess.run(
        [sys.executable, "-c", code, *names], capture_output=True, text=True, check=False
    )
    outcomes = [line.split(" ", 1)[1] for line in done.stdout.splitlines() if " " in line.strip()]
    if done.returncode != 0:
        failed = names[len(outcomes)] if len(outcomes) < len(names) else "?"
        why = done.stderr.strip().splitlines()[-1:] or [f"signal {-done.returncode}"]
        outcomes.append(f"FAILED {os.path.basename(failed)}: {why[0][:200]}")
    return Counter(outcomes)


def fuzz(content: bytes, folder: Path, n: int, table: dict, at_once: int = 50) -> Counter:
    """Outcomes of n damaged copies of a model; those that fail are named."""
    for seed in range(n):
        (folder / f"{seed}.skops").write_bytes(damaged(content, seed))
    parts = [list(range(a, min(a + at_once, n))) for a in range(0, n, at_once)]
    with ThreadPoolExecutor(2) as pool:
        return sum(pool.map(lambda s: try_models(folder, s, json.dumps(table)), parts), Counter())
