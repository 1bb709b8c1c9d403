"""Numbers, defaults, versions, limits and names on pages are those of the code; what two pages say agrees."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import Any, get_args

import pytest

import tenter
from roots import DOCS, NATIVE, ROOT, TESTS
from tenter._arrays import signatures
from tenter._arrays.oldest_versions import OLDEST
from tenter.conventions import PRESETS

if sys.version_info >= (3, 11):
    import tomllib
else:
    tomllib = pytest.importorskip("tomli")

PAGES = {p.relative_to(ROOT).as_posix(): p.read_text() for p in (ROOT / "README.md", *sorted(DOCS.rglob("*.md")))}
SOURCES = {p.relative_to(ROOT).as_posix(): p.read_text() for p in (ROOT / "src").rglob("*.py")}
CHANGES = (ROOT / "CHANGELOG.md").read_text()
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def page(name: str) -> str:
    return " ".join(PAGES[f"docs/{name}.md"].split())


def number(path: Path, pattern: str) -> int:
    """A constant of a source, such as 256 << 10."""
    (found,) = re.findall(pattern, path.read_text())
    value = ast.unparse(ast.parse(found))
    assert re.fullmatch(r"[\d <>*]+", value)
    return int(eval(value))


TUNING = NATIVE / "system" / "tuning.hpp"
KIB, MIB = 1 << 10, 1 << 20

#: page, what it says with a number in parentheses, the number in the code
STATED: list[tuple[str, str, Any]] = [
    ("reliability", r"The default tests make (\d+) such calls", lambda: number(TESTS / "repository/test_fuzz.py", r'"TENTER_FUZZ_CALLS", "(\d+)"')),
    ("memory", r"A result of (\d+) KiB or more uses a \*\*block", lambda: number(TUNING, r"large_bytes = ([^;]+);") // KIB),
    ("memory", r"from (\d+) MiB on, in 2 MiB pages", lambda: number(TUNING, r"huge_page_bytes = ([^;]+);") // MIB),
    ("memory", r"in (\d+) MiB pages", lambda: number(TUNING, r"huge_page = ([^;]+);") // MIB),
    ("memory", r"up to (\d+) KiB per result", lambda: number(TUNING, r"small_unit = ([^;]+);") // KIB),
    ("memory", r"Idle blocks of (\d+) MiB or more are marked", lambda: number(TUNING, r"lazy_free_bytes = ([^;]+);") // MIB),
    ("memory", r"axes longer than ([\d,]+)", lambda: number(TUNING, r"long_axis = ([^;]+);")),
    ("numerics", r"sums of more than ([\d,]+) values", lambda: number(NATIVE / "kernels/long_sums.hpp", r"sum_part = (\d+);")),
    ("cuda", r"the values in between take up to (\d+) MiB", lambda: number(ROOT / "src/tenter/_triton/windows.py", r"MOST_TEMPORARY = (.+)") // MIB),
    ("file-formats", r"\*\*Quality\*\*: JPEG (\d+)", lambda: number(ROOT / "src/tenter/cli/writing/jpeg.py", r"QUALITY, FINE = (\d+),")),
    ("file-formats", r"JPEG below quality (\d+) uses 4:2:0", lambda: number(ROOT / "src/tenter/cli/writing/jpeg.py", r"QUALITY, FINE = \d+, (\d+)")),
    ("file-formats", r"\*\*Quality\*\*: JPEG \d+, WebP (\d+)", lambda: number(ROOT / "src/tenter/cli/writing/pillow.py", r'"WEBP": (\d+)')),
    ("file-formats", r"AVIF (\d+); JPEG 2000", lambda: number(ROOT / "src/tenter/cli/writing/pillow.py", r'"AVIF": (\d+)')),
    ("command-line", r"may have, (\d+) by default", lambda: number(ROOT / "src/tenter/cli/parser.py", r"may have \(default: (\d+);")),
    ("conventions", r"the rules of one of (\w+) libraries", lambda: ["none", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"][len(PRESETS)]),
    ("internals/kernels", r"A window of more than ([\d,]+) taps", lambda: number(NATIVE / "kernels/long_sums.hpp", r"sum_part = (\d+);")),
]  # fmt: skip


@pytest.mark.parametrize("name, said, known", STATED, ids=[f"{name}: {said}" for name, said, _ in STATED])
def test_a_number_on_a_page_is_that_of_the_code(name: str, said: str, known: Any) -> None:
    found = re.findall(said, page(name))
    assert found and {one.replace(",", "") for one in found} == {str(known())}


def test_the_changelog_counts_what_there_is() -> None:
    pytest.importorskip("PIL")
    from tenter.cli.formats import TYPES

    counted = {"types": len(set(TYPES) - {"HEIF"}), "fields": len(PRESETS["torch"])}
    counted["modes"] = len(set(get_args(signatures.Mode)) - {"bilinear", "bicubic", "trilinear"})
    said = {word: re.findall(rf"\b(\d+) {word}\b", CHANGES) for word in counted}
    assert said == {word: [str(n)] for word, n in counted.items()}


def test_fixed_point_is_within_one_distance_everywhere() -> None:
    (least,) = re.findall(r"^LEAST = ([\d.]+)$", (TESTS / "kernels/test_byte_taps.py").read_text(), re.M)
    near = {
        name: re.findall(r"\b0\.5\d\b(?= (?:of the exact|units))", text) for name, text in {**PAGES, **SOURCES}.items()
    }
    assert sum(map(len, near.values())) >= 5 and {one for of in near.values() for one in of} == {least}


def test_pixels_are_said_to_be_pillows_for_a_given_size_only() -> None:
    """With a scale, positions follow the scale, and the bits are others."""
    claims = re.compile(r"(?:bit-identical to|equal to|equals?) Pillow(?:'s| 13)[^.;|]*|Pillow 13 bit for bit[^.;|]*")
    for name in (
        "README.md",
        "docs/numerics.md",
        "docs/command-line.md",
        "src/tenter/resampling.py",
        "src/tenter/interpolation.py",
    ):
        text = " ".join({**PAGES, **SOURCES}[name].split())
        for found in claims.finditer(text):
            around = text[max(0, found.start() - 120) : found.end() + 120]
            assert re.search(r"given size|of the same filter and size|by default|given scale", around), (name, around)
    x = np_noise()
    pillow = pytest.importorskip("PIL.Image")
    by_size = tenter.resize(x, (22, 37), axes=(0, 1))
    assert (by_size == pillow_of(pillow, x, (37, 22))).all()
    by_scale = tenter.resize(x, scale=0.37, axes=(0, 1))
    assert by_scale.shape == by_size.shape and (by_scale != by_size).any()


def np_noise() -> Any:
    import numpy as np

    return np.random.default_rng(0).integers(0, 256, (60, 101, 3), np.uint8)


def pillow_of(image: Any, x: Any, size: tuple[int, int]) -> Any:
    import numpy as np

    return np.asarray(image.fromarray(x).resize(size, image.Resampling.BILINEAR))


def test_provisional_names_are_in_one_list() -> None:
    (said,) = re.findall(r"The modules (.*?) are provisional", page("installing"))
    modules, _, others = said.partition(", and `tenter.axis_map`")
    names = re.findall(r"`(?:tenter\.)?(\w+)`", modules)
    assert others == "," and all(hasattr(tenter, name) for name in (*names, "axis_map"))
    words = {4: "four", 5: "five", 6: "six"}
    assert re.search(rf"\[{words[len(names)]} modules\]\(docs/installing.md", PAGES["README.md"])
    for name, text in PAGES.items():
        assert "provisional" not in text or name == "docs/installing.md", name


def test_a_version_that_a_page_names_is_one_that_works() -> None:
    """The version that CUDA was measured with, and the oldest that a page promises."""
    assert all(
        tuple(map(int, found.split("."))) >= OLDEST["PyTorch"]
        for found in re.findall(r"PyTorch (\d+\.\d+)", " ".join(PAGES.values()))
    )
    newest = re.findall(r"^\| PyTorch \| [\d.]+ \| .*?([\d.]+) \|$", PAGES["docs/installing.md"], re.M)
    assert f"PyTorch {newest[0]}" in page("differences") and f"Checked with PyTorch {newest[0]}." in page("compile")
    assert "Triton {}.{} or newer".format(*OLDEST["Triton"]) in page("cuda")


def test_processors_that_kernels_compile_for_are_the_same_on_each_page() -> None:
    named = {name: set(re.findall(r"sm_\d+", text)) for name, text in PAGES.items() if "sm_" in text}
    assert len(named) >= 2 and len(set(map(frozenset, named.values()))) == 1, named


def test_the_default_filter_is_the_same_on_each_page() -> None:
    """Of `tenter.image.resize` and of the command, which is that of the code."""
    import inspect

    from tenter.image import resize

    assert inspect.signature(resize).parameters["mode"].default in (None, "lanczos")
    assert "with `lanczos`" in page("operations/image-resize") and "that of `tenter.image.resize` is `lanczos`" in page(
        "coming-from"
    )
    assert "| `image.resize` | (height, width), `Fit`, `Fill`, `Budget`, `Tiles` | `lanczos`" in page("conventions")
    assert "**Mode**: `lanczos` for images" in page("command-line")


def test_every_extra_is_in_the_table_and_every_extra_that_a_page_names_exists() -> None:
    table = re.findall(r"^\| `(\w+)` \|", PAGES["docs/installing.md"].split("## Extras")[1].split("\n## ")[0], re.M)
    assert set(table) == set(EXTRAS)
    named = {
        (name, extra)
        for name, text in PAGES.items()
        for found in re.findall(r"\.\[([\w,]+)\]", text)
        for extra in found.split(",")
    }
    assert {one for one in named if one[1] not in EXTRAS} == set()


#: what code on a page imports, and the extras that bring it
BRINGS = {
    "torch": ("torch", "cuda"),
    "jax": ("jax",),
    "dask": ("dask",),
    "PIL": ("cli", "cli16", "tour", "volumes"),
    "zarr": ("volumes", "dask"),
}


@pytest.mark.parametrize(
    "name",
    [
        n
        for n, text in PAGES.items()
        if re.search(r"^import|^from", "".join(re.findall(r"```python\n.*?```", text, re.S)), re.M)
    ],
)
def test_a_page_says_before_its_code_which_extra_the_code_needs(name: str) -> None:
    if name in ("docs/coming-from.md", "docs/index.md"):
        return  # a library for each section
    text = PAGES[name]
    for code in re.finditer(r"```python\n(.*?)```", text, re.S):
        for package, extras in BRINGS.items():
            if re.search(rf"^(?:import|from) [\w ,.]*\b{package}\b", code[1], re.M):
                before = text[: code.start()]
                assert re.search(rf"\.\[(?:[\w,]*,)?(?:{'|'.join(extras)})[],]", before), (
                    f"{package} is imported: pip install '.[{extras[0]}]'"
                )


# ---- words


#: what readers of the field do not say, and what they say
DIALECT = {r"served": "computed", r"passed on": "left to", r"adjoint": "gradient, transpose", r"fresh memory": "a new array",
           r"levels of 255": "of 255", r"the standard(?!s| library)": "the Array API"}  # fmt: skip


def prose(text: str) -> str:
    return re.sub(r"`[^`]*`", "", re.sub(r"```.*?```", "", text, flags=re.S))


@pytest.mark.parametrize("word", DIALECT)
def test_pages_say_it_in_the_words_of_the_field(word: str) -> None:
    lines = [(name, line) for name, text in PAGES.items() for line in prose(text).splitlines()]
    said = [(name, line) for name, line in lines if re.search(rf"\b{word}\b", line, re.I)]
    assert [one for one in said if "API standard" not in one[1]] == []
