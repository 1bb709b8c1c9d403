"""CMYK images for types of files that hold RGB."""

from __future__ import annotations

import io
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tenter.cli.picture import Picture
from tenter.cli.writing.pillow import image_of

#: What the summary says of an image whose inks are made RGB.
CONVERTED = "CMYK (converted to sRGB)"


def as_rgb(picture: Picture) -> Picture:
    """The image in sRGB: by its color profile if it has one of inks, else as inks that each take away one color."""
    metadata = replace(picture.metadata, icc=None)  # of the inks
    return replace(picture, pixels=_converted(picture), kind="RGB", metadata=metadata)


def _converted(picture: Picture) -> npt.NDArray[Any]:
    from PIL import ImageCms

    if picture.metadata.icc is not None:
        try:
            profile = ImageCms.ImageCmsProfile(io.BytesIO(picture.metadata.icc))
            image: Any = ImageCms.profileToProfile(
                image_of(picture), profile, ImageCms.createProfile("sRGB"), outputMode="RGB"
            )
            return np.asarray(image)
        except (ImageCms.PyCMSError, OSError):  # a damaged profile, or one of other colors
            pass
    return np.asarray(image_of(picture).convert("RGB"))
