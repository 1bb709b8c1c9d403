"""What a picture carries is kept, brought up to date, or named; JPEG files are encoded as their sources were."""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import _inside, ran  # noqa: F401
from picture_helpers import Image, pixels_of, run

FULL = b"""<?xpacket begin='' id='W5M0MpCehiHzreSzNTczkc9d'?><x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:t="http://ns.adobe.com/tiff/1.0/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:xmp="http://ns.adobe.com/xap/1.0/" t:ImageWidth="640"
 exif:PixelXDimension='640'><t:ImageLength>480</t:ImageLength><exif:PixelYDimension>480</exif:PixelYDimension>
<xmp:Thumbnails><rdf:Alt>/9j/old</rdf:Alt></xmp:Thumbnails><xmp:Rating>5</xmp:Rating></rdf:Description></rdf:RDF>
</x:xmpmeta><?xpacket end='w'?>"""
CAPTION = struct.pack(">BBBH", 0x1C, 2, 120, 3) + b"sea"


def smooth(height: int = 480, width: int = 640) -> np.ndarray[Any, Any]:
    y, x = np.mgrid[0:height, 0:width]
    waves = [128 + 90 * np.sin(x / 31 + k) * np.cos(y / 23 - k) for k in range(3)]
    return (
        (np.stack(waves, -1) + np.random.default_rng(0).normal(0, 4, (height, width, 3))).clip(0, 255).astype(np.uint8)
    )


def resource(number: int, content: bytes) -> bytes:
    return b"8BIM" + struct.pack(">HHL", number, 0, len(content)) + content + b"\0" * (len(content) % 2)


def photograph(name: str = "in.jpg", **options: Any) -> None:
    """With a thumbnail in EXIF and in Photoshop's resources."""
    exif = Image.Exif()
    exif[271], exif[34665] = "A maker", {40962: 640, 40963: 480}
    block = exif.tobytes()[6:]
    small = io.BytesIO()
    Image.new("RGB", (160, 120), (255, 0, 0)).save(small, "JPEG")
    entries = struct.unpack_from(">H" if block[:2] == b"MM" else "<H", block, 8)[0]
    order = ">" if block[:2] == b"MM" else "<"
    start = len(block)
    second = struct.pack(order + "H", 3)
    for tag, value in ((259, 6), (513, start + 2 + 36 + 4), (514, len(small.getvalue()))):
        second += struct.pack(order + "HHLL", tag, 4, 1, value)
    head = 10 + 12 * entries
    block = block[:head] + struct.pack(order + "L", start) + block[head + 4 :]
    block += second + b"\0\0\0\0" + small.getvalue()
    irb = b"Photoshop 3.0\0" + resource(0x0404, CAPTION) + resource(0x040C, b"old thumbnail")
    carried = {"exif": b"Exif\0\0" + block, "xmp": FULL, "comment": b"said"}
    extra = b"\xff\xed" + struct.pack(">H", 2 + len(irb)) + irb
    Image.fromarray(smooth()).save(name, "JPEG", extra=extra, **carried, **options)


def thumbnail_of(image: Any) -> Any:
    second = (
        image.getexif().get_ifd(-1)
        if not hasattr(Image, "ExifTags")
        else image.getexif().get_ifd(Image.ExifTags.IFD.IFD1)
    )
    block = image.info["exif"].removeprefix(b"Exif\0\0")
    return Image.open(io.BytesIO(block[second[513] : second[513] + second[514]]))


@pytest.mark.parametrize("output", ["out.jpg", "out.png", "out.webp", "out.avif"])
def test_sizes_and_thumbnails_are_brought_up_to_date(output: str) -> None:
    photograph()
    run("resize", "in.jpg", output, "--size", "320x240")
    with Image.open(output) as image:
        nested = image.getexif().get_ifd(34665)
        assert (nested[40962], nested[40963]) == (320, 240)
        packet = image.info["xmp"]
        small = thumbnail_of(image)
    assert small.size == (160, 120)
    assert np.abs(np.asarray(small).astype(float).mean((0, 1)) - smooth().mean((0, 1))).max() < 6
    for text in (b't:ImageWidth="320"', b"PixelXDimension='320'", b"ImageLength>240<", b"PixelYDimension>240<"):
        assert text in packet
    assert b"old" not in packet and b"<xmp:Rating>5</xmp:Rating>" in packet
    assert len(packet) == len(FULL) - len(b"<xmp:Thumbnails><rdf:Alt>/9j/old</rdf:Alt></xmp:Thumbnails>")


