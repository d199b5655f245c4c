from pathlib import Path

import tordinal

SOURCE, TESTS = Path(tordinal.__file__).parent, Path(__file__).parent


def test_every_module_has_a_test_file_of_its_own():
    missing = []
    for path in SOURCE.rglob("*.py"):
        if path.name.startswith("__"):
            continue
        folder = TESTS / path.parent.relative_to(SOURCE)
        if not (folder / f"test_{path.stem.lstrip('_')}.py").exists():
            missing.append(str(path.relative_to(SOURCE)))
    assert sorted(missing) == []
