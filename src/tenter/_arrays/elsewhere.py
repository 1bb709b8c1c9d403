"""What other libraries' arguments, edges and functions are here, for hints in errors."""

#: What says here what another library's argument says, where that is not an argument of the same value, after "did you
#: mean": each for functions that have some arguments.
INSTEAD: tuple[tuple[tuple[str, ...], dict[str, str]], ...] = (
    (("mode", "like"), {
        **dict.fromkeys(("nearest_mode", "nearest_tie", "tie"), "like=Convention.of('onnx', nearest_tie={})"),
        **dict.fromkeys(("length_rounding", "rounding"), "like=Convention.of(like, length_rounding={})"),
        **dict.fromkeys(
            ("keep_aspect_ratio_policy", "aspect_ratio", "policy"), "like=Convention.of('onnx', aspect_ratio={})"
        ),
        "positions_from": "like=Convention.of(like, positions_from={})",
        "recompute_scale_factor": "like=Convention.of('torch', positions_from='sizes')",
        "cubic_coeff_a": "mode=tenter.filters.cubic({})", "cubic_a": "mode=tenter.filters.cubic({})",
    }),
    (("mode", "axes"), {
        "exclude_outside": "edge='renormalize'",
        "anti_aliasing_sigma": "like='skimage', whose blur follows from the size",
        "up": "scale=Fraction(up, down)", "down": "scale=Fraction(up, down)",
        **dict.fromkeys(("height", "width", "h", "w"), "size=(height, width), axes=(0, 1)"),
        **dict.fromkeys(("preserve_aspect_ratio", "max_size"), "tenter.image.resize(x, tenter.image.Fit(size))"),
        "alpha": "tenter.image.resize(x, size, alpha={})", "layout": "tenter.image.resize(x, size, layout={})",
        "linear_light": "tenter.image.resize(x, size, linear_light={})",
    }),
    (("mode", "scale_factor"), {
        "like": "tenter.resize(x, size, axes=(-2, -1), like={})",
        "edge": "tenter.resize(x, size, axes=(-2, -1), edge={})",
        "box": "tenter.resize(x, size, axes=(-2, -1), box={})",
        **dict.fromkeys(("axis", "axes", "dim", "dims"), "tenter.resize(x, size, axes={})"),
        **dict.fromkeys(("align", "coordinate_transformation_mode"), "align_corners, True for 'align_corners'"),
    }),
    (("lengths",), {
        **dict.fromkeys(("offsets", "cu_seqlens"), "lengths=tenter.ragged.lengths(offsets)"),
        "segment_ids": "lengths=np.bincount(segment_ids)", "mask": "lengths=mask.sum(1)",
    }),
)  # fmt: skip
#: The call that resizes a part of an image, of which other libraries have a function.
PART_RESIZED = "tenter.image.resize(x, size, box=((top, bottom), (left, right)))"
#: Names in other libraries' functions, and what the argument may be called here.
ELSEWHERE = {
    **dict.fromkeys(("fx", "fy", "zoom", "factor", "scales", "scale_factors"), ("scale", "scale_factor")),
    "scale_factor": ("scale",), "scale": ("scale_factor",),
    "interpolation": ("mode",), "method": ("mode",), **dict.fromkeys(("resample", "filter"), ("mode", "interpolation")),
    "order": ("mode",), "mode": ("interpolation",), "p": ("flip",), "kernel": ("mode",),
    "axis": ("axes", "dim"), "dims": ("axes", "sizes", "dim"), "dim": ("axes", "axis"), "axes": ("dim", "axis"),
    "channel_axis": ("axes", "layout"), "multichannel": ("axes", "layout"), "data_format": ("layout",),
    "spatial_dims": ("axes",),
    "output_shape": ("size",), "dsize": ("size",), "new_size": ("size",), "shape": ("size", "sizes"), "num": ("size",),
    "target_size": ("size",), "new_shape": ("size",), "newshape": ("size",),
    "anti_aliasing": ("antialias",), "align_corners": ("align",), "coordinate_transformation_mode": ("align",),
    "grid_mode": ("align",), "half_pixel_centers": ("align",),
    "padding_mode": ("edge",), "boundary": ("edge",), "cval": ("value",), "fill_value": ("value",),
    "padding_value": ("value",), "extrapolation_value": ("value",),
    "dst": ("out",), "output": ("out",), "roi": ("box",), "crop": ("box", "crop_size"),
    **dict.fromkeys(("input", "array", "data", "arr"), ("x", "pixels", "a", "A")), "a": ("x",),
    **dict.fromkeys(("image", "img", "im", "src", "tensor"), ("x", "pixels")),
    "counts": ("repeats", "lengths"), "reps": ("repeats", "sizes", "dims"), "repeats": ("dims", "sizes"),
    "sizes": ("dims", "lengths", "size"), "seqlens": ("lengths",), "maxlen": ("max_len",), "side": ("padding_side",),
    "num_segments": ("n",), "total_repeat_length": ("output_size", "total"),
    "xp": ("coordinates",), "coords": ("coordinates",), "fp": ("x",), "kind": ("mode",), "x_new": ("at",),
    "left": ("value",), "right": ("value",),
    **dict.fromkeys(("skip_nan", "skipnan", "nan_policy", "ignore_nan"), ("skipna",)),
    **dict.fromkeys(("mask", "valid"), ("where",)),
}  # fmt: skip
#: What other libraries call these edges, in lower case with dashes.
EDGES_ELSEWHERE = {
    "mirror": "reflect", "reflection": "reflect", "grid-mirror": "symmetric", "zeros": "constant", "fill": "constant",
    **dict.fromkeys(("edge", "nearest", "border", "clamp", "border-replicate"), "replicate"),
    **dict.fromkeys(("circular", "periodic", "grid-wrap", "border-wrap"), "wrap"),
    **dict.fromkeys(("border-reflect-101", "border-reflect101", "border-default"), "reflect"),
    **dict.fromkeys(("reflect-101", "reflect101"), "reflect"),
    "border-reflect": "symmetric", "border-constant": "constant",
}  # fmt: skip
#: What other libraries' functions of rows are in `tenter.ragged`.
ROWS_ELSEWHERE = {
    **dict.fromkeys(("pad_sequence", "pad_packed_sequence", "to_tensor"), "pad"), "sequence_mask": "mask",
    "cu_seqlens": "offsets", "softmax": "segment_softmax", "RaggedTensor": "Plan", "from_row_lengths": "Plan",
    **dict.fromkeys(("scatter_add", "index_add", "segment_reduce", "bincount", "reduceat"), "segment_sum"),
}  # fmt: skip


def edge_here(word: str) -> str:
    """What another library's name of an edge is here; other words unchanged."""
    return EDGES_ELSEWHERE.get(word.lower().replace("_", "-"), word)