def test_iptc_and_comments_are_kept() -> None:
    photograph()
    run("resize", "in.jpg", "out.jpg", "--scale", 0.5)
    with Image.open("out.jpg") as image:
        assert image.info["photoshop"] == {0x0404: CAPTION} and image.info["comment"] == b"said"
    run("resize", "in.jpg", "out.tif", "--scale", 0.5)
    with Image.open("out.tif") as image:
        assert image.tag_v2[33723] == CAPTION
    run("resize", "out.tif", "back.jpg", "--scale", 0.5)
    with Image.open("back.jpg") as image:
        assert image.info["photoshop"] == {0x0404: CAPTION} and b't:ImageWidth="160"' in image.info["xmp"]


def test_texts_of_png_are_kept() -> None:
    from PIL.PngImagePlugin import PngInfo

    text = PngInfo()
    text.add_text("Title", "A title")
    text.add_text("Long", "l" * 3000, zip=True)
    text.add_itxt("Author", "Ænd\N{SNOWMAN}", "de", "Autor")
    text.add_text("Comment", "said")
    for pixels, name in ((pixels_of("RGB"), "8.png"), (pixels_of("gray"), "gray.png")):
        Image.fromarray(pixels).save(name, pnginfo=text)
        run("resize", name, f"out-{name}", "--scale", 2)
        found = Image.open(f"out-{name}").text
        assert dict(found) == {"Title": "A title", "Long": "l" * 3000, "Author": "Ænd\N{SNOWMAN}", "Comment": "said"}
        assert found["Author"].lang == "de" and found["Author"].tkey == "Autor"
    run("resize", "8.png", "out.jpg", "--scale", 2)
    assert Image.open("out.jpg").info["comment"] == b"said"


@pytest.mark.slow
def test_what_is_not_kept_is_named_once(capsys: pytest.CaptureFixture[str]) -> None:
    photograph()
    photograph("other.jpg")
    done = ran("resize", "in.jpg", "out.bmp", "--scale", 0.1)
    assert done.stdout.partition("; not kept: ")[2] == "EXIF, thumbnail, XMP, IPTC, comment\n" and done.stderr == ""
    done = ran("resize", "in.jpg", "other.jpg", "out/", "--scale", 0.1, "--format", "webp")
    assert done.stdout.partition("; not kept: ")[2] == "IPTC (2 files), comment (2 files)\n"
    run("resize", "in.jpg", "out.jpg", "--scale", 0.1)
    assert "not kept" not in capsys.readouterr().out


def test_what_is_not_read_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    image = Image.fromarray(smooth(40, 40))
    image.save("in.tif", tiffinfo={33550: (1.0, 1.0, 0.0)})
    image.save("in.gif")
    image.save("in.jp2")
    extension = b"\x21\xff\x0bXMP DataXMP\x01 \x00"
    data = Path("in.gif").read_bytes()
    Path("in.gif").write_bytes(data[: data.index(b"\x2c\0\0\0\0")] + extension + data[data.index(b"\x2c\0\0\0\0") :])
    box = struct.pack(">L", 8 + 16 + 4) + b"uuidJpgTiffExif->JP2" + b"Exif"
    data = Path("in.jp2").read_bytes()
    Path("in.jp2").write_bytes(data[: data.index(b"jp2c") - 4] + box + data[data.index(b"jp2c") - 4 :])
    for name, what in (("in.tif", "georeference"), ("in.gif", "XMP"), ("in.jp2", "EXIF")):
        run("resize", name, "out.png", "--scale", 0.5, "--force")
        assert capsys.readouterr().out.rstrip().endswith(f"not kept: {what}")


