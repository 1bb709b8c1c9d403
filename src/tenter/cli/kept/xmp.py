"""XMP: the sizes in a packet brought up to date; what it says of thumbnails and of parts of the file that are not
written is left out. All else stays byte by byte."""

from __future__ import annotations

import re

TIFF, EXIF, BASIC = b"http://ns.adobe.com/tiff/1.0/", b"http://ns.adobe.com/exif/1.0/", b"http://ns.adobe.com/xap/1.0/"
WIDTHS, HEIGHTS = {TIFF: b"ImageWidth", EXIF: b"PixelXDimension"}, {TIFF: b"ImageLength", EXIF: b"PixelYDimension"}

PHOTOSHOP = b"http://ns.adobe.com/photoshop/1.0/"
PANORAMA = b"http://ns.google.com/photos/1.0/panorama/"
#: Names along x and along y. All are numbers of pixels; those of the image itself stand first.
ACROSS = (b"CroppedAreaImageWidthPixels", b"FullPanoWidthPixels", b"CroppedAreaLeftPixels")
DOWN = (b"CroppedAreaImageHeightPixels", b"FullPanoHeightPixels", b"CroppedAreaTopPixels")
ANY = rb"[\w.-]+"
#: What phones say of further parts of a file, by namespace: the names there, and the part as the summary names it.
CAMERA = b"http://ns.google.com/photos/1.0/camera/"
GAIN_MAP, VIDEO, DEPTH_MAP = "gain map", "video of a motion photo", "depth map"
PARTS = {
    b"http://ns.adobe.com/hdr-gain-map/1.0/": (ANY, GAIN_MAP),
    b"http://ns.apple.com/HDRGainMap/1.0/": (ANY, GAIN_MAP),
    b"http://ns.apple.com/pixeldatainfo/1.0/": (ANY, GAIN_MAP),
    CAMERA: (rb"(?:Motion|Micro)[\w.-]*", VIDEO),
    b"http://ns.google.com/photos/1.0/depthmap/": (ANY, DEPTH_MAP),
    b"http://ns.google.com/photos/1.0/image/": (ANY, DEPTH_MAP),
    b"http://ns.adobe.com/xmp/note/": (rb"HasExtendedXMP", "extended XMP"),
    b"http://ns.google.com/photos/1.0/container/": (rb"Directory", ""),  # of any of them, which say so themselves
}


def parts(packet: bytes) -> list[str]:
    """The parts of a file beside its image of which a packet speaks."""
    named = [part for space, (name, part) in PARTS.items() if part and _without(packet, space, name) != packet]
    return list(dict.fromkeys(named))


def without_parts(packet: bytes) -> bytes:
    """The packet without words on parts that are not written. A viewer would look for them."""
    for space, (name, _) in PARTS.items():
        packet = _without(packet, space, name)
    return packet


def is_panorama(packet: bytes) -> bool:
    return _without(packet, PANORAMA, ANY) != packet


def without_panorama(packet: bytes) -> bytes:
    """The packet of a part of a panorama, whose place on the sphere is not known."""
    return _without(packet, PANORAMA, ANY)


def _without(packet: bytes, space: bytes, name: bytes) -> bytes:
    """The packet without attributes and elements of these names."""
    for prefix in _prefixes(packet, space):
        packet = re.sub(rb"\s+%s:%s\s*=\s*(?:\"[^\"]*\"|'[^']*')" % (prefix, name), b"", packet)
        element = rb"<%s:(%s)\b[^>]*?(?:/>|>.*?</%s:\1\s*>)\s*" % (prefix, name, prefix)
        packet = re.sub(element, b"", packet, flags=re.DOTALL)
    return packet


def _panorama(packet: bytes, height: int, width: int) -> bytes:
    """The packet with a panorama's numbers of pixels at the image's new size."""
    for prefix in _prefixes(packet, PANORAMA):
        for names, size in ((ACROSS, width), (DOWN, height)):
            found = {name: _number(packet, prefix, name) for name in names}
            before = found[names[0]] or found[names[1]]
            for name, number in found.items():
                if number is not None and before:
                    packet = _with_number(packet, prefix, name, round(number * size / before))
    return packet


def _number(packet: bytes, prefix: bytes, name: bytes) -> int | None:
    found = re.search(rb"\b%s:%s\b(?:\s*=\s*[\"']|[^>=]*>\s*)(\d+)" % (prefix, name), packet)
    return int(found[1]) if found else None


def _with_number(packet: bytes, prefix: bytes, name: bytes, number: int) -> bytes:
    packet = re.sub(rb"(\b%s:%s\s*=\s*[\"'])\d+" % (prefix, name), rb"\g<1>%d" % number, packet)
    return re.sub(rb"(<%s:%s\b[^>]*>\s*)\d+" % (prefix, name), rb"\g<1>%d" % number, packet)


def with_size(packet: bytes, height: int, width: int) -> bytes:
    """The packet with an image's new size where it states one."""
    for names, size in ((WIDTHS, width), (HEIGHTS, height)):
        for space, name in names.items():
            for prefix in _prefixes(packet, space):
                packet = _with_number(packet, prefix, name, size)
    return _panorama(packet, height, width)


def without_thumbnails(packet: bytes) -> bytes:
    """The packet without images of the former pixels."""
    for prefix in _prefixes(packet, BASIC):
        packet = re.sub(rb"<%s:Thumbnails\b.*?</%s:Thumbnails\s*>\s*" % (prefix, prefix), b"", packet, flags=re.DOTALL)
    return packet


def in_srgb(packet: bytes) -> bytes:
    """The packet of an image whose colors have been made sRGB."""
    for prefix in _prefixes(packet, EXIF):
        packet = re.sub(rb"(\b%s:ColorSpace\s*=\s*[\"'])\d+" % prefix, rb"\g<1>1", packet)
        packet = re.sub(rb"(<%s:ColorSpace\b[^>]*>\s*)\d+" % prefix, rb"\g<1>1", packet)
    return _without(packet, PHOTOSHOP, rb"ICCProfile")


def upright(packet: bytes) -> bytes:
    """The packet of an image whose pixels have been turned upright."""
    for prefix in _prefixes(packet, TIFF):
        packet = re.sub(rb"(\b%s:Orientation\s*=\s*[\"'])\d" % prefix, rb"\g<1>1", packet)
        packet = re.sub(rb"(<%s:Orientation\b[^>]*>\s*)\d" % prefix, rb"\g<1>1", packet)
    return packet


def _prefixes(packet: bytes, space: bytes) -> list[bytes]:
    """What stands for a namespace in this packet, in UTF-8."""
    found = re.findall(rb"xmlns:([\w.-]+)\s*=\s*[\"']%s[\"']" % re.escape(space), packet)
    return [re.escape(prefix) for prefix in dict.fromkeys(found)]
