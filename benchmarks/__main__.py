"""``python -m benchmarks --list``, ``... redsvm [--quick]`` or ``... --page``."""

import argparse
import importlib
import pkgutil
from pathlib import Path

from benchmarks.harness import page, save

HERE = Path(__file__).parent


def main() -> None:
    names = sorted(
        m.name.removeprefix("bench_")
        for m in pkgutil.iter_modules([str(HERE)])
        if m.name.startswith("bench_")
    )
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", help="benchmarks to run")
    parser.add_argument("--list", action="store_true", help="list the benchmarks")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that it works")
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder of the real data sets"
    )
    parser.add_argument(
        "--out", type=Path, default=HERE / "results", help="folder for the JSON results"
    )
    parser.add_argument(
        "--page", action="store_true", help="write docs/benchmarks.md from the stored results"
    )
    arguments = parser.parse_args()
    if arguments.page:
        print("written:", page(arguments.out, HERE.parent / "docs" / "benchmarks.md"))
        return
    if arguments.list or not arguments.names:
        for name in names:
            module = importlib.import_module(f"benchmarks.bench_{name}")
            print(f"{name:10} {(module.__doc__ or '').splitlines()[0]}")
        return
    for name in arguments.names:
        if name not in names:
            parser.error(f"no benchmark {name!r}; choose from {', '.join(names)}")
        module = importlib.import_module(f"benchmarks.bench_{name}")
        records = module.run(quick=arguments.quick, data=arguments.data)
        print("saved:", save(name, records, arguments.out, arguments.quick))


if __name__ == "__main__":
    main()
