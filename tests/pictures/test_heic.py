"""HEIC, as phones write it: read and written by pillow-heif."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import tenter
from cli_helpers import _inside, refused  # noqa: F401
from tenter.cli.kept import icc
from tenter.cli.main import main
from tenter.cli.reading.unread import of_heif

pillow_heif = pytest.importorskip("pillow_heif")
pillow_heif.register_heif_opener()
P3 = icc.of_colors((0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06), icc.curve(2.2))
XMP = b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/></x:xmpmeta>'


def colors() -> Any:
    y, x = np.mgrid[0:48, 0:64]
    return np.stack([x * 4, y * 5, 255 - x - y], -1).astype("u1")


def said(capsys: pytest.CaptureFixture[str], *args: str) -> str:
    assert main(["resize", *args, "--force"]) == 0
    return capsys.readouterr().out


def decoded(name: str) -> Any:
    """As pillow-heif itself decodes a file."""
    return np.asarray(Image.open(name))


KINDS = {"L": lambda x: x[..., 0], "RGB": lambda x: x, "RGBA": lambda x: np.dstack([x, x[..., 1]])}


@pytest.mark.parametrize("mode", KINDS)
def test_pixels_are_those_of_pillow_heif_resized(mode: str) -> None:
    Image.fromarray(KINDS[mode](colors())).save("in.heic", quality=90)
    assert Image.open("in.heic").mode == mode
    for out in ("out.png", "out.tif", "out.npy"):
        assert main(["resize", "in.heic", out, "--scale", "0.5", "--mode", "area", "--like", "opencv"]) == 0
    alpha: Any = mode == "RGBA"
    want = tenter.image.resize(decoded("in.heic"), (24, 32), mode="area", like="opencv", alpha=alpha)
    assert np.array_equal(np.asarray(Image.open("out.png")), want) and np.array_equal(np.load("out.npy"), want)
    assert main(["resize", "out.png", "back.heic", "--scale", "2"]) == 0
    with Image.open("back.heic") as back:
        assert (back.mode, back.size, back.format) == (mode, (64, 48), "HEIF")
        assert np.abs(np.asarray(back).astype(int) - decoded("in.heic")).mean() < 6


def test_a_photograph_keeps_its_metadata_and_is_upright(capsys: pytest.CaptureFixture[str]) -> None:
    exif = Image.Exif()
    exif[271], exif[274] = "A maker", 6  # which readers of HEIC ignore: the file itself turns its pixels
    Image.fromarray(colors()).save("in.heic", exif=exif, xmp=XMP, icc_profile=P3, quality=90)
    for out, size in (("out.jpg", (32, 24)), ("out.heic", (32, 24)), ("out.png", (32, 24)), ("out.avif", (32, 24))):
        assert "not kept" not in said(capsys, "in.heic", out, "--scale", "0.5")
        with Image.open(out) as made:
            assert (made.size, made.getexif()[271], made.getexif().get(274, 1)) == (size, "A maker", 1)
            assert made.info["icc_profile"] == P3 and made.info["xmp"]
    assert "copied as it is" in said(capsys, "in.heic", "same.heic", "--scale", "1")
    assert Path("same.heic").read_bytes() == Path("in.heic").read_bytes()
    assert "profile" not in said(capsys, "in.heic", "out.heic", "--scale", "0.5", "--strip")
    assert not Image.open("out.heic").getexif() and not Image.open("out.heic").info.get("icc_profile")


def test_what_a_heic_holds_beside_its_image_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    one = Image.fromarray(colors())
    several = pillow_heif.from_pillow(one)
    several.add_from_pillow(Image.fromarray(255 - colors()))
    several.save("several.heic")
    small = pillow_heif.from_pillow(one)
    small[0].info["thumbnails"] = [32]
    small.save("small.heic")
    deep = pillow_heif.from_bytes("RGB;16", (64, 48), (colors().astype("u2") * 257).tobytes())
    deep.save("deep.heic")
    for name, lost in (
        ("several", "further images of the file"), ("small", "smaller copies of the image"),
        ("deep", "bits beyond 8 per channel"),
    ):  # fmt: skip
        for out in ("out.png", "out.heic", "out.gif"):
            assert lost in said(capsys, f"{name}.heic", out, "--scale", "0.5").partition("; not kept: ")[2]
    apple = {"urn:com:apple:photo:2020:aux:hdrgainmap": [1], "urn:com:apple:photo:2018:aux:portraiteffectsmatte": [2]}
    assert of_heif({"aux": apple, "depth_images": [object()]}) == ["depth map", "gain map", "auxiliary images"]
    assert of_heif({"aux": {}, "depth_images": []}) == of_heif({}) == []


def test_a_damaged_heic_is_one_line_and_a_folder_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    Path("phone").mkdir()
    Image.fromarray(colors()).save("whole.heic")
    whole = Path("whole.heic").read_bytes()
    for name, data in (("cut", whole[: len(whole) // 2]), ("zeros", whole[:32] + bytes(len(whole) - 32)),
                       ("tail", whole[:-60])):  # fmt: skip
        Path(f"phone/{name}.HEIC").write_bytes(data)
        assert f"{name}.HEIC: " in refused(capsys, "resize", f"phone/{name}.HEIC", "out.png", "--scale", "0.5")
    Path("phone/IMG_1.HEIC").write_bytes(whole)
    assert main(["resize", "phone", "made", "--fit", "20", "--format", "jpg"]) == 1
    assert [path.name for path in Path("made").iterdir()] == ["IMG_1.jpg"]
    Path("no ending").write_bytes(whole)
    assert main(["resize", "no ending", "out.png", "--scale", "0.5"]) == 0
