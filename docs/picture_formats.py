"""Writes the tables of docs/file-formats.md that say what `tenter resize` keeps in which type of file.

`python docs/picture_formats.py` runs the command on pictures that carry everything, and reads what it has written with
Pillow and tifffile. `--check` says whether the page has the tables.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import struct
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import marks
import numpy as np
import tifffile
from PIL import Image, ImageSequence
from PIL.PngImagePlugin import PngInfo

from tenter.cli.formats import TYPES, shown
from tenter.cli.kept import icc
from tenter.cli.main import main as command

PAGE = Path(__file__).with_name("file-formats.md")
BEGIN, END = "<!-- picture_formats.py writes this table -->\n", "<!-- end of the table -->\n"
WIDE, HIGH = 48, 32
P3 = (0.3127, 0.329, 0.68, 0.32, 0.265, 0.69, 0.15, 0.06)
PROFILE = icc.of_colors(P3, icc.curve(2.2))
XMP = (
    b'<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">'
    b'<rdf:Description xmlns:tiff="http://ns.adobe.com/tiff/1.0/" tiff:ImageWidth="48"/></rdf:RDF></x:xmpmeta>'
)
Seen = Callable[[Any, str, str], str]
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


def plain(mode: str) -> str:
    name = f"plain-{mode}.png"
    image = Image.fromarray(colors(4))
    (image.convert("L").point(lambda v: 255 * (v > 99), "1") if mode == "1" else image.convert(mode)).save(name)
    return name


def typed(dtype: Any, count: int) -> str:
    name = f"{np.dtype(dtype).name}-{count}.tif"
    pixels = colors(count, np.uint16).astype(dtype)
    tifffile.imwrite(name, pixels if count > 1 else pixels[..., 0], photometric="rgb" if count > 1 else "minisblack")
    return name


def channels() -> str:
    pixels = np.concatenate((colors(3), colors(2)), -1)
    tifffile.imwrite("channels.tif", pixels, photometric="minisblack", planarconfig="contig")
    return "channels.tif"


def stated(cicp: bytes) -> str:
    """A PNG that says by numbers what its colors are."""
    name, text = f"stated-{cicp.hex()}.png", PngInfo()
    text.add(b"cICP", cicp)
    Image.fromarray(colors(3)).save(name, pnginfo=text)
    return name


def turned() -> str:
    exif = Image.Exif()
    exif[274] = 6
    Image.fromarray(colors(3)).save("turned.jpg", exif=exif)
    return "turned.jpg"


def print_colors() -> str:
    Image.frombytes("CMYK", (WIDE, HIGH), colors(4).tobytes()).save("print.tif")
    return "print.tif"


def indexed() -> str:
    Image.fromarray(colors(3)).quantize(16).save("indexed.png")
    return "indexed.png"


def animation() -> str:
    frames = [Image.fromarray(np.roll(colors(3), 9 * k, 1)) for k in range(3)]
    frames[0].save(
        "animation.webp", save_all=True, append_images=frames[1:], duration=[50, 70, 90], loop=3, lossless=True
    )
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
NAMED = {name: name for name in ("EXIF", "XMP", "IPTC", "comment", "PNG text", "resolution")}
NAMED |= {"HDR": "HDR colors (PQ)", "frames": "further images of the file", "partial alpha": "partial transparency"}
NAMED |= {"durations": "durations of frames", "plays": "number of plays"}
#: a type that needs a package of its own, and how its rows begin
APART, ITS_ROW = "HEIF", "| HEIC |"
#: Pillow's modes in words
MODES = {"1": "black and white", "L": "gray", "LA": "gray+alpha", "P": "palette", "I;16": "gray"}
KEPT, LOST = "kept", "-"


def is_mode(mode: str) -> Seen:
    """Whether a file has this mode, or which other one it has."""

    def seen(image: Any, path: str, said: str) -> str:
        if "converted to sRGB" in said:
            return "sRGB"
        return KEPT if image.mode == mode else MODES.get(image.mode, image.mode)

    return seen


def is_dtype(dtype: Any) -> Seen:
    return lambda image, path, said: KEPT if samples(path) == dtype else str(samples(path))


def has(found: Callable[[Any, str], bool], else_: str = LOST) -> Seen:
    return lambda image, path, said: KEPT if found(image, path) else else_


def partial_alpha(image: Any, path: str) -> bool:
    return len(image.convert("RGBA").getchannel("A").getcolors(256)) > 2


def profile(image: Any, path: str, said: str) -> str:
    if image.info.get("icc_profile") == PROFILE:
        return KEPT
    return "sRGB" if "color profile (converted to sRGB)" in said else LOST


def numbers(image: Any, path: str, said: str) -> str:
    if b"cICP" in Path(path).read_bytes():
        return KEPT
    return "profile" if "icc_profile" in image.info else profile(image, path, said)


def upright(image: Any, path: str, said: str) -> str:
    assert image.size == (16, 24) and image.getexif().get(274, 1) == 1
    return "upright"


#: what a column shows, the picture that has it, options, and what became of it in the file that was written
Columns = dict[str, tuple[Callable[[], str], list[str], Seen]]
PIXELS: Columns = {
    "gray": (partial(plain, "L"), [], is_mode("L")),
    "gray+alpha": (partial(plain, "LA"), [], is_mode("LA")),
    "RGBA": (transparent, [], is_mode("RGBA")),
    "partial alpha": (partial(plain, "RGBA"), [], has(partial_alpha)),
    "CMYK": (print_colors, [], is_mode("CMYK")),
    "palette": (indexed, [], is_mode("P")),
    "palette, by --labels": (indexed, ["--labels"], is_mode("P")),
    "bilevel, by --labels": (partial(plain, "1"), ["--labels"], is_mode("1")),
    "uint16 gray": (partial(typed, np.uint16, 1), [], is_dtype(np.uint16)),
    "uint16 RGB": (partial(typed, np.uint16, 3), [], is_dtype(np.uint16)),
    "int16": (partial(typed, np.int16, 1), [], is_dtype(np.int16)),
    "float32": (partial(typed, np.float32, 1), [], is_dtype(np.float32)),
    "5 channels": (channels, [], is_dtype(np.uint8)),
}  # fmt: skip
SAID: Columns = {
    "EXIF": (photograph, [], has(lambda image, _: image.getexif().get(271) == "A maker")),
    "orientation": (turned, [], upright),
    "XMP": (photograph, [], has(lambda image, _: b'tiff:ImageWidth="24"' in (image.info.get("xmp") or b""))),
    "IPTC": (photograph, [], has(lambda _, path: CAPTION in Path(path).read_bytes())),
    "comment": (photograph, [], has(lambda image, _: b"said" in image.info.values() or "said" in image.info.values())),
    "PNG text": (texts, [], has(lambda image, _: image.info.get("Title") == "Sea")),
    "resolution": (photograph, [], has(lambda image, _: abs(image.info.get("dpi", (0,))[0] - 300) < 1)),
    "profile": (photograph, [], profile),
    "P3 by cICP": (partial(stated, b"\x0c\x0d\0\1"), [], numbers),
    "HDR": (partial(stated, b"\x09\x10\0\1"), [], has(lambda _, path: b"cICP" in Path(path).read_bytes())),
    "frames": (animation, [], has(lambda image, _: pages_or_frames(image), "first")),
    "durations": (animation, [], has(lambda image, _: durations(image))),
    "plays": (animation, [], has(lambda image, _: image.info.get("loop") in (3, 2))),
}  # fmt: skip


def cell(columns: Columns, column: str, source: str, type_: str, messages: list[str]) -> str:
    """What became of a thing in a file of a type: kept, how it was converted, dropped and named, or an error."""
    _, options, seen = columns[column]
    output = f"out{'.tif' if type_ == 'TIFF' else TYPES[type_].endings[0]}"
    said, refused = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(refused):
        code = command(
            ["resize", source, output, "--size", "16x24" if source == "turned.jpg" else "24x16", "--force", *options]
        )
    if code:
        message = refused.getvalue().strip().removeprefix(f"tenter: {output}: ").replace(shown(type_), "TYPE", 1)
        message = re.sub(r"(?<=this image is )[\w+]+", "KIND", message)
        if message not in messages:
            messages.append(message)
        return f"({1 + messages.index(message)})"
    with Image.open(output) if column not in ("float32", "int16", "5 channels") else contextlib.nullcontext() as image:
        found = seen(image, output, said.getvalue())
    lost = said.getvalue().partition("not kept: ")[2]
    if (
        found in (LOST, "first")
        and column in NAMED
        and not {NAMED[column], NAMED["frames"]} & set(lost.strip().split(", "))
    ):
        raise AssertionError(f"{type_} loses {column} without a word: {said.getvalue()}")
    return found


def one_table(columns: Columns, messages: list[str]) -> str:
    sources = {make: make() for make, _, _ in columns.values()}
    rows: dict[tuple[str, ...], list[str]] = {}  # the types of which the same becomes
    for type_ in TYPES:
        cells = [cell(columns, column, sources[make], type_, messages) for column, (make, _, _) in columns.items()]
        rows.setdefault((*cells, type_ if type_ == APART else ""), []).append(shown(type_))
    head = ["Written as", *columns]
    body = [[", ".join(types), *cells] for (*cells, _), types in rows.items()]
    return "".join(f"| {' | '.join(row)} |\n" for row in [head, ["---"] * len(head), *body])


def table() -> str:
    before = Path.cwd()
    messages: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            tables = [one_table(columns, messages) for columns in (PIXELS, SAID)]
        finally:
            os.chdir(before)
    notes = "".join(f"{n}. {message.replace('out.', 'OUT.')}\n" for n, message in enumerate(messages, 1))
    return f"{tables[0]}\nThe messages:\n\n{notes}\n{tables[1]}"


def known(page: str) -> str:
    """A page as far as the types that are installed can write it."""
    return "".join(line for line in page.splitlines(True) if APART in TYPES or not line.startswith(ITS_ROW))


if __name__ == "__main__":
    if APART not in TYPES and "--check" not in sys.argv:
        sys.exit("the rows of HEIC need pillow-heif")
    sys.exit(marks.write(PAGE, BEGIN, END, table, known))
