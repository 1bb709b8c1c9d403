"""What libraries mean by "resize", as data. Each row has the defaults for `resize(..., like=...)`."""

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tenter import _native
from tenter._arrays.arguments import describe, did_you_mean, error
from tenter._arrays.errors import Refusal, refuse
from tenter._rules import splines
from tenter._rules.axis_rule import ARITHMETIC, EDGES
from tenter._rules.geometry import ALIGNS, LARGEST, TIES, is_real, tie_of

if TYPE_CHECKING:
    from tenter._arrays.signatures import Fields, Like, Unpack


class Convention(NamedTuple):
    """A library's rules for `resize`, one field each.

    `Convention.of("onnx", nearest_tie="ceil")` is a library's convention with some fields changed.

    Parameters
    ----------
    align : str, default "half_pixel"
        What the first and the last output are aligned with, in all modes except nearest and nearest-exact: one of the
        words of `Geometry`.
    nearest_align : str, default "half_pixel"
        The same for mode "nearest". "nearest-exact" is always centered.
    corners_antialias : str, default "align_corners"
        What align="align_corners" means with antialias: "align_corners" or "corner_areas".
    nearest_tie : {"prefer_ceil", "prefer_floor", "floor", "ceil"}
        Which pixel mode "nearest" takes if a position is between two. ONNX's "round_prefer_floor" and
        "round_prefer_ceil" are accepted. "nearest-exact" takes the upper one.
    nearest_arithmetic : str, default "exact"
        How positions of "nearest" are rounded: "exact", in fractions, or as "torch", "pillow", "opencv", "jax" or
        "scipy" compute them. A library's arithmetic includes its tie.
    nearest_exact_arithmetic : str, default "exact"
        The same for "nearest-exact".
    cubic_a : float, default -0.75
        The slope `a` of Keys' cubic filter, which mode "cubic" uses.
    cubic_a_antialias : float, default -0.5
        The same with antialias.
    cubic : {"keys", "spline"}
        What mode "cubic" is: Keys' filter, or mode "spline3".
    edge : str, default "replicate"
        What is read outside the array: one of the words of `edge` of `resize`.
    edge_antialias : str, default "renormalize"
        The same with antialias.
    antialias : bool, default False
        Whether shrinking is antialiased if the call does not say.
    antialias_method : {"filter", "gaussian"}
        How mode "linear", and splines, are antialiased: by a wider filter, or by a Gaussian blur before them.
    area : {"overlap", "touched"}
        Whether mode "area" weights pixels by how much of each is within the output's area, or takes the mean of all
        pixels that the area touches.
    length_rounding : {"floor", "round", "round_even", "ceil"}
        How length * scale is rounded to a length: "round" rounds halves up, "round_even" to even.
    positions_from : {"sizes", "scale", "length"}
        What positions follow if `scale` is given: the ratio of the sizes, the scale, or length * scale with its
        fraction (also with align="align_corners").
    copy_if_same_size : bool, default False
        Whether linear, and filters with antialias, ignore the scale of an axis that keeps its length, without a box.
        They then copy it, except for mitchell and bspline, which always smooth.
    round_between_axes : bool, default False
        Whether antialiased 8-bit values are rounded to 8 bits after each axis, as Pillow does.
    aspect_ratio : {"stretch", "not_larger", "not_smaller"}
        "stretch": each axis gets its size. "not_larger", "not_smaller": all axes get one scale, with which no axis is
        larger, or none is smaller, than its size (ONNX's keep_aspect_ratio_policy).
    modes : tuple of str, default ()
        The modes that the library has; empty for all.

    See Also
    --------
    tenter.resize : Takes a convention as `like`.
    compare : Where conventions differ.

    Examples
    --------
    >>> PRESETS["pillow"].antialias, PRESETS["torch"].antialias
    (True, False)
    >>> import tenter
    >>> tenter.resize(np.arange(3.0), scale=1.5, like=Convention.of("torch", length_rounding="ceil")).shape
    (5,)
    """

    align: str = "half_pixel"
    nearest_align: str = "half_pixel"
    corners_antialias: str = "align_corners"
    nearest_tie: str = "prefer_ceil"
    nearest_arithmetic: str = "exact"
    nearest_exact_arithmetic: str = "exact"
    cubic_a: float = -0.75
    cubic_a_antialias: float = -0.5
    cubic: str = "keys"
    edge: str = "replicate"
    edge_antialias: str = "renormalize"
    antialias: bool = False
    antialias_method: str = "filter"
    area: str = "overlap"
    length_rounding: str = "floor"
    positions_from: str = "sizes"
    copy_if_same_size: bool = False
    round_between_axes: bool = False
    aspect_ratio: str = "stretch"
    modes: tuple[str, ...] = ()

    @classmethod
    def of(cls, like: "Like | Convention | None" = None, **fields: "Unpack[Fields]") -> "Convention":
        """A library's convention with some fields changed.

        Parameters
        ----------
        like : str or Convention, optional
            The library's name, or a convention. None: what `resize` does by default.
        **fields
            Fields of `Convention` and their values. A new `nearest_tie` or `nearest_align` sets `nearest_arithmetic` to
            "exact", because a library's arithmetic belongs to its tie and align.

        Returns
        -------
        Convention

        Raises
        ------
        TypeError
            If there is no such field, or a field has a value of the wrong type.
        ValueError
            If a field has no such value.

        Examples
        --------
        >>> Convention.of("onnx", nearest_tie="ceil", aspect_ratio="not_larger").nearest_tie
        'ceil'
        """
        try:
            for field, value in fields.items():
                if field not in cls._fields:
                    expected = f"a field of Convention: {', '.join(cls._fields)}"
                    refuse(TypeError, field, expected, describe(value) + did_you_mean(field, cls._fields))
            chosen = convention(like)
            if "nearest_tie" in fields or "nearest_align" in fields:
                chosen = chosen._replace(nearest_arithmetic="exact")
            return checked(chosen._replace(**fields))
        except Refusal as refusal:
            raise error(refusal, "Convention.of", like, **fields) from None


