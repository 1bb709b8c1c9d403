"""The documents: examples run, links lead to files, the public names are those listed here, and all have examples."""

from __future__ import annotations

import doctest
import importlib
import inspect
import linecache
import pkgutil
import re
import shlex
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import tenter
from roots import ROOT
from sweeps import in_one_test
from tenter.cli import main as cli

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PICTURES = re.compile(r"(?:src|srcset)=\"([^\"]+)\"")
MODULES = [m.name for m in pkgutil.walk_packages(tenter.__path__, "tenter.") if not m.name.endswith("_native")]
PUBLIC = [
    "Explanation",
    "Shape",
    "axis_map",
    "conventions",
    "expand",
    "explain",
    "filters",
    "geometry",
    "get_num_threads",
    "image",
    "interp",
    "interpolate",
    "lazy",
    "maps",
    "memory",
    "ragged",
    "repeat",
    "repeat_interleave",
    "resize",
    "set_num_threads",
    "show_config",
    "tile",
]  # and numpy and torch, which a star shall not bind


@in_one_test("name", MODULES)
def test_docstring_examples(name, monkeypatch):
    # doctest makes a debugger for each docstring, which asks the file system for all files that tracebacks have shown.
    monkeypatch.setattr(linecache, "checkcache", lambda filename=None: None)
    of_plans = name.startswith("tenter.ragged.")  # whose methods are in several modules
    known = {"np": np, **({"Plan": tenter.ragged.Plan} if of_plans else {})}
    failed, _ = doctest.testmod(importlib.import_module(name), extraglobs=known)
    assert failed == 0


def test_every_public_function_has_an_example():
    functions = [getattr(tenter, n) for n in PUBLIC if inspect.isfunction(getattr(tenter, n))]
    functions += [
        getattr(tenter.torch, n) for n in tenter.torch.__all__ if n not in ("DeferredError", "Report", "transforms")
    ]
    functions += [getattr(tenter.torch.transforms, n) for n in tenter.torch.transforms.__all__]
    functions += [tenter.memory.get_limit, tenter.memory.set_limit, tenter.memory.clear, tenter.memory.stats]
    functions += [tenter.numpy.repeat, tenter.numpy.tile, tenter.maps.Copy, tenter.maps.Window, tenter.maps.Gather]
    functions += [tenter.maps.from_coordinates]
    functions += [
        tenter.image.resize,
        *(getattr(tenter.ragged, n) for n in tenter.ragged.__all__),
    ]
    functions += [f for name, f in vars(tenter.ragged.Plan).items() if name[0] != "_" and not isinstance(f, property)]
    functions += [tenter.image.resize]
    functions += [getattr(tenter.lazy, n) for n in tenter.lazy.__all__ if n != "LazyArray"]
    for f in functions:
        if f is not tenter.get_num_threads:
            assert ">>> " in (getattr(f, "__func__", f).__doc__ or ""), f


def test_public_names():
    assert sorted(tenter.__all__) == PUBLIC
    assert dir(tenter) == sorted([*PUBLIC, "__all__", "__doc__", "__version__", "numpy", "scipy", "skimage", "torch"])
    scope = {"numpy": np, "torch": "the caller's"}
    exec("from tenter import *", scope)
    assert scope["numpy"] is np and scope["torch"] == "the caller's"
    assert {*scope} == {*PUBLIC, "numpy", "torch", "__builtins__"}
    for name in dir(tenter):
        assert getattr(tenter, name) is not None
    with pytest.raises(AttributeError, match=r"no attribute 'resise' \(did you mean 'resize'\?\)"):
        tenter.resise
    assert tenter.maps.__all__ == ["AxisMap", "Copy", "Gather", "Window", "from_coordinates"]
    assert tenter.numpy.__all__ == ["repeat", "tile"]
    assert tenter.ragged.__all__ == [
        "Plan",
        "lengths",
        "mask",
        "offsets",
        "pad",
        "positions",
        "ranges",
        "repeat_padded",
        "row_ids",
        "segment_max",
        "segment_mean",
        "segment_min",
        "segment_softmax",
        "segment_sum",
        "spans_to_mask",
        "unpad",
    ]
    assert tenter.torch.__all__ == [
        "DeferredError",
        "Report",
        "Upsample",
        "UpsamplingBilinear2d",
        "UpsamplingNearest2d",
        "accelerate",
        "install",
        "report",
        "synchronize",
        "transforms",
        "uninstall",
    ]
    for module in (getattr(tenter, name) for name in ("numpy", "torch", *PUBLIC)):
        if isinstance(module, ModuleType):
            assert [name for name in dir(module) if name[0] != "_"] == sorted(module.__all__)
    assert dir(tenter.torch.transforms) == sorted(tenter.torch.transforms.__all__)
    assert (Path(tenter.__file__).parent / "py.typed").is_file()


