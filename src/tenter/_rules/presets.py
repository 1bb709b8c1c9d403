"""What libraries mean by "resize", as data: one row for each, which `resize(..., like=...)` fills in."""

from typing import Any, NamedTuple

from tenter._arrays.arguments import describe, did_you_mean
from tenter._arrays.errors import refuse
from tenter._rules.axis_rule import ARITHMETIC
from tenter._rules.edges import EDGES
from tenter.geometry import ALIGNS, TIES, canonical


class Convention(NamedTuple):
    """A library's rules.

    align: of every mode but the nearest kinds (geometry.ALIGNS); nearest-exact is always centered.
    nearest_align: of nearest.
    corners_antialias: of align="corners" with antialias.
    tie: which pixel nearest takes where its position lies between two (geometry.TIES); nearest-exact prefers the upper.
    arithmetic: whose rounding nearest's positions have (axis_rule.ARITHMETIC).
    exact_arithmetic: that of nearest-exact.
    cubic: Keys's `a`.
    cubic_antialias: that with antialias.
    edge: what stands for pixels past the edges (edges.EDGES).
    edge_antialias: that with antialias.
    antialias: whether shrinking blurs where the call does not say.
    blur: how linear blurs: its `filter` widens, or a `gaussian` goes before it.
    area: the mean of the pixels `touched`, or of the `overlap`, each by how much of it lies within; none past edges.
    rounding: of length * scale where the call does not say: floor, round_even.
    follows: positions follow a given `scale`, the `sizes` it made, or the `length` with its fraction: corners, too.
    keeps: whether linear, and filters with antialias, leave an axis alone that keeps its length, whatever the scale.
    between: whether antialiased 8-bit values are computed as by Pillow: rounded to 8 bits after each axis.
    modes: those that the library has; empty for all.

    >>> PRESETS["pillow"].antialias, PRESETS["torch"].antialias
    (True, False)
    """

    align: str = "center"
    nearest_align: str = "center"
    corners_antialias: str = "corners"
    tie: str = "prefer_ceil"
    arithmetic: str = "exact"
    exact_arithmetic: str = "exact"
    cubic: float = -0.75
    cubic_antialias: float = -0.5
    edge: str = "replicate"
    edge_antialias: str = "renormalize"
    antialias: bool = False
    blur: str = "filter"
    area: str = "overlap"
    rounding: str = "floor"
    follows: str = "sizes"
    keeps: bool = False
    between: bool = False
    modes: tuple[str, ...] = ()


PRESETS = {
    # torch.nn.functional.interpolate; with antialias it follows Pillow.
    "torch": Convention(
        nearest_align="asymmetric", corners_antialias="corner_areas", tie="floor", arithmetic="torch",
        exact_arithmetic="torch", area="touched", follows="scale", keeps=True, between=True,
    ),
    # Image.resize: always antialiased, but for NEAREST, which nearest-exact is as well. area: Image.reduce.
    "pillow": Convention(
        arithmetic="pillow", exact_arithmetic="pillow", cubic=-0.5, edge="renormalize", antialias=True, between=True,
    ),
    # cv2.resize: never antialiased, but for INTER_AREA. INTER_NEAREST_EXACT, nearest-exact here, is Pillow's.
    "opencv": Convention(
        nearest_align="asymmetric", tie="floor", arithmetic="opencv", exact_arithmetic="pillow", cubic_antialias=-0.75,
        rounding="round_even", follows="scale",
    ),
    # The Resize operator of opset 19, its attributes' defaults.
    "onnx": Convention(tie="prefer_floor", cubic_antialias=-0.75, edge_antialias="replicate", follows="length"),
    # jax.image.resize, as documented.
    "jax": Convention(
        arithmetic="jax", exact_arithmetic="jax", cubic=-0.5, edge="renormalize", antialias=True,
    ),
    # tf.image.resize of TensorFlow 2, antialias=False, as documented.
    "tensorflow": Convention(arithmetic="jax", exact_arithmetic="jax", cubic=-0.5, edge="renormalize"),
    # skimage.transform.resize, order 0 and 1, mode="reflect"; order 0 with anti_aliasing=False.
    "skimage": Convention(
        arithmetic="scipy", exact_arithmetic="scipy", edge="reflect", edge_antialias="reflect", antialias=True,
        blur="gaussian", rounding="round_even", modes=("nearest", "nearest-exact", "linear"),
    ),
    # scipy.ndimage.zoom, order 0 and 1, grid_mode=False; grid_mode=True: nearest-exact, or linear with align="center".
    "scipy": Convention(
        align="corners", nearest_align="corners", arithmetic="scipy", exact_arithmetic="scipy", rounding="round_even",
        modes=("nearest", "nearest-exact", "linear"),
    ),
}  # fmt: skip


# Names of packages that have another name here.
OTHER_NAMES = {"PIL": "pillow", "cv2": "opencv", "pytorch": "torch", "scikit-image": "skimage", "tf": "tensorflow"}


def convention(like: object) -> Convention:
    """A preset by its name or its package's, or a convention, whose words are checked."""
    if isinstance(like, Convention):
        return _checked(like)
    expected = f"one of {', '.join(PRESETS)}, or a Convention"
    if not isinstance(like, str):
        refuse(TypeError, "like", expected, describe(like))
    like = OTHER_NAMES.get(like, like)
    if like not in PRESETS:
        refuse(ValueError, "like", expected, repr(like) + did_you_mean(like, (*PRESETS, *OTHER_NAMES)))
    return PRESETS[like]


# The kind of word that each field holds, and the words.
_WORDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "align": ("align", ALIGNS), "nearest_align": ("align", ALIGNS), "corners_antialias": ("align", ALIGNS),
    "tie": ("tie", TIES), "edge": ("edge", EDGES), "edge_antialias": ("edge", EDGES),
    "arithmetic": ("", ARITHMETIC), "exact_arithmetic": ("", ARITHMETIC), "blur": ("", ("filter", "gaussian")),
    "area": ("", ("touched", "overlap")), "follows": ("", ("scale", "sizes", "length")),
}  # fmt: skip


def _checked(like: Convention) -> Convention:
    found: dict[str, Any] = {}
    for field, (kind, words) in _WORDS.items():
        word = getattr(like, field)
        found[field] = canonical(kind, word) if kind else word
        if found[field] not in words:
            refuse(ValueError, "like", f"a Convention whose {field} is one of {', '.join(words)}", repr(word))
    return like._replace(**found)
