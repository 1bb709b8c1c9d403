"""Figures of the README and of pages are those of the recorded data; what stands in several places agrees."""

from __future__ import annotations

import json
import re
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tenter
from roots import ROOT
from tenter.cli.main import main as command
from tenter.cli.options import read_options
from tenter.cli.parser import TENTER, parse

pytest.importorskip("torch")
import torch
from benchmarks import __main__ as benchmarks, chart, chart_rows, chart_svg, patches, summaries

DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text()
PERFORMANCE = (DOCS / "performance.md").read_text()
DATA = json.loads((DOCS / "performance.json").read_text())
RATIO = re.compile(r"\d+(?:\.\d+)?x\b")


def plain(text: str) -> str:
    return " ".join(text.split())


# ---- figures


def test_charts_tables_and_sentences_are_those_of_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """`python -m benchmarks chart --seconds 0` writes them once more."""
    monkeypatch.chdir(ROOT)
    for path, text in chart.rendered(DATA).items():
        assert path.read_text(encoding="utf-8") == text, path


def test_the_picture_of_patches_is_that_of_its_data() -> None:
    data = json.loads((ROOT / patches.STEPS).read_text())
    assert (ROOT / patches.PICTURE).read_text() == patches.drawn(data["steps"])
    assert sum(data["steps"]["PyTorch"].values()) > sum(data["steps"]["tenter"].values()) > 0


def test_the_data_has_the_rows_that_the_command_measures() -> None:
    assert [(row["group"], row["name"]) for row in DATA["rows"]] == [(row.group, row.name) for row in chart_rows.ROWS]
    assert {"processor", "threads", "versions", "date"} <= DATA["machine"].keys()


def test_no_ratio_stands_outside_of_what_is_written_from_the_data() -> None:
    for text in (README, PERFORMANCE):
        assert RATIO.findall(text.split(chart.BEGIN)[0] + text.split(chart.END)[1]) == []


MEASURED = [p for p in sorted(DOCS.rglob("*.md")) if re.search(r"^\|.*\| \d+(\.\d+)?x( ~)? \|", p.read_text(), re.M)]


@pytest.mark.parametrize("page", MEASURED, ids=lambda page: page.stem)
def test_a_page_of_measurements_says_times_faster_and_names_processor_and_date(page: Path) -> None:
    text = page.read_text()
    assert "times faster" in text and not re.search(r"times slower|as fast as|\| (ratio|faster) \|", text)
    assert re.search(r"(EPYC|Xeon|Ryzen|Core|Neoverse|Apple).*; ?.*\d{4}-\d\d-\d\d|Measured on .*\d{4}-\d\d-\d\d", text)


def test_a_figure_that_is_changed_by_hand_is_found() -> None:
    changed = json.loads(json.dumps(DATA))
    shown = next(row for row in changed["rows"] if row["shown"])
    next(iter(shown["contests"].values()))["ratio"] *= 2
    assert chart.tables(changed) != chart.tables(DATA) and chart_svg.chart(changed, "light") != chart_svg.chart(
        DATA, "light"
    )


def test_the_sentence_has_the_least_the_most_and_the_median() -> None:
    def row(name: str, ratio: float) -> dict[str, Any]:
        contest = {"ratio": ratio, "spread": 0.0, "ours_ms": 1.0, "peer_ms": ratio, "pairs": 7}
        return {"group": "g", "name": name, "shown": True, "threads": 2, "contests": {chart.PYTORCH: contest}}

    data = {"machine": DATA["machine"], "rows": [row("a", 0.5), row("b", 4.0), row("c", 30.0)]}
    said = "in random calls; in 3 chosen calls 4.0 times PyTorch's as installed (0.5 to 30)."
    assert said in chart.summary(data)
    assert (
        "| [chosen calls](../performance.md#all-rows) | PyTorch | 1 of 3 | 0.50x |" in chart.slower(data).splitlines()
    )
    assert [shown["name"] for shown in chart_svg.rows(data)] == ["b", "c", "a"]
    assert statistics.median(chart.ratios(data, chart.PYTORCH)) == 4.0


def test_every_table_of_slower_calls_is_on_the_page_of_slower_calls() -> None:
    """`python -m benchmarks chart --seconds 0` collects them once more."""
    pages = [page for page in (DOCS / "measured").glob("*.md") if summaries.BEGIN in page.read_text()]
    lost = [
        f": {kind} | {' | '.join(few)} | {ratio} |"
        for page in pages for kind, *few, _, ratio in summaries.rows(page.read_text())
    ]  # fmt: skip
    assert len(pages) >= 7 and len(lost) > 10 and all(line in (ROOT / chart.SLOWER).read_text() for line in lost)


def test_figures_at_the_doors_of_the_readme_are_those_of_the_pages_that_they_name() -> None:
    doors = [
        line for line in README.split("| You have (pip extra) |")[1].split("\n\n")[0].splitlines() if "](docs/" in line
    ]
    figures = [
        (re.findall(r"\d[\d,.]*\d", line.split(" | ")[2]), re.findall(r"\]\((docs/[^)#]+)", line)) for line in doors
    ]
    assert sum(map(len, (numbers for numbers, _ in figures))) >= 6
    for numbers, pages in figures:
        text = " ".join((ROOT / page).read_text() for page in pages)
        assert all(number in text for number in numbers), (numbers, pages)


LARGE = ("bicubic", "8 float", "nearest, (8", "trilinear", "K/V", "a volume", "channels-last")  # some seconds each