# SciPy's orders 0 to 5; "cubic" is order 3 again.
_OF_ORDERS = ("nearest", "nearest-exact", "linear", "cubic", *splines.ORDERS)

PRESETS = {
    # torch.nn.functional.interpolate. With antialias it follows Pillow.
    "torch": Convention(
        nearest_align="asymmetric", corners_antialias="corner_areas", nearest_tie="floor", nearest_arithmetic="torch",
        nearest_exact_arithmetic="torch", area="touched", positions_from="scale", copy_if_same_size=True,
        round_between_axes=True,
    ),
    # Image.resize: always antialiased, except for NEAREST, which nearest-exact is too. area: Image.reduce.
    "pillow": Convention(
        nearest_arithmetic="pillow", nearest_exact_arithmetic="pillow", cubic_a=-0.5, edge="renormalize",
        antialias=True, round_between_axes=True,
    ),
    # cv2.resize: never antialiased, except for INTER_AREA. INTER_NEAREST_EXACT (nearest-exact here) is Pillow's.
    "opencv": Convention(
        nearest_align="asymmetric", nearest_tie="floor", nearest_arithmetic="opencv", nearest_exact_arithmetic="pillow",
        cubic_a_antialias=-0.75, length_rounding="round_even", positions_from="scale",
    ),
    # The Resize operator of opset 19 with its default attributes.
    "onnx": Convention(
        nearest_tie="prefer_floor", cubic_a_antialias=-0.75, edge_antialias="replicate", positions_from="length",
    ),
    # jax.image.resize, as documented.
    "jax": Convention(
        nearest_arithmetic="jax", nearest_exact_arithmetic="jax", cubic_a=-0.5, edge="renormalize", antialias=True,
    ),
    # tf.image.resize of TensorFlow 2, antialias=False, as documented.
    "tensorflow": Convention(
        nearest_arithmetic="jax", nearest_exact_arithmetic="jax", cubic_a=-0.5, edge="renormalize",
    ),
    # skimage.transform.resize, mode="reflect"; order 0 with anti_aliasing=False.
    "skimage": Convention(
        nearest_arithmetic="scipy", nearest_exact_arithmetic="scipy", edge="reflect", edge_antialias="reflect",
        antialias=True, antialias_method="gaussian", length_rounding="round_even", cubic="spline", modes=_OF_ORDERS,
    ),
    # scipy.ndimage.zoom, grid_mode=False. grid_mode=True is nearest-exact, or another mode with align="half_pixel".
    "scipy": Convention(
        align="align_corners", nearest_align="align_corners", nearest_arithmetic="scipy",
        nearest_exact_arithmetic="scipy", length_rounding="round_even", cubic="spline", modes=_OF_ORDERS,
    ),
}  # fmt: skip


