"""What a package index shows of tenter, and what a wheel holds. The slow test builds one, which takes a minute or two."""

from __future__ import annotations

import email
import importlib.util
import re
import subprocess
import sys
import sysconfig
import zipfile

import pytest

import tenter
from roots import ROOT

if sys.version_info < (3, 11):
    pytest.skip("needs tomllib", allow_module_level=True)
import tomllib

SETTINGS = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT = SETTINGS["project"]
LINK = re.compile(r"\]\(([^)\s]+)\)|src(?:set)?=\"([^\"]+)\"")


def on_an_index(readme: str) -> str:
    """The README after the substitutions that the build makes."""
    for rule in SETTINGS["tool"]["hatch"]["metadata"]["hooks"]["fancy-pypi-readme"]["substitutions"]:
        readme = re.sub(rule["pattern"], rule["replacement"], readme)
    return readme


def is_absolute(link: str) -> bool:
    return link.startswith(("https://", "#"))


def relative_links(text: str) -> list[str]:
    return [link for found in LINK.findall(text) for link in found if link and not is_absolute(link)]


def test_metadata_is_complete():
    for field in ("description", "license", "license-files", "authors", "keywords", "classifiers", "requires-python"):
        assert PROJECT[field], field
    assert {"Homepage", "Documentation", "Changelog", "Issues", "Source"} <= set(PROJECT["urls"])
    assert PROJECT["version"] == tenter.__version__
    assert not any("License ::" in c for c in PROJECT["classifiers"]), "the license is an expression"


def test_one_address():
    source = PROJECT["urls"]["Source"]
    addresses = re.findall(r"https://[^\"')\s]+", (ROOT / "pyproject.toml").read_text())
    assert addresses and all(a == source or a.startswith(source + "/") for a in addresses)


def test_links_of_the_readme_work_outside_of_a_checkout():
    readme = (ROOT / "README.md").read_text()
    relative = relative_links(readme)
    assert relative, "the test looks at nothing"
    for link in relative:
        assert (ROOT / link.partition("#")[0]).exists(), link
    shown, source = on_an_index(readme), PROJECT["urls"]["Source"]
    assert relative_links(shown) == []
    for link in relative:
        view = "raw" if link.endswith((".png", ".svg", ".webp")) else "blob"  # a page about a picture is not a picture
        assert f"{source}/{view}/main/{link}" in shown


def test_stable_abi_from_python_3_12_on():
    found = [o for o in SETTINGS["tool"]["scikit-build"]["overrides"] if o["if"].get("python-version") == ">=3.12"]
    assert [o["wheel"]["py-api"] for o in found] == ["cp312"]
    assert "cp312-*" in SETTINGS["tool"]["cibuildwheel"]["build"]


@pytest.mark.slow
def test_a_wheel(tmp_path):
    """The wheel's own metadata and contents; auditwheel accepts it as manylinux where there is an auditwheel."""
    make = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-q", "-w", tmp_path, ROOT]
    subprocess.run(make, check=True, cwd=tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    stable = sys.version_info >= (3, 12) and not sysconfig.get_config_var("Py_GIL_DISABLED")
    abi = "cp312-abi3" if stable else "cp{0}{1}-cp{0}{1}{2}".format(*sys.version_info[:2], getattr(sys, "abiflags", ""))
    assert wheel.name.startswith(f"tenter-{tenter.__version__}-{abi}-")
    with zipfile.ZipFile(wheel) as held:
        names = held.namelist()
        (metadata,) = (email.message_from_bytes(held.read(n)) for n in names if n.endswith("/METADATA"))
    assert relative_links(metadata.get_payload()) == []
    assert metadata["Description-Content-Type"].startswith("text/markdown")
    assert metadata["Keywords"] and metadata["Author"]
    assert len(metadata.get_all("Project-URL")) == len(PROJECT["urls"])
    cores = [n for n in names if "/_core." in n and not n.endswith(".pyi")]
    assert len(cores) == 1 and "tenter/py.typed" in names
    assert not [n for n in names if n.startswith(("tests/", "native/", "benchmarks/"))]
    if sys.platform == "linux" and importlib.util.find_spec("auditwheel"):
        said = subprocess.check_output([sys.executable, "-m", "auditwheel", "show", wheel], text=True)
        assert "manylinux_2" in said


def test_the_conda_recipe_needs_what_the_wheel_needs() -> None:
    recipe = (ROOT / "recipe" / "recipe.yaml").read_text()
    plain = recipe.replace(" >=", ">=")
    for needed in (*PROJECT["dependencies"], *SETTINGS["build-system"]["requires"]):
        assert f"    - {needed}\n" in plain, needed
    assert f'  version: "{PROJECT["version"]}"\n' in recipe
    assert f'match(python, "<{PROJECT["requires-python"].removeprefix(">=")}")' in recipe
    for field in ("license", "name"):
        assert f"  {field}: {PROJECT[field]}\n" in recipe