def test_the_table_of_operations():
    x, y = np.array([1, 2, 3]), np.array([[1, 2], [3, 4]])
    ri = tenter.repeat_interleave
    assert ri(x, 2).tolist() == [1, 1, 2, 2, 3, 3]
    assert ri(y, 2).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert ri(y, 3, dim=1).tolist() == [[1, 1, 1, 2, 2, 2], [3, 3, 3, 4, 4, 4]]
    assert ri(y, [1, 2], dim=0).tolist() == ri(y, [1, 2], dim=0, output_size=3).tolist() == [[1, 2], [3, 4], [3, 4]]
    assert ri([10, 20, 30], [1, 3, 2]).tolist() == [10, 20, 20, 20, 30, 30]
    assert ri([[1, 2, 3]], [1, 2, 3], dim=1).tolist() == [[1, 2, 2, 3, 3, 3]]
    assert ri([0, 1], [3, 5]).tolist() == [0] * 3 + [1] * 5
    assert ri(np.arange(3), 4).tolist() == [0] * 4 + [1] * 4 + [2] * 4
    kv = np.random.default_rng(0).random((3, 2, 5, 2))
    assert all(np.array_equal(ri(kv, 4, dim=1)[:, h], kv[:, h // 4]) for h in range(8))
    assert tenter.repeat(x, 2).tolist() == [1, 2, 3, 1, 2, 3]
    assert tenter.repeat(y, 2, 3).shape == (4, 6) and tenter.repeat(x, 3, 4, 2).shape == (3, 4, 6)
    assert np.array_equal(tenter.tile(y, 2), np.tile(y, 2))
    view = tenter.expand(x, 4, 3)
    assert np.shares_memory(view, x) and not view.flags.writeable


def test_the_error_of_the_front_page():
    (shown,) = re.findall(r"and the call:\n\n```text\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    with pytest.raises(TypeError) as raised:
        tenter.resize(np.ones((2, 2)), scale_factor=2)
    assert shown == f"TypeError: {raised.value}\n"


@in_one_test("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(page):
    assert all((page.parent / path).exists() for path in PICTURES.findall(page.read_text()))
    for path, _, heading in re.findall(r"\]\((?!https?:)([^)#]*)(#([^)]*))?\)", page.read_text()):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        headings = [re.sub(r"[^\w\- ]", "", line).strip().lower().replace(" ", "-")
                    for line in target.read_text().splitlines() if line.startswith("#")] if heading else [""]  # fmt: skip
        assert heading in headings, heading


def test_commands_of_the_page_on_the_command_line(tmp_path, monkeypatch):
    image = pytest.importorskip("PIL.Image")
    monkeypatch.chdir(tmp_path)
    Path("photos/more").mkdir(parents=True)
    for name in ("photo.jpg", "photos/a.jpg", "photos/more/b.jpg"):
        image.new("RGB", (8, 6)).save(name)
    for name in ("stack.tif", "labels.tif"):
        pytest.importorskip("tifffile").imwrite(
            name, np.ones((2, 3, 4), np.uint16), imagej=True, metadata={"axes": "ZYX"}
        )
    np.save("volume.npy", np.ones((2, 3, 4)))
    np.save("rows.npy", np.arange(6).reshape(3, 2))
    np.save("counts.npy", np.array([1, 0, 2]))
    (commands,) = re.findall(r"```bash\n(.*?)```", (ROOT / "docs" / "command-line.md").read_text(), re.S)
    for line in commands.splitlines():
        assert cli.main(shlex.split(line, comments=True)[1:]) == 0, line
    assert image.open("small.png").size == (640, 480) and np.load("out.npy").shape == (2, 256, 256)
    assert sorted(p.name for p in Path("small").rglob("*.*")) == ["a.jpg", "a.png", "b.jpg", "b.png"]
    several = [f"b-{n}.{t}" for n in (1280, 320, 640) for t in ("jpg", "webp")]
    assert sorted(p.name for p in Path("web/more").glob("b-*")) == several
    assert image.open("web/more/b.jpg").size == (8, 6) and image.open("thumbnails/a.jpg").size == (400, 400)
    assert np.load("repeated.npy").tolist() == [[0, 1], [4, 5], [4, 5]]


def test_the_error_on_the_page_of_ragged_arrays():
    shown = re.findall(r"```text\n(.*?)```", (ROOT / "docs" / "ragged.md").read_text(), re.S)[-1]
    with pytest.raises(ValueError) as raised:
        tenter.ragged.offsets(np.array([2, -1, 3]))
    assert shown == f"ValueError: {raised.value}\n"
