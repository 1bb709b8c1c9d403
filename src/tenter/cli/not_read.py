"""Files that are known and not read: how they begin, how their names end, and what to do about them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from tenter.cli.refusal import Refusal


class Unread(NamedTuple):
    """said: what a message says. endings: those of names. begins: a pattern of the first bytes."""

    said: str
    endings: tuple[str, ...]
    begins: bytes = rb"(?!)"


RAW, TO_NPY = "raw files of cameras", "numpy.save makes it .npy"
#: by what the documentation calls them
UNREAD = {
    RAW: Unread(
        "is a raw file of a camera: `darktable-cli in.nef out.tif` or `dcraw -T` develops it",
        (
            ".cr2", ".cr3", ".crw", ".raf", ".orf", ".rw2", ".dng", ".nef", ".nrw", ".arw", ".sr2", ".srf", ".pef",
            ".srw", ".3fr", ".fff", ".iiq", ".kdc", ".dcr", ".erf", ".mef", ".mos", ".rwl", ".gpr", ".raw",
        ),
        rb"II\*\0.{4}CR|FUJIFILMCCD-RAW|IIU\0|IIR[OS]|MMOR|.{4}ftypcrx |FOVb|\0MRM"),
    "JPEG XL": Unread(
        "JPEG XL is not read or written: `djxl in.jxl out.png` and `cjxl in.png out.jxl` of libjxl convert it",
        (".jxl",), rb"\xff\x0a|\0\0\0\x0cJXL \r\n\x87\n"),
    "JPEG XR": Unread(
        "JPEG XR is not read: `JxrDecApp -i in.jxr -o out.tif` of jxrlib makes it a TIFF",
        (".jxr", ".wdp", ".hdp"), rb"II\xbc"),
    "OpenEXR": Unread("OpenEXR is not read: ImageMagick's `convert` makes it a TIFF", (".exr",), rb"v/1\x01"),
    "Radiance HDR": Unread("Radiance HDR is not read: ImageMagick's `convert` makes it a TIFF", (".hdr",), rb"#\?R"),
    "PSB": Unread(
        "is a large Photoshop document, which is not read: ImageMagick's `convert in.psb[0] out.png` merges its layers",
        (".psb",), rb"8BPS\0\x02"),
    "GIMP": Unread(
        "is a GIMP document, which is not read: ImageMagick's `convert in.xcf -flatten out.png` merges its layers",
        (".xcf",), rb"gimp xcf"),
    "animated cursors": Unread("is an animated cursor, which is not read", (".ani",), rb"RIFF.{4}ACON"),
    "FITS": Unread(
        f"FITS is not read: astropy gives its array, {TO_NPY}", (".fits", ".fit", ".fts"), rb"SIMPLE  ="),
    "NIfTI": Unread(
        f"NIfTI is not read: nibabel gives its array, {TO_NPY}", (".nii", ".nii.gz"), rb".{4}n[+i]2\0|.{344}n[+i]1\0"),
    "DICOM": Unread(f"DICOM is not read: pydicom gives its array, {TO_NPY}", (".dcm", ".dicom"), rb".{128}DICM"),
    "MetaImage": Unread(
        f"MetaImage is not read: SimpleITK gives its array, {TO_NPY}", (".mha", ".mhd"), rb"ObjectType ?="),
    "NRRD": Unread(f"NRRD is not read: SimpleITK gives its array, {TO_NPY}", (".nrrd", ".nhdr"), rb"NRRD000"),
    "HDF5": Unread(
        "HDF5 is not read: h5py gives its arrays, numpy.save makes one .npy", (".h5", ".hdf5"), rb"\x89HDF\r\n\x1a\n"),
    "`.npz`": Unread("holds several arrays: numpy.load gives them, numpy.save makes one .npy", (".npz",)),
    "PDF": Unread("PDF has pages, not images: `pdftoppm -png -r 150 in.pdf page` draws them", (".pdf",), rb"%PDF-"),
    "PostScript": Unread(
        "PostScript has pages, not images: `gs -sDEVICE=png16m -r150 -o page%d.png in.ps` draws them",
        (".ps", ".eps"), rb"%!PS|\xc5\xd0\xd3\xc6"),
    "SVG": Unread(
        "SVG has no pixels: `rsvg-convert -w 800 in.svg -o out.png` draws it",
        (".svg", ".svgz", ".svg.gz"), rb"\s*(?:<\?xml.*?)?(?:<!--.*?)?<svg"),
    "videos": Unread(
        "is a video: `ffmpeg -i in.mp4 -vf scale=800:-2 out.mp4` resizes it",
        (".mov", ".mp4", ".m4v", ".avi", ".mkv", ".webm"),
        rb".{4}ftyp(?:mp4|iso|qt  |M4V|3gp)|\x1a\x45\xdf\xa3|RIFF.{4}AVI "),
}  # fmt: skip
#: what is put around a file of another ending, and how it begins
COMPRESSED = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\0", ".zst": b"\x28\xb5\x2f\xfd"}


def ending_of(path: str) -> str:
    """The ending of a file's name in lower case; of a compressed file with the one before it, such as .nii.gz."""
    *_, before, last = ("", "", *(suffix.lower() for suffix in Path(path).suffixes))
    return before + last if last in COMPRESSED else last


def check_known(path: str, head: bytes = b"") -> None:
    """Refuse a type that is known not to be read, with what to do about it. head: the first bytes, which say more than
    the ending, except of a compressed file."""
    ending = ending_of(path)
    for kind in UNREAD.values():
        if re.match(kind.begins, head, re.DOTALL):
            raise Refusal(f"{path}: {kind.said}")
    for kind in UNREAD.values():
        if ending in kind.endings:
            raise Refusal(f"{path}: {kind.said}")
    if ending.endswith(tuple(COMPRESSED)) or head.startswith(tuple(COMPRESSED.values())):
        raise Refusal(f"{path}: is compressed; the file within it may be one that is read")
