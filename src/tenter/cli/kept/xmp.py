"""XMP: the sizes in a packet brought up to date, its thumbnails left out. All else stays byte by byte."""

from __future__ import annotations

import re

TIFF, EXIF, BASIC = b"http://ns.adobe.com/tiff/1.0/", b"http://ns.adobe.com/exif/1.0/", b"http://ns.adobe.com/xap/1.0/"
WIDTHS, HEIGHTS = {TIFF: b"ImageWidth", EXIF: b"PixelXDimension"}, {TIFF: b"ImageLength", EXIF: b"PixelYDimension"}


def with_size(packet: bytes, height: int, width: int) -> bytes:
    """The packet with an image's new size where it states one."""
    for names, size in ((WIDTHS, width), (HEIGHTS, height)):
        for space, name in names.items():
            for prefix in _prefixes(packet, space):
                attribute = rb"(\b%s:%s\s*=\s*[\"'])\d+" % (prefix, name)
                element = rb"(<%s:%s\b[^>]*>\s*)\d+" % (prefix, name)
                packet = re.sub(attribute, rb"\g<1>%d" % size, packet)
                packet = re.sub(element, rb"\g<1>%d" % size, packet)
    return packet


def without_thumbnails(packet: bytes) -> bytes:
    """The packet without images of the former pixels."""
    for prefix in _prefixes(packet, BASIC):
        packet = re.sub(rb"<%s:Thumbnails\b.*?</%s:Thumbnails\s*>\s*" % (prefix, prefix), b"", packet, flags=re.DOTALL)
    return packet


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