@pytest.mark.parametrize("output", ["out.jpg", "out.png", "out.webp", "out.tif"])
def test_strip_drops_all(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    exif = Image.Exif()
    exif[274], exif[271] = 6, "A maker"
    pixels = smooth(60, 80)
    Image.fromarray(pixels).save("in.jpg", exif=exif, xmp=FULL, comment=b"said", dpi=(300, 300))
    run("resize", "in.jpg", output, "--size", "30x40", "--strip")
    assert "not kept" not in capsys.readouterr().out
    with Image.open(output) as image:
        assert image.size == (30, 40)
        carried = {"exif", "xmp", "comment", "icc_profile", "photoshop"} & set(image.info)
        assert not carried and not {271, 274, 700} & set(image.getexif())
        turned = np.rot90(np.asarray(Image.fromarray(pixels).resize((40, 30), Image.Resampling.BOX)), -1)
        assert np.abs(np.asarray(image.convert("RGB")).astype(int) - turned).mean() < 12


@pytest.mark.parametrize("output", ["out.gif", "out.bmp", "out.jp2", "out.ppm", "out.tga"])
def test_types_without_an_orientation_are_written_upright(output: str) -> None:
    pixels = np.zeros((20, 30, 3), np.uint8)
    pixels[:, :15] = 255
    exif = Image.Exif()
    exif[274] = 6
    Image.fromarray(pixels).save("in.png", exif=exif)
    run("resize", "in.png", output, "--size", "20x30")
    seen = np.asarray(Image.open(output).convert("L"))
    assert seen.shape == (30, 20) and seen[:14].min() > 250 and seen[16:].max() < 5


@pytest.mark.parametrize("output", ["out.jpg", "out.webp"])
def test_metadata_too_long_for_a_type(output: str, capsys: pytest.CaptureFixture[str]) -> None:
    from PIL.PngImagePlugin import PngInfo

    text = PngInfo()
    text.add_itxt("XML:com.adobe.xmp", FULL.decode() + " " * 70000)
    Image.fromarray(pixels_of("RGB")).save("in.png", pnginfo=text)
    run("resize", "in.png", output, "--scale", 2)
    assert ("not kept: XMP" in capsys.readouterr().out) == (output == "out.jpg")


# ---- how a JPEG is encoded


@pytest.mark.parametrize("quality", [30, 79])
@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:2", "4:2:0"])
@pytest.mark.parametrize("progressive", [False, True])
def test_a_coarse_jpeg_is_encoded_as_its_source(quality: int, subsampling: str, progressive: bool) -> None:
    from PIL.JpegImagePlugin import get_sampling

    Image.fromarray(smooth(64, 80)).save("in.jpg", quality=quality, subsampling=subsampling, progressive=progressive)
    run("resize", "in.jpg", "out.jpg", "--scale", 0.5)
    with Image.open("in.jpg") as source, Image.open("out.jpg") as result:
        assert result.quantization == source.quantization and get_sampling(result) == get_sampling(source)
        assert bool(result.info.get("progressive")) == progressive
    run("resize", "in.jpg", "other.jpg", "--scale", 0.5, "--quality", 50, "--subsampling", "4:2:2", "--no-progressive")
    Image.fromarray(smooth(64, 80)).save("50.jpg", quality=50)
    with Image.open("50.jpg") as source, Image.open("other.jpg") as result:
        assert result.quantization == source.quantization and get_sampling(result) == 1
        assert "progressive" not in result.info


@pytest.mark.parametrize("subsampling", ["4:4:4", "4:2:0"])
@pytest.mark.parametrize("name", ["95.jpg", "in.png"])
def test_a_jpeg_has_quality_80_and_shares_colors_below_90(name: str, subsampling: str) -> None:
    from PIL.JpegImagePlugin import get_sampling

    how = {"quality": 95, "subsampling": subsampling} if name == "95.jpg" else {}
    Image.fromarray(smooth(64, 80)).save(name, **how)
    for more, quality, shared in (([], 80, 2), (["--quality", 89], 89, 2), (["--quality", 90], 90, 0)):
        run("resize", name, "out.jpg", "--scale", 0.5, "--force", *more)
        Image.fromarray(smooth(64, 80)).save("as.jpg", quality=quality)
        with Image.open("as.jpg") as same, Image.open("out.jpg") as result:
            assert result.quantization == same.quantization and get_sampling(result) == shared


def test_a_picture_that_shrinks_takes_fewer_bytes() -> None:
    Image.fromarray(smooth(512, 512)).save("in.jpg", quality=80)
    run("resize", "in.jpg", "out.jpg", "--size", "360x360")
    assert Path("out.jpg").stat().st_size < 0.75 * Path("in.jpg").stat().st_size


def test_tables_are_not_used_for_other_colors() -> None:
    Image.fromarray(smooth(64, 80)).convert("L").save("gray.jpg", quality=40)
    Image.fromarray(smooth(64, 80)).convert("CMYK").save("cmyk.jpg", quality=40)
    for name, mode in (("gray", "L"), ("cmyk", "CMYK")):
        run("resize", f"{name}.jpg", f"out-{name}.jpg", "--scale", 0.5)
        with Image.open(f"{name}.jpg") as source, Image.open(f"out-{name}.jpg") as result:
            assert result.mode == mode and result.quantization == source.quantization


def test_a_lossless_webp_stays_lossless() -> None:
    pixels = smooth(64, 80)
    for lossless in (True, False):
        Image.fromarray(pixels).save("in.webp", lossless=lossless)
        run("resize", "in.webp", "out.webp", "--size", "40x32", "--force")
        assert (b"VP8L" in Path("out.webp").read_bytes()) == lossless
