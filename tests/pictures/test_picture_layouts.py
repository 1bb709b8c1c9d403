"""Images as other programs lay them out in files: samples of any bits and sign, pages, stand-ins, rare tags. Each comes
out with its values, or is refused by name."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from picture_helpers import Image, read_picture, run
from tenter.cli.main import main

tifffile = pytest.importorskip("tifffile")
RAMP = (np.add.outer(np.arange(16), np.arange(24)) * 5).astype(np.uint8)


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def tiff(name: str, pixels: Any, **how: Any) -> Path:
    tifffile.imwrite(name, pixels, metadata=None, **how)
    return Path(name)


@pytest.mark.parametrize("white_is_zero", [False, True])
@pytest.mark.parametrize("bits", [10, 12, 14, 16])
def test_gray_tiff_of_any_bits_has_its_white_and_its_black(bits: int, white_is_zero: bool) -> None:
    pytest.importorskip("imagecodecs")  # packs bits
    full = 2**bits - 1
    stored = np.repeat(np.array([[0, full // 3, full]], np.uint16), 3, 0)
    how = {} if bits == 16 else {"bitspersample": bits}
    file = tiff("x.tif", stored, photometric="miniswhite" if white_is_zero else "minisblack", **how)
    found = read_picture(file).pixels
    assert found.dtype == np.uint16
    seen = [0, round((full // 3) * 65535 / full), 65535]
    assert found[0].tolist() == ([65535 - v for v in seen] if white_is_zero else seen)


def test_colors_of_12_bits_fill_16() -> None:
    pytest.importorskip("imagecodecs")
    stored = np.zeros((4, 4, 3), np.uint16) + np.array([0, 2048, 4095], np.uint16)
    found = read_picture(tiff("x.tif", stored, photometric="rgb", bitspersample=12)).pixels
    assert found[0, 0].tolist() == [0, round(2048 * 65535 / 4095), 65535]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32"])
@pytest.mark.parametrize("channels", [1, 3])
def test_signed_samples_stay_signed(dtype: str, channels: int) -> None:
    stored = np.tile(np.array([-10, 10], dtype), (8, 4))
    stored = stored if channels == 1 else np.stack([stored] * 3, -1)
    tiff("x.tif", stored, photometric="minisblack" if channels == 1 else "rgb")
    run("resize", "x.tif", "y.tif", "--size", "2x2")
    made = tifffile.imread("y.tif")
    assert made.dtype == dtype and np.abs(made).max() <= 1  # the mean, not 255 - 10


def test_pages_of_unequal_sizes_and_of_documents_are_no_animation(capsys: pytest.CaptureFixture[str]) -> None:
    unequal = [Image.new("RGB", size, color) for size, color in (((40, 40), "red"), ((60, 20), "green"))]
    unequal[0].save("unequal.tif", save_all=True, append_images=unequal[1:])
    with tifffile.TiffWriter("document.tif") as writer:
        for page in (RAMP, RAMP[::-1]):
            writer.write(page, metadata=None, subfiletype=2)
    frames = [Image.new("RGB", (40, 40), color) for color in ("red", "green")]
    frames[0].save("frames.tif", save_all=True, append_images=frames[1:])
    for name, count in (("unequal", 1), ("document", 1), ("frames", 2)):
        for ending in ("png", "gif", "webp"):
            run("resize", f"{name}.tif", f"{name}.{ending}", "--scale", 0.5)
            with Image.open(f"{name}.{ending}") as made:
                assert getattr(made, "n_frames", 1) == count, (name, ending)
            assert ("further images of the file" in capsys.readouterr().out) == (count == 1)
        run("resize", f"{name}.tif", f"{name}_pages.tif", "--scale", 0.5)
        assert len(tifffile.TiffFile(f"{name}_pages.tif").pages) == 2


def test_the_stand_in_of_an_animation_is_no_frame_of_other_types(capsys: pytest.CaptureFixture[str]) -> None:
    frames = [Image.new("RGB", (40, 40), color) for color in ("red", "green", "blue")]
    how = {"save_all": True, "append_images": frames[1:], "default_image": True, "duration": [300, 400], "loop": 0}
    frames[0].save("a.png", **how)
    for ending in ("gif", "webp", "tif"):
        run("resize", "a.png", f"a.{ending}", "--width", 20)
        assert "still image that stands for the animation" in capsys.readouterr().out
        with Image.open(f"a.{ending}") as made:
            assert made.n_frames == 2 and made.convert("RGB").getpixel((5, 5))[1] > 100  # green
    run("resize", "a.png", "b.png", "--width", 20)
    with Image.open("b.png") as made:
        assert made.n_frames == 3 and made.default_image
    run("resize", "a.png", "a.jpg", "--width", 20)
    assert Image.open("a.jpg").getpixel((5, 5))[0] > 200  # red: what is shown where nothing plays


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def test_colors_of_16_bits_do_not_become_8_silently(capsys: pytest.CaptureFixture[str]) -> None:
    colors = np.full((32, 64, 3), 1000, ">u2")
    data = zlib.compress(b"".join(b"\0" + row.tobytes() for row in colors))

    def control(n: int) -> bytes:
        return chunk(b"fcTL", struct.pack(">IIIIIHHBB", n, 64, 32, 0, 0, 100, 1000, 0, 0))

    parts = [chunk(b"IHDR", struct.pack(">IIBBBBB", 64, 32, 16, 2, 0, 0, 0)), chunk(b"acTL", struct.pack(">II", 2, 0)),
             control(0), chunk(b"IDAT", data), control(1), chunk(b"fdAT", struct.pack(">I", 2) + data), chunk(b"IEND", b"")]  # fmt: skip
    Path("animated.png").write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(parts))
    assert main(["resize", "animated.png", "x.png", "--width", "32"]) == 2
    assert "animation of 16 bits per channel" in capsys.readouterr().err
    head = struct.pack(">HBBHHHHII", 474, 0, 2, 2, 64, 64, 1, 0, 65535).ljust(512, b"\0")
    Path("gray.sgi").write_bytes(head + (np.arange(4096) * 16).astype(">u2").tobytes())
    run("resize", "gray.sgi", "y.png", "--width", 32)
    assert "bits beyond 8 per channel" in capsys.readouterr().out


def test_gray_with_premultiplied_alpha_is_divided() -> None:
    stored = np.stack([np.full((8, 8), 60, np.uint8), np.full((8, 8), 120, np.uint8)], -1)
    tiff("x.tif", stored, photometric="minisblack", extrasamples=["assocalpha"], planarconfig="contig")
    picture = read_picture(Path("x.tif"))
    assert picture.kind == "gray+alpha" and picture.pixels[0, 0].tolist() == [128, 120]  # 60 * 255 / 120 = 127.5


def test_compressions_that_pillow_lacks_are_read_by_imagecodecs() -> None:
    pytest.importorskip("imagecodecs")
    colors = np.dstack([RAMP] * 3)
    for compression in ("webp", "zstd", "lerc"):
        found = read_picture(tiff("x.tif", colors, photometric="rgb", compression=compression)).pixels
        assert np.abs(found.astype(int) - colors).max() <= (40 if compression == "webp" else 0), compression


def test_volumes_in_one_page_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    tiff("x.tif", np.stack([RAMP] * 4), photometric="minisblack", volumetric=True, tile=(4, 16, 16))
    assert main(["resize", "x.tif", "y.tif", "--width", "9"]) == 2
    assert "volumetric" in capsys.readouterr().err


def test_jpegs_of_old_tiffs_need_no_count_of_samples() -> None:
    file = Path("old.jpg")
    Image.fromarray(np.dstack([RAMP] * 3)).save(file, quality=95, subsampling=0)
    data, (height, width) = file.read_bytes(), RAMP.shape
    tags = [(256, 3, 1, width), (257, 3, 1, height), (258, 3, 3, 200), (259, 3, 1, 6), (262, 3, 1, 6), (273, 4, 1, 220),
            (278, 3, 1, height), (279, 4, 1, len(data)), (513, 4, 1, 220), (514, 4, 1, len(data)), (530, 3, 2, 1 | 1 << 16)]  # fmt: skip
    head = struct.pack("<2sHIH", b"II", 42, 8, len(tags)) + b"".join(struct.pack("<HHII", *t) for t in tags) + bytes(4)
    Path("old.tif").write_bytes((head.ljust(200, b"\0") + struct.pack("<3H", 8, 8, 8)).ljust(220, b"\0") + data)
    assert np.abs(read_picture(Path("old.tif")).pixels.astype(int) - RAMP[..., None]).max() < 12


def test_resolutions_that_a_type_has_no_room_for_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    exif = Image.Exif()
    exif[282] = exif[283] = 4294967295.0
    exif[296] = 2
    Image.new("RGB", (8, 8)).save("x.jpg", exif=exif)
    for ending in ("png", "bmp", "jpg", "tif"):
        run("resize", "x.jpg", f"y.{ending}", "--width", 5)
        assert ("resolution" in capsys.readouterr().out) == (ending != "tif"), ending


def test_tags_of_layout_in_the_exif_of_a_camera_are_not_written(capfd: pytest.CaptureFixture[str]) -> None:
    exif = Image.Exif()
    exif[256], exif[257], exif[258], exif[271] = 64, 48, (8, 8, 8), "Maker"
    Image.fromarray(np.dstack([RAMP] * 3)).save("x.jpg", exif=exif)
    run("resize", "x.jpg", "y.tif", "--width", 20)
    assert capfd.readouterr().err == ""
    assert Image.open("y.tif").tag_v2[271] == "Maker"


def test_a_palette_with_several_clear_colors_has_one_in_a_gif(capsys: pytest.CaptureFixture[str]) -> None:
    pixels = (np.arange(400).reshape(20, 20) % 4).astype(np.uint8)
    image = Image.fromarray(pixels, "P")
    image.putpalette([255, 0, 0, 0, 255, 0, 0, 0, 255, 9, 9, 9])
    for alphas, partial in (
        (bytes([255, 0, 0, 255]), False),
        (bytes([255, 128, 0, 255]), True),
        (bytes([255] * 4), False),
    ):
        image.save("x.png", transparency=alphas)
        run("resize", "x.png", "y.gif", "--labels", "--scale", 1, "--force")
        assert ("partial transparency" in capsys.readouterr().out) == partial
        made = np.asarray(Image.open("y.gif").convert("RGBA"))
        want = np.frombuffer(alphas, np.uint8)[pixels] >= 128
        assert np.array_equal(made[..., 3] == 255, want)
        assert np.array_equal(made[want][:, :3], np.asarray(image.convert("RGB"))[want])


def packet(namespace: str, attributes: str, elements: str = "") -> bytes:
    return (
        '<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
        f'<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" {namespace} {attributes}>'
        f"{elements}<dc:rights>mine</dc:rights></rdf:Description></rdf:RDF></x:xmpmeta>"
    ).encode()


CAMERA = 'xmlns:GCamera="http://ns.google.com/photos/1.0/camera/"'
CONTAINER = ' xmlns:Container="http://ns.google.com/photos/1.0/container/"'
DIRECTORY = '<Container:Directory><rdf:Seq><rdf:li Item:Length="99"/></rdf:Seq></Container:Directory>'
PARTS = {
    "video of a motion photo": (CAMERA + CONTAINER, 'GCamera:MotionPhoto="1" GCamera:MicroVideoOffset="99"', DIRECTORY),
    "gain map": ('xmlns:hdrgm="http://ns.adobe.com/hdr-gain-map/1.0/"', "hdrgm:Version='1.0'", ""),
    "depth map": ('xmlns:GDepth="http://ns.google.com/photos/1.0/depthmap/"', "", "<GDepth:Data>AAAA</GDepth:Data>"),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("ending", ["jpg", "png", "webp", "tif"])
def test_xmp_speaks_of_no_part_that_is_not_written(part: str, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
    Image.new("RGB", (200, 100)).save("x.jpg", xmp=packet(*PARTS[part]))
    run("resize", "x.jpg", f"y.{ending}", "--width", 50)
    assert f"not kept: {part}" in capsys.readouterr().out
    made = Path(f"y.{ending}").read_bytes()
    assert b"mine" in made
    for word in (b"MotionPhoto", b"MicroVideo", b"Directory", b"hdrgm:Version", b"GDepth:Data"):
        assert word not in made


def test_a_panorama_has_its_new_size_or_is_none(capsys: pytest.CaptureFixture[str]) -> None:
    space = 'xmlns:GPano="http://ns.google.com/photos/1.0/panorama/"'
    numbers = 'GPano:FullPanoWidthPixels="400" GPano:CroppedAreaImageWidthPixels="200" GPano:CroppedAreaLeftPixels="40"'
    elements = "<GPano:CroppedAreaImageHeightPixels>100</GPano:CroppedAreaImageHeightPixels>"
    Image.new("RGB", (200, 100)).save("x.jpg", xmp=packet(space, numbers, elements))
    run("resize", "x.jpg", "y.jpg", "--width", 50)
    made = Path("y.jpg").read_bytes()
    for word in (b'FullPanoWidthPixels="100"', b'ImageWidthPixels="50"', b'LeftPixels="10"', b"HeightPixels>25<"):
        assert word in made, word
    capsys.readouterr()
    run("resize", "x.jpg", "z.jpg", "--fill", "40x40")
    assert "not kept: panorama" in capsys.readouterr().out and b"GPano:" not in Path("z.jpg").read_bytes().replace(
        b"xmlns:GPano", b""
    )


@pytest.mark.parametrize("how", [{"imagej": True}, {"ome": True}, {}], ids=["imagej", "ome", "tifffile"])
def test_a_page_alone_does_not_describe_the_stack_that_it_was_in(how: Any, capsys: pytest.CaptureFixture[str]) -> None:
    stack = np.random.default_rng(0).integers(0, 255, (6, 40, 48), np.uint8)
    tifffile.imwrite("x.tif", stack, metadata={"axes": "ZYX"} if how else {}, **how)
    run("resize", "x.tif", "y.tif", "--frame", 0, "--scale", 0.5)
    assert "description of the stack" in capsys.readouterr().out
    assert tifffile.imread("y.tif").shape == (20, 24)
    run("resize", "y.tif", "z.tif", "--scale", 0.5)
