"""What a release carries: one public address, a README for package indexes, sourced figures."""

import importlib.util
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

import clearning

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TEXT = {".md", ".py", ".toml", ".yml", ".yaml", ".cff", ".txt"}
README = (ROOT / "README.md").read_text(encoding="utf-8")


def _script(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _tracked():
    """The repository's own text files."""
    try:
        done = subprocess.run(
            ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this is no checkout")
    for name in done.stdout.splitlines():
        path = ROOT / name
        if (
            path.suffix in {".md", ".py", ".toml", ".yml", ".yaml", ".cff", ".txt"}
            and path.exists()
        ):
            yield path


def test_every_address_of_the_project_is_the_one_placeholder():
    address = PROJECT["urls"]["Source"]
    host = address.split("/")[2]
    assert all(url.startswith(address) for url in PROJECT["urls"].values())
    for path in _tracked():
        for found in re.findall(
            rf"https?://[^\s\"'<>)`]*{re.escape(host)}[^\s\"'<>)`]*", path.read_text()
        ):
            assert found.startswith(address), f"{path}: {found}"


def test_the_readme_of_a_package_index_leads_to_the_public_address():
    module = _script(ROOT / "packaging" / "absolute_readme.py")
    text = module.dynamic_metadata("readme")["text"]
    address = PROJECT["urls"]["Source"]
    assert re.findall(r"\]\((?!https?://|#)", text) == []
    assert f"]({address}/raw/main/docs/images/cooling.svg)" in text
    assert f"]({address}/blob/main/docs/ten-minutes.md)" in text
    with pytest.raises(ValueError, match="only `readme`"):
        module.dynamic_metadata("version")


@pytest.mark.parametrize("block", ["speed", "paper"])
def test_figures_in_the_readme_are_those_of_their_source(block):
    module = _script(ROOT / "docs" / "make_readme.py")
    assert module.replaced(README, block, getattr(module, block)()) == README


def test_one_version_everywhere():
    assert clearning.__version__ == PROJECT["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == PROJECT["version"]


def test_the_oldest_python_is_the_same_everywhere():
    floor = PROJECT["requires-python"].removeprefix(">=")
    listed = [c.split(" :: ")[-1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert listed[0] == floor