@pytest.mark.parametrize(
    "row",
    [pytest.param(row, marks=[pytest.mark.slow] * ((k % 2 and "signal" not in row.name) or any(word in row.name for word in LARGE)), id=row.name)
     for k, row in enumerate(chart_rows.ROWS)],
)  # fmt: skip
def test_what_is_timed_gives_the_same(row: chart_rows.Row) -> None:
    """Except OpenCV's INTER_AREA, which is another filter."""
    ours, theirs = row.calls()
    found = np.asarray(as_numpy(ours()))
    for name, call in theirs.items():
        if name != chart_rows.FAST:  # which writes to its own image
            expected = as_numpy(call())
            assert expected.shape == found.shape, name
            if not (name == "OpenCV" and "antialiased" in row.name):
                off = 1 if found.dtype == np.uint8 else 1e-3 * np.abs(expected).max()
                assert np.abs(found.astype(float) - expected).max() <= off, name


def as_numpy(x: Any) -> Any:
    return (
        x.float().detach().numpy()
        if isinstance(x, torch.Tensor) and x.dtype == torch.bfloat16
        else (x.detach().numpy() if isinstance(x, torch.Tensor) else np.asarray(x))
    )


def test_the_command_measures_and_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DATA", "PAGE", "README", "SLOWER"):
        monkeypatch.setattr(chart, name, tmp_path / getattr(chart, name).name)
    (tmp_path / "slower.md").write_text("\n".join(chart.MORE))
    (tmp_path / "README.md").write_text(README)
    (tmp_path / "performance.md").write_text(PERFORMANCE)
    some = [row for row in chart_rows.ROWS if row.name.startswith("a tiny call")]
    monkeypatch.setattr(chart, "ROWS", some)
    monkeypatch.setattr(chart, "with_huge_pages", lambda seconds, threads: {})
    monkeypatch.setattr(benchmarks, "copy_bandwidth", lambda: 1e9)
    monkeypatch.setattr("sys.argv", ["benchmarks", "chart", "--seconds", "0.001"])
    assert benchmarks.main() == 0
    data = json.loads((tmp_path / "performance.json").read_text())
    assert [row["name"] for row in data["rows"]] == [row.name for row in some]
    assert all(c["ratio"] > 0 for row in data["rows"] for c in row["contests"].values())
    assert chart.summary(data) in (tmp_path / "README.md").read_text()
    assert "performance-dark.svg" in {path.name for path in tmp_path.iterdir()}


# ---- statements that stand in several places


def test_one_description() -> None:
    """In the README, the package, its metadata, the site and the command."""
    said = README.split("\n\n")[1].strip()
    metadata = re.findall(r'^description = "(.*)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    assert said == metadata[0] == (DOCS / "index.md").read_text().split("\n\n")[1].strip()
    assert plain(tenter.__doc__ or "").startswith(said) and plain(TENTER).startswith(said)


def test_tiny_calls_and_photographs_are_measured_on_one_page() -> None:
    """What other pages say of these is a link: no other page has a figure."""
    for row in (
        "a tiny call: bilinear",
        "a tiny call: repeat 10",
        "photograph as a tensor",
        "8-bit photograph of 1080p",
    ):
        assert row in PERFORMANCE
    pages = [
        p for p in DOCS.rglob("*.md") if not {"measured", "cookbook"} & set(p.parts) and p.name != "performance.md"
    ]
    claims = re.compile(
        r"\d(?:\.\d+)?x? (?:times )?(?:faster|as fast)|faster than (?:NumPy|PyTorch|Pillow|OpenCV)", re.I
    )
    found = {p.name: claims.findall(p.read_text()) for p in (*pages, ROOT / "CHANGELOG.md")}
    assert {name: said for name, said in found.items() if said} == {}


def test_the_default_conventions_of_the_command_are_those_of_the_page(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    page = plain((DOCS / "command-line.md").read_text())
    assert "**Conventions**: those of `tenter.resize`, for images and for arrays: antialiased when shrinking." in page
    for words in (["a.png", "b.png", "--size", "3x3"], ["a.npy", "b.npy", "--size", "3", "--axes", "0"]):
        assert read_options(parse(["resize", *words])).like is None
    x = np.random.default_rng(0).integers(0, 256, (37, 50, 3), np.uint8)
    held, made = tmp_path / "x.png", tmp_path / "y.png"
    image.fromarray(x).save(held)
    for mode in ("lanczos", "linear", "cubic", "area", "nearest"):
        assert command(["resize", str(held), str(made), "--size", "21x17", "--mode", mode, "--force"]) == 0
        assert np.array_equal(np.asarray(image.open(made)), tenter.image.resize(x, (17, 21), mode=mode)), mode


def test_pages_name_no_version_before_the_first() -> None:
    said = (ROOT / "CHANGELOG.md").read_text()
    assert said.count("\n## ") == 1 and len(said.split()) < 900
    assert not re.search(r"\b(no longer|was|were|before,|until now)\b", said)


def test_raw_tables_have_their_machine_and_date() -> None:
    for page in (DOCS / "measured").glob("*.md"):
        assert re.search(r"20\d\d-\d\d-\d\d", page.read_text()), page.name
        assert "not measured yet" not in page.read_text()


def test_what_never_ran_is_said_wherever_it_is_named() -> None:
    for name in ("README.md", "docs/installing.md"):
        assert re.search(r"macOS.* \| never run", (ROOT / name).read_text()), name
    for name in ("README.md", "docs/cuda.md", "docs/installing.md"):  # what ran on one device only
        assert re.search(r"on one (GPU|H100).*PyTorch 2\.11", (ROOT / name).read_text(), re.S), name