# What all functions but `interpolate` do if `like` is not given: Pillow's filters, which antialias where they shrink,
# and are the same without antialias where they enlarge; PyTorch's scales; exact positions; areas that keep sums.
DEFAULT = Convention(
    nearest_align="asymmetric", nearest_tie="floor", cubic_a=-0.5, edge="renormalize", antialias=True,
    positions_from="scale", copy_if_same_size=True, round_between_axes=True,
)  # fmt: skip

# Other names of packages.
OTHER_NAMES = {"PIL": "pillow", "cv2": "opencv", "pytorch": "torch", "scikit-image": "skimage", "tf": "tensorflow"}


def convention(like: object, argument: str = "like") -> Convention:
    """Returns a preset by its name or its package's name, or checks the words of a convention. None is the default."""
    if like is None:
        return DEFAULT
    if isinstance(like, Convention):
        return checked(like, argument)
    expected = f"one of {', '.join(PRESETS)}, or a Convention"
    if not isinstance(like, str):
        refuse(TypeError, argument, expected, describe(like))
    like = OTHER_NAMES.get(like, like)
    if like not in PRESETS:
        refuse(ValueError, argument, expected, repr(like) + did_you_mean(like, (*PRESETS, *OTHER_NAMES)))
    return PRESETS[like]


# The allowed words of each field that contains a word.
_WORDS: dict[str, tuple[str, ...]] = {
    "align": ALIGNS, "nearest_align": ALIGNS, "corners_antialias": ALIGNS, "nearest_tie": TIES, "edge": EDGES,
    "edge_antialias": EDGES, "nearest_arithmetic": ARITHMETIC, "nearest_exact_arithmetic": ARITHMETIC,
    "cubic": ("keys", "spline"), "antialias_method": ("filter", "gaussian"), "area": ("touched", "overlap"),
    "length_rounding": _native.WORDS["rounding"], "positions_from": ("scale", "sizes", "length"),
    "aspect_ratio": _native.WORDS["policy"],
}  # fmt: skip


def checked(like: Convention, argument: str = "") -> Convention:
    """Returns a convention with checked fields, in the spellings used here. argument: the argument that errors name; by
    default the field."""
    found: dict[str, Any] = {}
    for field, words in _WORDS.items():
        word = getattr(like, field)
        found[field] = tie_of(word) if field == "nearest_tie" else word
        if found[field] not in words:
            close = did_you_mean(word, words) if isinstance(word, str) else ""
            _refuse(field, argument, f"one of {', '.join(words)}", repr(word) + close)
    for field in ("cubic_a", "cubic_a_antialias"):
        if not (is_real(a := getattr(like, field)) and abs(a) <= LARGEST):
            _refuse(field, argument, "a finite number, Keys' a", describe(a))
    return like._replace(**found)


def _refuse(field: str, argument: str, expected: str, got: str) -> NoReturn:
    whose = f"a Convention whose {field} is " if argument else ""
    refuse(ValueError, argument or field, f"{whose}{expected}", got)
