"""What a release carries: one public address, a README for package indexes, sourced figures."""

import importlib.util
import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

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
    content = getattr(module, block)()
    assert re.search(r"\d", content)
    assert "('" not in content
    assert module.replaced(README, block, content) == README


def test_one_version_everywhere():
    assert clearning.__version__ == PROJECT["version"]
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.search(r"^version: (.*)$", citation, re.MULTILINE)[1] == PROJECT["version"]


def test_the_oldest_python_is_the_same_everywhere():
    floor = PROJECT["requires-python"].removeprefix(">=")
    listed = [c.split(" :: ")[-1] for c in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", c)]
    assert listed[0] == floor


def test_workflows_are_sound_and_call_targets_that_exist():
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    workflows = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
    assert {path.stem for path in workflows} == {"docs", "lint", "nightly", "tests", "wheels"}
    for path in workflows:
        jobs = yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]
        steps = [step for job in jobs.values() for step in job["steps"]]
        assert all(("uses" in step) != ("run" in step) for step in steps), path
        called = re.findall(r"^make ([\w-]+)", "\n".join(s.get("run", "") for s in steps), re.M)
        assert set(called) <= targets, path
        for script in re.findall(r"packaging/\w+\.py", path.read_text()):
            assert (ROOT / script).exists(), script


def test_the_conda_recipe_names_what_the_package_needs():
    jinja2 = pytest.importorskip("jinja2")
    given = {"load_file_data": lambda *_, **__: {"project": PROJECT}, "compiler": lambda name: name}
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
    recipe = yaml.safe_load(jinja2.Template(text).render(PYTHON="python", **given))
    assert recipe["package"]["version"] == PROJECT["version"]
    needed = {re.split(r"[>=]", name)[0].strip() for name in PROJECT["dependencies"]}
    assert needed == {name.split()[0] for name in recipe["requirements"]["run"]} - {"python"}


def test_the_oldest_versions_are_the_floors(capsys):
    _script(ROOT / "packaging" / "oldest.py").main()
    printed = capsys.readouterr().out.split()
    assert len(set(printed)) == len(printed)
    assert all(re.fullmatch(r"[\w-]+==[\d.]+\.\*", line) for line in printed)
    extras = PROJECT["optional-dependencies"]
    asked = [*PROJECT["dependencies"], *extras["plots"], *extras["tables"], *extras["onnx"]]
    names = {line.split("==")[0] for line in printed}
    assert {re.split(r"[>\[]", each)[0] for each in asked} | {"dask", "pandas"} <= names
