"""The parts of a file of which nothing is read, as the summary names them."""

from __future__ import annotations

from typing import Any

from tenter.cli.kept.metadata import DESCRIPTIVE, IPTC_TAG, PHOTOSHOP

#: Segments of a JPEG by how they begin: what is read or belongs to the encoding, and what is lost.
READ = (
    b"JFIF\0", b"JFXX\0", b"Exif\0", b"http://ns.adobe.com/xap/1.0/\0", b"ICC_PROFILE\0", b"MPF\0", b"Adobe",
    b"Photoshop 3.0\0", b"Ducky",
)  # fmt: skip
LOST = {
    b"http://ns.adobe.com/xmp/extension/": "extended XMP",
    b"urn:iso:std:iso:ts:21496": "gain map",
    b"JP\0": "content credentials",
    b"FPXR\0": "FlashPix data",
}
PRIVATE, LAYERS, GEOTIFF = 32768, 37724, {33550, 33922, 34264, 34735, 34736, 34737, 42112, 42113}
#: tags of a page that are read, belong to its encoding, or to a description that is named as such
KNOWN_TAGS = DESCRIPTIVE | {IPTC_TAG, PHOTOSHOP, 34675, 32995, 32996, 32997, 50838, 50839, 50706} | GEOTIFF
PLACE = "georeference"


def of_jpeg(image: Any) -> list[str]:
    """What the segments of a JPEG hold that is not read."""
    found = []
    for name, data in getattr(image, "applist", ()):
        if name.startswith("APP") and not data.startswith(READ):
            found.append(next((words for begins, words in LOST.items() if data.startswith(begins)), f"segment {name}"))
    return found


def of_heif(info: dict[Any, Any]) -> list[str]:
    """What is stored beside the image of a HEIC, as pillow-heif lists it."""
    maps = ["depth map"] if info.get("depth_images") else []
    beside = ["gain map" if "hdrgainmap" in kind else "auxiliary images" for kind in info.get("aux") or ()]
    return list(dict.fromkeys(maps + beside))


def of_tiff(tags: Any) -> list[str]:
    """What the private tags of a page hold that is not read."""
    found = [PLACE] if GEOTIFF & set(tags) else []
    private = sorted(tag for tag in tags if tag >= PRIVATE and tag not in KNOWN_TAGS)
    return found + ["layers" if tag == LAYERS else f"TIFF tag {tag}" for tag in private]
