"""IPTC: captions and keywords, in Photoshop's resources of a JPEG file, or in a tag of a TIFF file."""

from __future__ import annotations

import struct

#: Photoshop's resources that stay right for other pixels: IPTC and its digest, the copyright's mark and address
IPTC, KEPT = 0x0404, (0x0404, 0x0425, 0x040A, 0x040B)
HEAD = b"Photoshop 3.0\0"


def kept(resources: dict[int, bytes]) -> dict[int, bytes]:
    """The resources that stay. The thumbnail and the resolution would be wrong."""
    return {
        number: bytes(content) for number, content in resources.items() if number in KEPT and type(content) is bytes
    }


def segments(resources: dict[int, bytes]) -> bytes:
    """The segments APP13 of a JPEG file; each resource is named '' and padded to an even length."""
    blocks = b"".join(
        b"8BIM" + struct.pack(">HHL", number, 0, len(content)) + content + b"\0" * (len(content) % 2)
        for number, content in resources.items()
    )
    if not blocks:
        return b""
    most = 65533 - len(HEAD)
    parts = [blocks[at : at + most] for at in range(0, len(blocks), most)]
    return b"".join(b"\xff\xed" + struct.pack(">H", 2 + len(HEAD) + len(part)) + HEAD + part for part in parts)
