"""Writes the table of docs/file-formats.md that says what `tenter resize` keeps in which type of file.

`python docs/picture_formats.py` runs the command on pictures that carry everything, and reads what it has written with
Pillow and tifffile. `--check` says whether the page has the table.
"""

from __future__ import annotations

import contextlib
import io
import os
import struct
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from PIL import Image, ImageCms, ImageSequence
from PIL.PngImagePlugin import PngInfo

from tenter.cli.formats import TYPES, shown
from tenter.cli.main import main as command

PAGE = Path(__file__).with_name("file-formats.md")
BEGIN, END = "<!-- picture_formats.py writes this table -->\n", "<!-- end of the table -->\n"
WIDE, HIGH = 48, 32
PROFILE = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:ImageWidth="48"/></rdf:RDF></x:xmpmeta>'
)
CAPTION = struct.pack(">BBBH", 0x1C, 2, 120, 3) + b"sea"


def colors(channels: int, dtype: Any = np.uint8) -> np.ndarray[Any, Any]:
    y, x = np.mgrid[0:HIGH, 0:WIDE]
    planes = [x * 5, y * 7, x + y, 255 - 4 * y][:channels]
    pixels = np.stack(planes, -1).clip(0, 255).astype(dtype)
    return pixels * 257 + x[..., None].astype(dtype) if dtype == np.uint16 else pixels


def photograph() -> str:
    """A JPEG with all that a camera and an editor write."""
    exif = Image.Exif()
    exif[271] = "A maker"
    block = b"Photoshop 3.0\0" + b"8BIM" + struct.pack(">HHL", 0x0404, 0, len(CAPTION)) + CAPTION
    iptc = b"\xff\xed" + struct.pack(">H", 2 + len(block)) + block
    carried: dict[str, Any] = {"exif": exif, "icc_profile": PROFILE, "xmp": XMP, "comment": b"said", "extra": iptc}
    Image.fromarray(colors(3)).save("photograph.jpg", dpi=(300, 300), **carried)
    return "photograph.jpg"


def texts() -> str:
    text = PngInfo()
    text.add_text("Title", "Sea")
    Image.fromarray(colors(3)).save("texts.png", pnginfo=text)
    return "texts.png"


def transparent() -> str:
    pixels = colors(4)
    pixels[:, WIDE // 2 :, 3] = 0
    Image.fromarray(pixels).save("transparent.png")
    return "transparent.png"


def deep() -> str:
    tifffile.imwrite("deep.tif", colors(3, np.uint16), photometric="rgb")
    return "deep.tif"


def floats() -> str:
    tifffile.imwrite("floats.tif", colors(3).astype(np.float32) / 255, photometric="rgb")
    return "floats.tif"


def print_colors() -> str:
    Image.frombytes("CMYK", (WIDE, HIGH), colors(4).tobytes()).save("print.tif")
    return "print.tif"


def indexed() -> str:
    Image.fromarray(colors(3)).quantize(16).save("indexed.png")
    return "indexed.png"


def animation() -> str:
    frames = [Image.fromarray(np.roll(colors(3), 9 * k, 1)) for k in range(3)]
    frames[0].save("animation.webp", save_all=True, append_images=frames[1:], duration=[50, 70, 90], lossless=True)
    return "animation.webp"


def pages_or_frames(image: Any) -> bool:
    return len(list(ImageSequence.Iterator(image))) == 3


def durations(image: Any) -> bool:
    found = []
    for frame in ImageSequence.Iterator(image):
        frame.load()
        found.append(frame.info.get("duration"))
    return found == [50, 70, 90]


def samples(path: str) -> Any:
    """The dtype of the stored samples, by what else than Pillow reads them."""
    import imagecodecs

    data = Path(path).read_bytes()
    if path.endswith(".tif"):
        return tifffile.imread(path).dtype
    if path.endswith(".ppm"):
        return np.dtype(np.uint16 if data.split()[3] == b"65535" else np.uint8)
    return (imagecodecs.png_decode if path.endswith(".png") else imagecodecs.jpeg2k_decode)(data).dtype


#: what the summary calls what a type has no place for
NAMED = {name: (name,) for name in ("EXIF", "XMP", "IPTC", "comment", "PNG text", "resolution", "CMYK")}
NAMED |= {"profile": ("color profile",), "frames": ("further images of the file",)}
NAMED |= {"their durations": ("durations of frames", *NAMED["frames"])}
#: of a package that is not among the others
LEFT_OUT = "HEIF"
Seen = Callable[[Any, str], Any]
#: what a column shows, the picture that has it, and whether the file that was written has it
COLUMNS: dict[str, tuple[Callable[[], str], list[str], Seen]] = {
    "EXIF": (photograph, [], lambda image, _: image.getexif().get(271) == "A maker"),
    "XMP": (photograph, [], lambda image, _: b'tiff:ImageWidth="24"' in (image.info.get("xmp") or b"")),
    "IPTC": (photograph, [], lambda _, path: CAPTION in Path(path).read_bytes()),
    "comment": (photograph, [], lambda image, _: b"said" in image.info.values() or "said" in image.info.values()),
    "PNG text": (texts, [], lambda image, _: image.info.get("Title") == "Sea"),
    "profile": (photograph, [], lambda image, _: image.info.get("icc_profile") == PROFILE),
    "resolution": (photograph, [], lambda image, _: abs(image.info.get("dpi", (0,))[0] - 300) < 1),
    "transparency": (transparent, [], lambda image, _: image.has_transparency_data),
    "16 bits": (deep, [], lambda _, path: samples(path) == np.uint16),
    "floats": (floats, [], lambda _, path: samples(path) == np.float32),
    "CMYK": (print_colors, [], lambda image, _: image.mode == "CMYK"),
    "palette, by --labels": (indexed, ["--labels"], lambda image, _: image.mode == "P"),
    "frames": (animation, [], lambda image, _: pages_or_frames(image)),
    "their durations": (animation, [], lambda image, _: durations(image)),
}  # fmt: skip


def cell(column: str, source: str, type_: str) -> str:
    """kept, dropped (and named in the summary) or refused."""
    _, options, seen = COLUMNS[column]
    output = f"out{'.tif' if type_ == 'TIFF' else TYPES[type_].endings[0]}"
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        code = command(["resize", source, output, "--size", "24x16", "--force", *options])
    if code:
        return "refused"
    with Image.open(output) if column != "floats" else contextlib.nullcontext() as image:
        kept = seen(image, output)
    if kept:
        return "yes"
    if column in NAMED and not any(name in said.getvalue().partition("not kept: ")[2] for name in NAMED[column]):
        raise AssertionError(f"{type_} loses {column} without a word: {said.getvalue()}")
    return "no"


def table() -> str:
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            sources = {make: make() for make, _, _ in COLUMNS.values()}
            rows = [
                [shown(type_), *(cell(column, sources[make], type_) for column, (make, _, _) in COLUMNS.items())]
                for type_ in TYPES
                if type_ != LEFT_OUT
            ]
        finally:
            os.chdir(before)
    head = ["Written as", *COLUMNS]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *rows])


def main() -> int:
    page = PAGE.read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    made = before + BEGIN + "\n" + table() + "\n" + END + after
    if "--check" in sys.argv:
        return int(page != made)
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
