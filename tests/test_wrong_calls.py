"""What users of other libraries call by mistake, and what the error tells them: the argument, and the call that was meant
or what it expects instead. One row for each kind of mistake that is likely after docs/coming-from.md."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import tenter
import tenter.torch
from tenter import image, ragged
from tenter.torch import transforms

Image = pytest.importorskip("PIL.Image")
NAMES = {
    "tenter": tenter, "image": image, "ragged": ragged, "transforms": transforms, "torch": torch, "np": np, "Image": Image,
    "A": np.arange(12.0).reshape(3, 4), "a": np.array([10, 20]), "P": np.zeros((48, 64, 3), np.uint8),
    "V": np.zeros((8, 9, 10), np.float32), "T": torch.zeros(2, 3, 8, 9), "mask": np.zeros((6, 7), bool),
    "I": Image.new("RGB", (64, 48)),
}  # fmt: skip
# A call, its error, the argument that the message names first, and words of it.
MISTAKEN = [
    # ---- NumPy
    ('tenter.repeat(A, 2, axis=0)', TypeError, 'axis', 'only sizes: repeat() repeats the whole array; to repeat'),
    ('tenter.tile(A, reps=2)', TypeError, 'reps', 'dims=2'),
    ('tenter.tile(A, 2, axis=0)', TypeError, 'axis', 'only dims, a number for each dim, such as tile(x, (2, 1));'),
    ('tenter.tile(A, reps=(2,2))', TypeError, 'reps', 'dims=(2, 2)'),
    ('tenter.repeat_interleave(A, 2.0)', TypeError, 'repeats', 'integer counts: an int, an array of ints or a list of ints'),
    ('tenter.repeat_interleave(A, [1,2])', ValueError, 'repeats', '12 counts, one per position of the flattened x (or one for all)'),
    ('tenter.resize(A, new_shape=(4,4))', TypeError, 'new_shape', 'size=(4, 4)'),
    ('tenter.resize(A, (4,4), refcheck=False)', TypeError, 'refcheck', 'no argument of this name'),
    ('tenter.expand(A, axis=0)', TypeError, 'axis', 'no argument of this name'),
    ('tenter.broadcast_to', AttributeError, '', 'tenter.expand'),
    ('tenter.kron', AttributeError, '', 'tenter.repeat_interleave, which is a Kronecker product with ones'),
    ('tenter.resize(A, [6, 8.0])', TypeError, 'size', 'sizes that are ints'),
    ("tenter.resize(A, '6x8')", TypeError, 'size', 'sizes that are ints'),
    # ---- PyTorch
    ("tenter.interpolate(T, 4, 'bilinear')", TypeError, 'scale_factor', "mode='bilinear'"),
    ('tenter.interpolate(T, scale=2)', TypeError, 'scale', 'scale_factor=2'),
    ('tenter.interpolate(T, size=4, scale_factor=2)', ValueError, 'size', 'size or scale_factor, not both'),
    ('tenter.interpolate(T, (4,4,4))', ValueError, 'size', '2 values, one per spatial dim, or one for all of (batch,'),
    ("tenter.interpolate(T, 4, mode='linear')", ValueError, 'mode', 'a mode for a 4-d x (linear 3-d, bilinear 4-d, trilinear'),
    ("tenter.interpolate(T, 4, mode='bilinear', align_corners=1)", TypeError, 'align_corners', 'a bool'),
    ("tenter.interpolate(T, 4, mode='nearest', align_corners=True)", ValueError, 'align_corners', "None, as mode 'nearest' has no corners to align"),
    ("tenter.interpolate(T[0], 4, mode='bilinear')", ValueError, 'mode', 'a mode for a 3-d x (linear 3-d, bilinear 4-d, trilinear'),
    ('tenter.interpolate(T, 4, antialias=True)', ValueError, 'antialias', 'False, or a linear kind, bicubic or lanczos'),
    ('tenter.upsample', AttributeError, '', 'tenter.interpolate'),
    ('tenter.repeat_interleave(T, torch.tensor([1.,2.]), 0)', TypeError, 'repeats', 'integer counts'),
    ('tenter.repeat_interleave(T, 2, -5)', IndexError, 'dim', 'a dim of a 4-d input, from -4 to 3'),
    ('tenter.repeat(T, 2)', ValueError, 'sizes', 'at least 4 numbers, one per dim of x'),
    ('tenter.repeat(T, 2, 2, 2)', ValueError, 'sizes', 'at least 4 numbers, one per dim of x'),
    ('tenter.expand(T, 4, 3, 8, 9)', ValueError, 'sizes', '2 or -1 at position 0, as only dims of length 1 stretch'),
    ('tenter.expand(T, -1, 6, -1, -1)', ValueError, 'sizes', '3 or -1 at position 1, as only dims of length 1 stretch'),
    ('tenter.repeat_interleave(T, 2, dim=1, output_size=5)', ValueError, 'output_size', '6, the sum of the counts'),
    ('tenter.resize(T, 4)', ValueError, 'axes', 'the axes to resize, such as (0, 1) of an (H, W, C) image,'),
    ('tenter.resize(T, (4,4))', ValueError, 'axes', 'the axes to resize, such as (0, 1) of an (H, W, C) image,'),
    ('tenter.resize(T, (4,4), dim=(2,3))', TypeError, 'dim', 'axes=(2, 3)'),
    ('tenter.resize(T, (4,4), axes=(2,3), align_corners=True)', TypeError, 'align_corners', "align='align_corners'"),
    ('tenter.resize(T, (4,4), axes=(2,3), scale_factor=2)', TypeError, 'scale_factor', 'scale=2'),
    ("tenter.resize(T, (4,4), axes=(2,3), mode='area', antialias=True)", ValueError, 'antialias', 'False or None for modes nearest, nearest-exact, area'),
    ('tenter.resize(T, (4,4), axes=(2,3), recompute_scale_factor=True)', TypeError, 'recompute_scale_factor', "like=Convention.of('torch', positions_from='sizes')"),
    ('transforms.Resize()', TypeError, 'size', 'sizes that are ints'),
    ('transforms.Resize((4,4), max_size=9)', ValueError, 'max_size', 'None where size is (height, width)'),
    ("transforms.Resize(4, interpolation='cubic')", ValueError, 'interpolation', "'bicubic'"),
    ("transforms.Resize(4, mode='bicubic')", TypeError, 'mode', "interpolation='bicubic'"),
    ('transforms.RandomResizedCrop(4, p=0.5)', TypeError, 'p', 'flip=0.5'),
    ('transforms.RandomResizedCrop(4, 0.5)', TypeError, 'scale', '(least, greatest), both above 0, the least up to 1'),
    ('transforms.CenterCrop', AttributeError, '', 'ResizeCenterCrop resizes and crops'),
    ('transforms.Normalize', AttributeError, '', 'the arguments mean and std of each transform normalize'),
    ('transforms.Resize(4)(V)', ValueError, 'inputs', 'arrays (H, W) or (H, W, C); a tensor may be (C, H, W)'),
    ('transforms.Resize(4)([P, P])', ValueError, 'masks', 'masks=1 for a mask or masks=() to pass it through as it is,'),
    ("transforms.Resize(4)('photo.jpg')", TypeError, 'inputs', "an image: a tensor, a NumPy array or one of Pillow's;"),
    ('tenter.torch.Upsample(size=2, scale_factor=2)', ValueError, 'size', 'size or scale_factor, not both'),
    # ---- Pillow
    ('image.resize(I, (64, 48), Image.BICUBIC)', TypeError, 'mode', 'it by its name, mode=3'),
    ('image.resize(I, (24, 32), resample=3)', TypeError, 'resample', 'mode=...'),
    ('image.resize(I, (24,32), box=(0,0,10,10))', ValueError, 'box', '2 pairs (begin, end), one per axis: ((0, 10), (0, 10)) for'),
    ('image.resize(I, (24,32), reducing_gap=2)', TypeError, 'reducing_gap', 'no argument of this name'),
    ('image.resize(I, 32)', ValueError, 'size', '(height, width), or (32, None) for the shorter side,'),
    ("image.resize(I, (24,32), mode='BICUBIC')", ValueError, 'mode', "'bicubic'"),
    ('image.resize(I, (24,32), mode=3)', TypeError, 'mode', 'one of nearest, nearest-exact, linear, cubic, lanczos,'),
    ('image.resize(I, size=(24,32), width=3)', TypeError, 'width', 'size=(None, 3)'),
    ('tenter.resize(I, (24,32))', TypeError, 'x', 'np.asarray(x), or tenter.image.resize, which takes images'),
    ("image.resize('photo.jpg', (24,32))", TypeError, 'x', 'an array, a tensor or a list of numbers'),
    ('image.Fit(3, 4)', TypeError, 'enlarge', 'a bool'),
    ("image.Fill((3, 4), 'top')", ValueError, 'gravity', 'one of center, west, east, north, northwest, northeast,'),
    ('image.crop_resize', AttributeError, '', 'image.resize(x, size, box=((top, bottom), (left, right))) resizes a part'),
    ('image.resize(I, (24.5, 32))', TypeError, 'size', 'sizes that are ints'),
    ("image.resize(I, (24,32), filter='lanczos')", TypeError, 'filter', "mode='lanczos'"),
    ('image.resize(I, (24,32), quality=90)', TypeError, 'quality', 'no argument of this name'),
    # ---- OpenCV
    ('tenter.resize(P, None, fx=0.5, fy=0.5)', TypeError, 'fx', 'scale=(fy, fx)'),
    ('tenter.resize(P, (64,48), interpolation=1)', TypeError, 'interpolation', 'mode=...'),
    ('tenter.resize(P, dsize=(32,24))', TypeError, 'dsize', 'size=(24, 32)'),
    ("tenter.resize(P, (24,32), interpolation='INTER_AREA')", TypeError, 'interpolation', "mode='area'"),
    ('tenter.resize(P, (24,32))', ValueError, 'axes', 'the axes to resize, such as (0, 1) of an (H, W, C) image,'),
    ("tenter.resize(P, (24,32), like='opencv')", ValueError, 'axes', 'the axes to resize, such as (0, 1) of an (H, W, C) image,'),
    ("tenter.resize(P, (24,32), axes=(0,1), like='cv')", ValueError, 'like', "'cv2'"),
    ("tenter.resize(P, (24,32), axes=(0,1), mode='inter_area')", ValueError, 'mode', "'area'"),
    ("tenter.resize(P, (24,32), axes=(0,1), mode='lanczos4', like='cv2')", ValueError, 'antialias', "True or False for mode 'lanczos4', as"),
    ('tenter.resize(P, (24,32), dst=P)', TypeError, 'dst', 'out=...'),
    ('image.resize(P, dsize=(32,24))', TypeError, 'dsize', 'size=(24, 32)'),
    ('tenter.resize(P, (24,32), axes=(0,1), borderMode=1)', TypeError, 'borderMode', 'no argument of this name'),
    # ---- scikit-image
    ('tenter.resize(P, output_shape=(24,32))', TypeError, 'output_shape', 'size=(24, 32)'),
    ('tenter.resize(P, (24,32), anti_aliasing=True)', TypeError, 'anti_aliasing', 'antialias=True'),
    ('tenter.resize(P, (24,32,3), order=1)', TypeError, 'order', 'mode=...'),
    ('tenter.rescale(P, 0.5)', AttributeError, '', 'tenter.resize(x, scale=...)'),
    ('tenter.resize(P, (24,32,4))', ValueError, 'axes', 'axes=(0, 1) and size=(24, 32) for an image of 3 channels,'),
    ("tenter.resize(P, (24,32), axes=(0,1), mode='reflect')", ValueError, 'mode', "edge='reflect'"),
    ("tenter.resize(P, (24,32), axes=(0,1), mode='edge')", ValueError, 'mode', "edge='replicate'"),
    ('tenter.resize(P, (24,32), axes=(0,1), preserve_range=True)', TypeError, 'preserve_range', 'no argument of this name'),
    ('tenter.resize(P, scale=0.5, axes=(0,1), channel_axis=-1)', TypeError, 'channel_axis', 'axes=(0, 1)'),
    ('tenter.resize(mask, (3,3))', TypeError, 'x', "numbers for mode 'linear' (nearest and nearest-exact take any dtype)"),
    ("tenter.resize(mask, (3,3), mode='linear')", TypeError, 'x', "numbers for mode 'linear' (nearest and nearest-exact take any dtype)"),
    # ---- SciPy
    ('tenter.zoom(V, 2)', AttributeError, '', 'tenter.resize(x, scale=...)'),
    ('tenter.resize(V, zoom=2)', TypeError, 'zoom', 'scale=2'),
    ('tenter.resize(V, scale=2)', ValueError, 'axes', 'the axes to resize, such as (0, 1) of an (H, W, C) image,'),
    ('tenter.resize(V, scale=2, order=3)', TypeError, 'order', 'mode=...'),
    ('tenter.resize(V, scale=(2,2,2), order=1)', TypeError, 'order', 'mode=...'),
    ("tenter.resize(V, scale=2, axes=(0,1,2), mode='nearest', cval=3)", TypeError, 'cval', 'value=3'),
    ("tenter.resize(V, scale=2, axes=(0,1,2), edge='nearest')", ValueError, 'edge', 'one of replicate, reflect, symmetric, wrap, constant,'),
    ("tenter.resize(V, scale=2, axes=(0,1,2), edge='mirror')", ValueError, 'edge', 'one of replicate, reflect, symmetric, wrap, constant,'),
    ('tenter.resize(V, scale=2, axes=(0,1,2), grid_mode=True)', TypeError, 'grid_mode', "align='half_pixel'"),
    ('tenter.resize(V, scale=2, axes=(0,1,2), prefilter=False)', TypeError, 'prefilter', 'no argument of this name'),
    ("tenter.resize(V, scale=2, axes=(0,1,2), like='scipy', mode='lanczos')", ValueError, 'mode', "one of nearest, nearest-exact, linear, cubic, spline2, spline3, spline4, spline5, with like='scipy'"),
    ("tenter.resize(V[0,0], 50, window='hann')", TypeError, 'window', 'no argument of this name'),
    # ---- JAX
    ('tenter.resize(P, shape=(24,32,3))', TypeError, 'shape', 'size=(24, 32, 3)'),
    ("tenter.resize(P, (24,32,3), method='linear')", TypeError, 'method', "mode='linear'"),
    ("tenter.resize(P, (24,32,3), 'linear')", TypeError, 'mode', "it by its name, mode='linear'"),
    ("tenter.resize(P, (24,32,3), antialias='yes')", TypeError, 'antialias', 'a bool or None'),
    ('tenter.repeat_interleave(a, [1,2], total_repeat_length=3)', TypeError, 'total_repeat_length', 'output_size=3'),
    # ---- einops
    ("tenter.repeat(A, 'h w -> h w c', c=3)", TypeError, 'c', 'no argument of this name'),
    # ---- ONNX
    ('tenter.resize(T, sizes=[1,2,4,4])', TypeError, 'sizes', 'size=[1, 2, 4, 4]'),
    ("tenter.resize(T, (4,4), axes=(2,3), coordinate_transformation_mode='half_pixel')", TypeError, 'coordinate_transformation_mode', "align='half_pixel'"),
    ('tenter.resize(T, scales=[1,1,2,2])', TypeError, 'scales', 'scale=[1, 1, 2, 2]'),
    ("tenter.resize(T, (4,4), axes=(2,3), nearest_mode='floor')", TypeError, 'nearest_mode', "like=Convention.of('onnx', nearest_tie='floor')"),
    ('tenter.resize(T, (4,4), axes=(2,3), cubic_coeff_a=-0.5)', TypeError, 'cubic_coeff_a', 'mode=tenter.filters.cubic(-0.5)'),
    ("tenter.resize(T, (4,4), axes=(2,3), align='align_corner')", ValueError, 'align', "'align_corners'"),
    ("tenter.resize(T, (4,4), axes=(2,3), keep_aspect_ratio_policy='not_larger')", TypeError, 'keep_aspect_ratio_policy', "like=Convention.of('onnx', aspect_ratio='not_larger')"),
    ('tenter.resize(T, (4,4), axes=(2,3), roi=[0,1])', TypeError, 'roi', 'box=[0, 1]'),
    ('tenter.resize(T, (4,4), axes=(2,3), extrapolation_value=0)', TypeError, 'extrapolation_value', 'value=0'),
    ("tenter.conventions.Convention.of('onnx', tie='ceil')", TypeError, 'tie', 'a field of Convention: align, nearest_align,'),
    # ---- TensorFlow
    ("tenter.resize(P, (24,32), method='bilinear')", TypeError, 'method', "mode='bilinear'"),
    ('tenter.resize(P, [24,32], axes=(0,1), preserve_aspect_ratio=True)', TypeError, 'preserve_aspect_ratio', 'tenter.image.resize(x, tenter.image.Fit(size))'),
    ("tenter.resize(P, (24,32), axes=(0,1), mode='bicubic', half_pixel_centers=True)", TypeError, 'half_pixel_centers', "align='half_pixel'"),
    # ---- ragged
    ('ragged.unpad(A, [5,4])', ValueError, 'x', '2 rows, one for each length'),
    ('ragged.offsets([1,-2])', ValueError, 'lengths', 'non-negative lengths'),
]  # fmt: skip


@pytest.mark.parametrize(("call", "kind", "argument", "words"), MISTAKEN, ids=[call for call, *_ in MISTAKEN])
def test_the_error_of_a_mistaken_call_tells_what_is_meant(
    call: str, kind: type[Exception], argument: str, words: str
) -> None:
    with pytest.raises(kind) as caught:
        eval(call, NAMES)
    first, *rest = str(caught.value).splitlines()
    assert words in first, first
    if kind is not AttributeError:
        assert first.startswith(f"{argument}: expected ") and ", got " in first
        assert len(rest) == 1 and rest[0].startswith("  in "), rest
