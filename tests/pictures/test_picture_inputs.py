"""The type of a file that is read is found by its first bytes: named, in folders and through pipes alike."""

from __future__ import annotations

import gzip
import io
import itertools
import os
import re
import struct
import sys
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import _inside, ran, refused  # noqa: F401
from picture_helpers import Image, pixels_of, resized, run
from roots import DOCS
from sweeps import in_one_test, sampled
from tenter.cli.first_bytes import type_of, type_of_head
from tenter.cli.formats import FORMATS, HEIF, HEIF_ENDINGS, READ, TYPES
from tenter.cli.main import main
from tenter.cli.not_read import RAW, UNREAD
from tenter.cli.refusal import Refusal

#: how Pillow calls a type, of those that have a signature and that it writes
WRITTEN = {name: name for name in TYPES if name not in ("TGA", "HEIF")} | {"ICNS": "ICNS", "XPM": "XPM", "PSD": "PSD"}
NAMES = ("photo", "photo.unknown", "photo.mpo", "photo.png", "photo.jpg", "IMG.2026.01")


def photoshop(pixels: np.ndarray[Any, Any], mode: int, layers: int = 0, resources: bytes = b"", bits: int = 8) -> bytes:
    """A document with its flattened image, uncompressed, and layers without content."""
    height, width, channels = pixels.shape
    head = b"8BPS" + struct.pack(">H6xHLLHH", 1, channels, height, width, bits, mode)
    info = struct.pack(">h", layers) + b"\0\0"
    section = struct.pack(">L", len(info)) + info
    parts = [b"", resources, section if layers else b""]
    whole = head + b"".join(struct.pack(">L", len(part)) + part for part in parts)
    return whole + b"\0\0" + np.moveaxis(pixels, -1, 0).tobytes()


def resource(number: int, data: bytes) -> bytes:
    return b"8BIM" + struct.pack(">HHL", number, 0, len(data)) + data + b"\0" * (len(data) % 2)


@cache
def contents(type_: str) -> bytes:
    """A file of a type; a small one, as XPM has a letter for each color."""
    if type_ == "PSD":
        return photoshop(pixels_of("RGB"), 3)
    if type_ == "ICNS":
        return (
            b"icns" + struct.pack(">L", 16 + len(png(128))) + b"ic07" + struct.pack(">L", 8 + len(png(128))) + png(128)
        )
    if type_ == "XPM":
        return b'/* XPM */\nstatic char *a[] = {\n"2 1 2 1",\n"a c #ff0000",\n"b c #0000ff",\n"ab"};\n'
    file = io.BytesIO()
    Image.fromarray(pixels_of("RGB")).save(file, type_)
    return file.getvalue()


def png(side: int) -> bytes:
    file = io.BytesIO()
    Image.fromarray(pixels_of("RGBA")).resize((side, side)).save(file, "PNG")
    return file.getvalue()


def by_pipe(data: bytes, monkeypatch: pytest.MonkeyPatch, *args: Any) -> int:
    stdin = io.TextIOWrapper(io.BytesIO(data))
    monkeypatch.setattr(sys, "stdin", stdin)
    return main(["resize", "-", *map(str, args)])


