import subprocess
from importlib.metadata import version

from tordinal.experiments.origin import commit, origin


def git(folder, *arguments):
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", "-C", folder, *identity, *arguments], check=True, capture_output=True)


def test_the_commit_is_that_of_the_source(tmp_path):
    source = tmp_path / "source"
    source.mkdir()
    assert commit(str(source)) == "unknown"
    git(tmp_path, "init")
    (source / "a.py").write_text("a = 1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "source")
    commit.cache_clear()
    first = commit(str(source))
    assert len(first) >= 7
    assert first.isalnum()
    (tmp_path / "README").write_text("documents alone leave it as it is")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "documents")
    commit.cache_clear()
    assert commit(str(source)) == first
    (source / "a.py").write_text("a = 2")
    commit.cache_clear()
    assert commit(str(source)) == first + "+changes"
    commit.cache_clear()


def test_results_say_which_code_made_them():
    assert origin()["version"] == version("tordinal")
    assert set(origin()) == {"version", "commit"}
