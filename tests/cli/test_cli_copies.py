"""Files that `tenter resize` leaves as they are: where neither the size nor an option changes anything, byte by byte."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, noise, ran  # noqa: F401


def _turned(name: str, orientation: int) -> None:
    exif = Image.Exif()
    exif[274] = orientation
    noise().save(name, exif=exif)


def _animated(name: str) -> None:
    frames = [noise("L").rotate(90 * k).convert("P") for k in range(3)]
    frames[0].save(name, save_all=True, append_images=frames[1:], duration=80, loop=0)


#: A file of 40x40 pixels, and how it is made.
MAKERS: dict[str, Any] = {
    "palette.png": lambda n: noise().quantize(16).save(n), "photo.jpg": lambda n: noise().save(n, quality=95),
    "a.webp": lambda n: noise().save(n), "a.avif": lambda n: noise().save(n), "a.gif": _animated,
    "pages.tif": lambda n: noise().save(n, save_all=True, append_images=[noise("L")]), "alpha.png": lambda n: noise("RGBA").save(n),
    "a.bmp": lambda n: noise().save(n), "inks.jpg": lambda n: noise().convert("CMYK").save(n), "bits.png": lambda n: noise("L").convert("1").save(n),
    "a.ppm": lambda n: noise().save(n), "upright.jpg": lambda n: _turned(n, 1),
}  # fmt: skip


@pytest.mark.parametrize("name", MAKERS)
def test_a_file_that_nothing_changes_is_copied_byte_by_byte(name: str) -> None:
    MAKERS[name](name)
    for size in (
        ["--fit", "4000x3000"],
        ["--scale", 1],
        ["--width", 40, "--mode", "linear"],
        ["--fit", 40, "--depth", 8],
    ):
        done = ran("resize", name, f"out{Path(name).suffix}", *size, "--force")
        assert done.returncode == 0 and "40 x 40, copied as it is" in done.stdout and "not kept" not in done.stdout, (
            done
        )
        assert Path(f"out{Path(name).suffix}").read_bytes() == Path(name).read_bytes()


#: What changes a file of the same size.
CHANGES = (
    "--strip", "--profile srgb", "--quality 50", "--subsampling 4:4:4", "--progressive", "--frame 0",
    "--mode bspline", "--box 39x40+0+0 --enlarge",
)  # fmt: skip


@pytest.mark.parametrize("options", CHANGES)
def test_an_option_that_changes_a_file_is_followed(options: str) -> None:
    noise().save("photo.jpg", quality=95)
    done = ran("resize", "photo.jpg", "out.jpg", "--fit", "40", *options.split())
    assert done.returncode == 0 and "copied" not in done.stdout, done
    assert Path("out.jpg").read_bytes() != Path("photo.jpg").read_bytes()


@pytest.mark.parametrize(
    ("source", "output"), [("photo.jpg", "out.png"), ("a.ppm", "out.pgm"), ("alpha.png", "out.npy")]
)
def test_another_type_is_written_anew(source: str, output: str) -> None:
    MAKERS[source](source)
    assert "copied" not in ran("resize", source, output, "--fit", "40").stdout
    assert Path(output).read_bytes() != Path(source).read_bytes() or output.endswith(".pgm")


def test_stored_pixels_that_are_turned_are_written_upright_unless_they_are_to_stay() -> None:
    _turned("in.jpg", 6)
    assert "copied" not in ran("resize", "in.jpg", "out.jpg", "--fit", 40).stdout
    assert Image.open("out.jpg").getexif()[274] == 1
    assert "copied" in ran("resize", "in.jpg", "kept.jpg", "--fit", 40, "--keep-orientation").stdout
    assert Path("kept.jpg").read_bytes() == Path("in.jpg").read_bytes()


def test_sixteen_bits_that_become_eight_are_no_copy() -> None:
    Image.fromarray(np.arange(1600, dtype=np.uint16).reshape(40, 40)).save("deep.png")
    assert "copied" not in ran("resize", "deep.png", "out.png", "--fit", 40, "--depth", 8).stdout
    assert Image.open("out.png").mode == "L"


def test_a_damaged_file_is_reported_and_not_copied() -> None:
    noise().save("photo.jpg", quality=95)
    Path("short.jpg").write_bytes(Path("photo.jpg").read_bytes()[:-400])
    assert "truncated" in ran("resize", "short.jpg", "out.jpg", "--fit", 4000).stderr and not Path("out.jpg").exists()


def test_copies_are_counted() -> None:
    Path("photos").mkdir()
    noise().save("photos/a.png")
    noise().resize((90, 90)).save("photos/b.png")
    assert ran("resize", "photos", "out/", "--fit", 40).stdout.startswith("2 done (1 copied as it is), 0 skipped")
    assert '"copied": true' in ran("resize", "photos", "more/", "--fit", 40, "--json").stdout