@in_one_test("type_, name", sampled(zip(WRITTEN, itertools.cycle(NAMES)), 4))
def test_a_type_is_found_by_first_bytes_whatever_the_name_and_way(
    type_: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = contents(type_)
    with Image.open(io.BytesIO(data)) as image:
        pixels = np.asarray(image.convert("RGB" if image.mode == "P" else image.mode))
    expected = resized(pixels, (4, 5))
    folder = Path(f"in{type_}")
    folder.mkdir()
    (folder / name).write_bytes(data)
    run("resize", folder / name, "named.png", "--size", "5x4", "--force")
    run("resize", folder, "out", "--size", "5x4", "--format", "png", "--force", "--jobs", 1)
    assert by_pipe(data, monkeypatch, "piped.png", "--size", "5x4", "--mode", "linear", "--force") == 0
    (there,) = Path("out").iterdir()
    for made in ("named.png", "piped.png", there):
        np.testing.assert_array_equal(np.asarray(Image.open(made)), expected, str(made))
    there.unlink()


@pytest.mark.parametrize(
    ("name", "type_", "made"),
    [
        ("photo", "JPEG", "photo.jpg"), ("a.b", "WEBP", "a.b.webp"), ("photo.mpo", "JPEG", "photo.jpg"),
        ("photo.PNG", "JPEG", "photo.PNG"), ("design.psd", "PSD", "design.png"), ("design", "PSD", "design.png"),
    ],
)  # fmt: skip
def test_a_result_in_a_folder_has_an_ending_that_is_written(name: str, type_: str, made: str) -> None:
    Path("photos").mkdir()
    Path("photos", name).write_bytes(contents(type_))
    run("resize", "photos", "out", "--width", 5, "--jobs", 1)
    assert [path.name for path in Path("out").iterdir()] == [made]
    run("resize", "photos", "others", "--width", 5, "--format", "tif", "--jobs", 1)
    assert [path.suffix for path in Path("others").iterdir()] == [".tif"]
    run("resize", "photos", "named/{stem}-{size}.{format}", "--width", 5, "--jobs", 1)
    stem, dot, ending = made.rpartition(".")
    assert [path.name for path in Path("named").iterdir()] == [f"{stem}-5{dot}{ending}"]


#: texts and others that begin like an image, and raw files, which begin like TIFF
NO_IMAGES = {
    "cars.txt": b"BMW and other cars", "list": b"P1 is the first", "plan": b"P6: the sixth", "a.dng": b"II*\0\x08\0\0\0",
    "b.c": b"/* XPM", "empty": b"", "x.bin": b"\x01\xda\xff\xff" * 9, "r.webp.part": b"RIFF1234WAVEfmt ",
}  # fmt: skip


def test_files_of_a_folder_that_are_no_images_are_not_read(capsys: pytest.CaptureFixture[str]) -> None:
    Path("photos").mkdir()
    for name, data in NO_IMAGES.items():
        Path("photos", name).write_bytes(data)
    os.mkfifo("photos/pipe")  # reading it would wait forever
    Path("photos/one").write_bytes(contents("PNG"))
    run("resize", "photos", "out", "--width", 5, "--jobs", 1)
    assert [path.name for path in Path("out").iterdir()] == ["one.png"]
    assert "1 done, 0 skipped, 0 failed; size: 5 wide; not read: 1 .bin, 1 .c, 1 .dng" in capsys.readouterr().out


def test_a_pipe_that_has_a_name_is_not_waited_for(capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo("pipe")
    for out in ("out/", "out.png"):
        assert refused(capsys, "resize", "pipe", out, "--width", 5) == "tenter: pipe: is not a regular file\n"


BEGINNINGS = {
    RAW: b"II*\0\x10\0\0\0CR\x02\0", "JPEG XL": b"\xff\x0a\x30", "OpenEXR": b"v/1\x01", "PDF": b"%PDF-1.7",
    "Radiance HDR": b"#?RADIANCE\n", "animated cursors": b"RIFF1234ACONanih", "GIMP": b"gimp xcf v011",
    "FITS": b"SIMPLE  =                    T", "DICOM": bytes(128) + b"DICM", "videos": b"\0\0\0\x20ftypisom",
    "SVG": b'<?xml version="1.0"?>\n<svg xmlns=', "NIfTI": b"\x5c\1\0\0" + bytes(340) + b"n+1\0", "PSB": b"8BPS\0\2",
}  # fmt: skip


def test_what_is_not_read_is_refused_with_what_to_do_about_it(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for kind, data in BEGINNINGS.items():
        said = UNREAD[kind].said
        for name in ("in", "in.npz"):  # first bytes say more than the ending
            Path(name).write_bytes(data)
            assert refused(capsys, "resize", name, "out.png", "--scale", 2) == f"tenter: {name}: {said}\n"
        assert by_pipe(data, monkeypatch, "out.png", "--scale", 2) == 2
        assert capsys.readouterr().err == f"tenter: stdin: {said}\n"


def test_an_ending_says_what_is_not_read_where_first_bytes_do_not() -> None:
    cases = [(f"in{ending.upper()}", b"not empty", kind.said) for kind in UNREAD.values() for ending in kind.endings]
    packed, within = gzip.compress(b"anything"), "is compressed; the file within it may be one that is read"
    cases += [
        ("scan.nii.gz", packed, UNREAD["NIfTI"].said),
        *((n, packed, within) for n in ("in", "in.png", "in.tar.gz")),
    ]
    for name, data, said in cases:
        with pytest.raises(Refusal) as found:
            type_of_head(data, name)
        assert str(found.value) == f"{name}: {said}"


def test_no_ending_is_both_of_a_type_that_is_read_and_of_one_that_is_not() -> None:
    endings = [ending for kind in UNREAD.values() for ending in kind.endings]
    assert len(set(endings)) == len(endings) and not {*endings} & {*FORMATS, *READ, *HEIF_ENDINGS, ".npy"}


def test_a_raw_file_that_begins_as_tiff_is_not_resized_as_its_small_copy(capsys: pytest.CaptureFixture[str]) -> None:
    tifffile = pytest.importorskip("tifffile")
    tags = [(50706, "B", 4, (1, 4, 0, 0), True)]
    tifffile.imwrite("raw.dng", pixels_of("RGB"), photometric="rgb", subfiletype=1, extratags=tags)
    for name in ("raw.dng", "raw.tif"):
        Path("raw.dng").rename(name)
        assert "is a raw file of a camera" in refused(capsys, "resize", name, "out.png", "--scale", 2)
        Path(name).rename("raw.dng")


def test_a_photoshop_document_is_its_flattened_image(capsys: pytest.CaptureFixture[str]) -> None:
    pixels = pixels_of("RGB")
    alpha = np.where(np.arange(26) < 9, 255, 85)[None, :, None].repeat(20, 0)
    on_white = ((pixels * alpha + 255 * (255 - alpha)) / 255).round()  # as Photoshop stores what is partly clear
    exif = Image.Exif()
    exif[271] = "A maker"
    said = resource(1058, exif.tobytes()[6:]) + resource(1005, struct.pack(">LHHLHH", 300 << 16, 1, 1, 300 << 16, 1, 1))
    selection = np.concatenate((pixels, pixels[..., :1]), -1)
    clear = np.concatenate((on_white, alpha), -1).astype(np.uint8)
    for given, layers, seen, lost in [
        (photoshop(pixels, 3, resources=said), 0, pixels, ""),
        (photoshop(pixels, 3, layers=3), 3, pixels, "; not kept: layers"),
        (photoshop(selection, 3, layers=1), 1, pixels, "; not kept: further channels"),
        (photoshop(pixels[..., :1], 1), 0, pixels[..., 0], ""),
    ]:
        Path("in.psd").write_bytes(given)
        run("resize", "in.psd", "out.png", "--scale", 1, "--force")
        assert capsys.readouterr().out.endswith(f"(from in.psd: 26 x 20){lost}\n"), layers
        np.testing.assert_array_equal(np.asarray(Image.open("out.png")), seen)
        if "1058" in str(given):
            assert Image.open("out.png").getexif()[271] == "A maker"
    capsys.readouterr()
    Path("in.psd").write_bytes(photoshop(clear, 3, layers=-1))
    run("resize", "in.psd", "out.png", "--scale", 1, "--force")
    made = np.asarray(Image.open("out.png")).astype(int)
    np.testing.assert_array_equal(made[..., 3:], alpha)
    assert np.abs(made[..., :3] - pixels).max() <= 3
    capsys.readouterr()
    for given, word in [
        (photoshop(pixels, 3, bits=16), "of 16 bits per channel"), (photoshop(pixels, 9), "mode 9"),
        (photoshop(pixels, 3, resources=resource(1057, b"\0\0\0\1\0")), "without a flattened image"),
    ]:  # fmt: skip
        Path("in.psd").write_bytes(given)
        assert word in refused(capsys, "resize", "in.psd", "new.png", "--scale", 2)


def test_icons_and_cursors_are_read_at_their_largest() -> None:
    icons = [(name, png(side)) for name, side in (("icp4", 16), ("ic07", 128))]
    body = b"".join(name.encode() + struct.pack(">L", 8 + len(data)) + data for name, data in icons)
    Path("a.icns").write_bytes(b"icns" + struct.pack(">L", 8 + len(body)) + body)
    done = ran("resize", "a.icns", "a.png", "--width", 16)
    assert done.returncode == 0 and "not kept: smaller copies of the image" in done.stdout
    Image.fromarray(pixels_of("RGBA")).resize((32, 32)).save("b.ico", sizes=[(32, 32)], bitmap_format="bmp")
    data = bytearray(Path("b.ico").read_bytes())
    data[2] = 2
    Path("b.cur").write_bytes(bytes(data))
    assert ran("resize", "b.cur", "b.png", "--width", 16).returncode == 0
    run("resize", "b.ico", "c.png", "--width", 16)
    run("resize", "b.cur", "d.png", "--width", 16)
    np.testing.assert_array_equal(np.asarray(Image.open("c.png")), np.asarray(Image.open("d.png")))


def test_parts_of_a_jpeg_that_are_not_read_are_named() -> None:
    parts = [
        (b"\xeb", b"JP\0\1box", "content credentials"), (b"\xe1", b"http://ns.adobe.com/xmp/extension/\0guid", "extended XMP"),
        (b"\xe2", b"urn:iso:std:iso:ts:21496:-1\0", "gain map"), (b"\xe4", b"a camera's own", "segment APP4"), (b"\xe2", b"FPXR\0", "FlashPix data"),
    ]  # fmt: skip
    segments = b"".join(b"\xff" + mark + struct.pack(">H", 2 + len(data)) + data for mark, data, _ in parts)
    plain = contents("JPEG")
    Path("in.jpg").write_bytes(plain[:2] + segments + plain[2:])
    said = ran("resize", "in.jpg", "out.jpg", "--width", 9).stdout
    assert said.endswith(f"; not kept: {', '.join(name for _, _, name in parts)}\n")
    Path("plain.jpg").write_bytes(plain)
    assert "not kept" not in ran("resize", "plain.jpg", "again.jpg", "--width", 9).stdout


def test_private_tags_of_a_tiff_are_named() -> None:
    tifffile = pytest.importorskip("tifffile")
    tags = [
        (34118, "s", 0, "AP_WD = 5 mm", True),
        (37724, "B", 4, b"8BIM", True),
        (33550, "d", 3, (1.0, 1.0, 0.0), True),
    ]
    tifffile.imwrite("in.tif", pixels_of("gray"), extratags=tags, metadata=None)
    said = ran("resize", "in.tif", "out.tif", "--width", 9).stdout
    assert said.endswith("; not kept: georeference, TIFF tag 34118, layers\n")
    tifffile.imwrite("plain.tif", pixels_of("RGB"), photometric="rgb", metadata=None)
    assert "not kept" not in ran("resize", "plain.tif", "again.tif", "--width", 9).stdout


def test_the_page_names_each_type_that_is_read_or_refused() -> None:
    page = (DOCS / "file-formats.md").read_text()
    for word in ("PSD", "MPO", "ICNS", "CUR", "XPM", "Sun raster"):
        assert word in page
    assert [kind for kind in UNREAD if kind not in page] == []


def test_brands_say_which_codec_a_container_has() -> None:
    for brands, type_ in [
        ((b"avif", b"mif1", b"miaf"), "AVIF"), ((b"mif1", b"mif1", b"avif"), "AVIF"), ((b"avis", b"avif"), "AVIF"),
        ((b"heic", b"mif1", b"heic"), "HEIF"), ((b"mif1", b"mif1", b"heic"), "HEIF"), ((b"msf1", b"hevc"), "HEIF"),
        ((b"mp42", b"isom"), None), ((b"crx ", b"crx "), None),
    ]:  # fmt: skip
        head = struct.pack(">L", 12 + 4 * len(brands)) + b"ftyp" + brands[0] + bytes(4) + b"".join(brands[1:])
        assert type_of(head, "x") == (type_ if type_ in TYPES else None), brands
        assert (re.match(HEIF, head, re.DOTALL) is not None) == (type_ == "HEIF"), brands
