"""What photographers expect of `tenter resize`: crisp thumbnails, small JPEGs, inks and animations as any type, folders
that are made, HEIC."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, refused  # noqa: F401
from program_helpers import of_this_machine
from sweeps import sampled
from tenter.cli import first_bytes, formats
from tenter.cli.main import main
from tenter.cli.parser import parse


def photograph(side: int = 512) -> Any:
    """Detail of every size, up to what the pixels hold."""
    rng = np.random.default_rng(5)
    pixels = np.zeros((side, side, 3))
    for n in (4, 16, 64, 256, side):
        small = Image.fromarray(rng.integers(0, 256, (n, n, 3), np.uint8))
        pixels += np.asarray(small.resize((side, side), Image.Resampling.BICUBIC)).astype(float) / 5
    return Image.fromarray(pixels.astype(np.uint8))


def crispness(image: Any) -> float:
    """The mean length of the gradient of brightness."""
    y, x = np.gradient(np.asarray(image.convert("L")).astype(float))
    return float(np.hypot(y, x).mean())


def test_thumbnails_are_as_crisp_as_pillows_lanczos_and_crisper_than_its_thumbnails() -> None:
    photo = photograph()
    photo.save("photo.png")
    assert main(["resize", "photo.png", "small.png", "--fit", "160"]) == 0
    ours = crispness(Image.open("small.png"))
    assert ours >= 0.99 * crispness(photo.resize((160, 160), Image.Resampling.LANCZOS))
    thumbnail = photo.copy()
    thumbnail.thumbnail((160, 160))
    assert ours > 1.02 * crispness(thumbnail)


def test_thumbnails_are_as_crisp_as_those_of_vipsthumbnail() -> None:
    program = of_this_machine(("vipsthumbnail",), "--vips-version", r"^libvips \d[\w.]*")
    photograph().save("photo.png")
    assert main(["resize", "photo.png", "small.png", "--fit", "160"]) == 0
    subprocess.run([program, "photo.png", "--size", "160x160", "-o", "theirs.png"], check=True, timeout=60)
    assert crispness(Image.open("small.png")) >= 0.98 * crispness(Image.open("theirs.png"))


def test_a_camera_s_quality_is_not_kept_for_a_small_jpeg() -> None:
    photograph().save("photo.jpg", quality=96, subsampling=0)
    assert main(["resize", "photo.jpg", "small.jpg", "--scale", "0.99"]) == 0
    usual = io.BytesIO()
    Image.open("photo.jpg").save(usual, "JPEG", quality=75)  # as vipsthumbnail
    assert Path("small.jpg").stat().st_size < 1.3 * len(usual.getvalue()) < 0.5 * Path("photo.jpg").stat().st_size


def inks() -> Any:
    return photograph(64).convert("CMYK")


@pytest.mark.parametrize("ending", ["png", "webp", "gif", "bmp", "avif", "j2k"])
def test_inks_become_colors(ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    inks().save("in.tif")
    assert main(["resize", "in.tif", f"out.{ending}", "--scale", "1", "--labels" if ending == "gif" else "--fast"]) == 0
    assert "not kept: CMYK (converted to sRGB)" in capsys.readouterr().out
    with Image.open(f"out.{ending}") as made:
        assert made.convert("RGB").mode == "RGB" and made.mode in ("RGB", "P")
        far = np.asarray(made.convert("RGB")).astype(int) - np.asarray(inks().convert("RGB"))
    assert np.abs(far).mean() < 20


def test_inks_with_a_damaged_profile_become_colors_too() -> None:
    inks().save("damaged.tif", icc_profile=b"no profile")
    inks().save("plain.tif")
    for name in ("damaged", "plain"):
        assert main(["resize", f"{name}.tif", f"{name}.png", "--scale", "1"]) == 0
    assert Path("damaged.png").read_bytes() == Path("plain.png").read_bytes()


def test_inks_stay_inks_where_the_type_has_them() -> None:
    inks().save("in.tif")
    for ending in ("jpg", "tif", "jp2"):
        assert main(["resize", "in.tif", f"out.{ending}", "--scale", "1"]) == 0
        assert Image.open(f"out.{ending}").mode == "CMYK"


def test_an_animation_to_jpeg_is_its_first_frame_which_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    frames = [Image.new("RGB", (20, 10), color) for color in ("red", "blue", "green")]
    frames[0].save("in.gif", save_all=True, append_images=frames[1:])
    assert main(["resize", "in.gif", "out.jpg", "--scale", "2"]) == 0
    assert capsys.readouterr().out == (
        "out.jpg: 40 x 20 (from in.gif: 20 x 10); not kept: further images of the file\n"
    )
    assert np.abs(np.asarray(Image.open("out.jpg")).astype(int) - (255, 0, 0)).max() <= 2
    clear = [Image.new("RGBA", (20, 10), (255, 0, 0, 128 * k % 256)) for k in range(3)]
    clear[0].save("clear.webp", save_all=True, append_images=clear[1:], lossless=True)
    assert "put it on a color by --background white" in refused(capsys, "resize", "clear.webp", "no.jpg", "--scale", 2)


@pytest.mark.parametrize("out", sampled(["new/deep/out", "out", "out/", "album.2024"], 4))
def test_a_missing_folder_is_made(out: str) -> None:
    Path("photos").mkdir()
    Image.new("RGB", (8, 6)).save("photos/a.png")
    Image.new("RGB", (8, 6)).save("photos/b.png")
    for names in (["photos"], ["photos/*.png"], ["photos/a.png", "photos/b.png"]):
        assert main(["resize", *names, out, "--scale", "2", "--force"]) == 0
        assert sorted(path.name for path in Path(out).iterdir()) == ["a.png", "b.png"]


def test_short_options() -> None:
    args = parse(["resize", "a.png", "-o", "b.png", "-w", "7"])
    assert (args.paths, args.width) == (["a.png", "b.png"], "7")
    assert main(["resize", "in.png", "-w", "7", "-o", "out.png"]) == 0
    assert Image.open("out.png").width == 7


def test_heic_without_its_package_names_it(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(first_bytes._BEGINS, "HEIF", raising=False)
    for ending in formats.HEIF_ENDINGS:
        monkeypatch.delitem(formats.FORMATS, ending, raising=False)
    Path("in.heic").write_bytes(b"\0\0\0\x18ftypheic")
    said = refused(capsys, "resize", "in.heic", "out.jpg", "--scale", 2)
    assert said == "tenter: in.heic: pillow-heif is needed for HEIC and is not installed: pip install pillow-heif\n"
    Path("photos").mkdir()
    Image.new("RGB", (4, 4)).save("photos/a.png")
    Path("in.heic").rename("photos/phone.heic")
    assert main(["resize", "photos", "out", "--scale", "2"]) == 0
    assert "; not read: 1 .heic (pillow-heif reads these)\n" in capsys.readouterr().out
