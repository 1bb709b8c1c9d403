"""What libraries mean by "resize", as data. Each row has the defaults for `resize(..., like=...)`."""

from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from tenter import _native
from tenter._arrays.arguments import describe, did_you_mean, error
from tenter._arrays.elsewhere import edge_here
from tenter._arrays.errors import Refusal, refuse
from tenter._rules import splines
from tenter._rules.axis_rule import EDGES
from tenter._rules.geometry import ALIGNS, ALIGNS_ELSEWHERE, LARGEST, TIES, is_real, tie_of

if TYPE_CHECKING:
    from tenter._arrays.signatures import Fields, Like, Unpack


class Convention(NamedTuple):
    """A library's rules for `resize`, one field each.

    `Convention.of("onnx", nearest_tie="ceil")` is a library's convention with some fields changed. `cubic_a` and `edge`
    are one value, or a pair: without and with antialias.

    Parameters
    ----------
    align : str, default "half_pixel"
        What the first and the last output are aligned with, in all modes except nearest and nearest-exact: one of the
        words of `Geometry`.
    nearest_align : str, default "half_pixel"
        The same for mode "nearest". "nearest-exact" is always centered.
    corners_antialias : str, default "align_corners"
        What align="align_corners" means with antialias: "align_corners" or "corner_areas".
    nearest_tie : str, default "prefer_ceil"
        Which pixel mode "nearest" takes if a position is between two: "prefer_ceil", "prefer_floor", "floor" or "ceil"
        of the exact position (ONNX's "round_prefer_floor" and "round_prefer_ceil" are accepted). Or "torch", "pillow",
        "opencv", "jax" or "scipy": as that library rounds its positions, also those of "nearest-exact", which else are
        exact and take the upper pixel.
    cubic_a : float or pair, default (-0.75, -0.5)
        The slope `a` of Keys' cubic filter, which mode "cubic" uses.
    cubic : {"keys", "spline"}
        What mode "cubic" is: Keys' filter, or mode "spline3".
    edge : str or pair, default ("replicate", "renormalize")
        What is read outside the array: one of the words of `edge` of `resize`. Splines take it if it is one word that
        they know, else "reflect".
    antialias : {False, True, "gaussian"}
        Whether shrinking is antialiased if the call does not say. "gaussian": yes, and mode "linear" and splines by a
        Gaussian blur before them in place of a wider filter.
    area : {"overlap", "touched"}
        Whether mode "area" weights pixels by how much of each is within the output's area, or takes the mean of all
        pixels that the area touches.
    length_rounding : {"floor", "round", "round_even", "ceil"}
        How length * scale is rounded to a length: "round" rounds halves up, "round_even" to even.
    positions_from : {"sizes", "scale", "scale_unless_same", "length"}
        What positions follow if `scale` is given: the ratio of the sizes, the scale, or length * scale with its
        fraction (also with align="align_corners"). "scale_unless_same": the scale, but linear, and filters with
        antialias, copy an axis that keeps its length, without a box (mitchell and bspline smooth it).
    eight_bits : {"once", "pillow", "opencv"}
        How 8-bit values are rounded: once, or as Pillow, antialiased values after each axis, or as OpenCV, whose linear
        values are in fixed point.
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
    cubic_a: "float | tuple[float, float]" = (-0.75, -0.5)
    cubic: str = "keys"
    edge: "str | tuple[str, str]" = ("replicate", "renormalize")
    antialias: bool | str = False
    area: str = "overlap"
    length_rounding: str = "floor"
    positions_from: str = "sizes"
    eight_bits: str = "once"
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
            Fields of `Convention` and their values. With another `nearest_align`, a library's name as `nearest_tie`
            becomes its tie at exact positions, because its rounding belongs to its align.

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
            if "nearest_align" in fields:
                chosen = chosen._replace(nearest_tie=exact_tie(chosen.nearest_tie))
            return checked(chosen._replace(**fields))
        except Refusal as refusal:
            raise error(refusal, "Convention.of", like, **fields) from None


#: The ties of libraries, whose own arithmetic rounds positions of nearest modes.
_TIES_OF = {"torch": "floor", "pillow": "prefer_ceil", "opencv": "floor", "jax": "prefer_ceil", "scipy": "prefer_ceil"}


def exact_tie(tie: str) -> str:
    """The tie at exact positions, of a tie or a library."""
    return _TIES_OF.get(tie, tie)


def nearest_arithmetic(how: Convention, exact: bool, align: str | None, edge: str | None) -> str:
    """How positions of a nearest mode are rounded. PyTorch's formulas have no other alignment and no edges.

    exact: of nearest-exact, OpenCV's INTER_NEAREST_EXACT, which is Pillow's
    """
    if how.nearest_tie not in _TIES_OF or align or (edge and how.nearest_tie == "torch"):
        return "exact"
    return "pillow" if exact and how.nearest_tie == "opencv" else how.nearest_tie


def with_antialias(field: Any, antialias: bool) -> Any:
    """The value of a field that is one value, or a pair: without and with antialias."""
    return field[antialias] if isinstance(field, tuple) else field


# SciPy's orders 0 to 5; "cubic" is order 3 again.
_OF_ORDERS = ("nearest", "nearest-exact", "linear", "cubic", *splines.ORDERS)

PRESETS = {
    # torch.nn.functional.interpolate. With antialias it follows Pillow.
    "torch": Convention(
        nearest_align="asymmetric", corners_antialias="corner_areas", nearest_tie="torch", area="touched",
        positions_from="scale_unless_same", eight_bits="pillow",
    ),
    # Image.resize: always antialiased, except for NEAREST, which nearest-exact is too. area: Image.reduce.
    "pillow": Convention(
        nearest_tie="pillow", cubic_a=-0.5, edge="renormalize", antialias=True, eight_bits="pillow",
    ),
    # cv2.resize: never antialiased, except for INTER_AREA.
    "opencv": Convention(
        nearest_align="asymmetric", nearest_tie="opencv", cubic_a=-0.75, length_rounding="round_even",
        positions_from="scale", eight_bits="opencv",
    ),
    # The Resize operator of opset 19 with its default attributes.
    "onnx": Convention(nearest_tie="prefer_floor", cubic_a=-0.75, edge="replicate", positions_from="length"),
    # jax.image.resize, as documented.
    "jax": Convention(nearest_tie="jax", cubic_a=-0.5, edge="renormalize", antialias=True),
    # tf.image.resize of TensorFlow 2, antialias=False, as documented.
    "tensorflow": Convention(nearest_tie="jax", cubic_a=-0.5, edge="renormalize"),
    # skimage.transform.resize, mode="reflect"; order 0 with anti_aliasing=False.
    "skimage": Convention(
        nearest_tie="scipy", edge="reflect", antialias="gaussian", length_rounding="round_even", cubic="spline",
        modes=_OF_ORDERS,
    ),
    # scipy.ndimage.zoom, grid_mode=False. grid_mode=True is nearest-exact, or another mode with align="half_pixel".
    "scipy": Convention(
        align="align_corners", nearest_align="align_corners", nearest_tie="scipy", length_rounding="round_even",
        cubic="spline", modes=_OF_ORDERS,
    ),
}  # fmt: skip


# What all functions but `interpolate` do if `like` is not given: Pillow's filters, which antialias where they shrink,
# and are the same without antialias where they enlarge; PyTorch's scales; exact positions; areas that keep sums.
DEFAULT = Convention(
    nearest_align="asymmetric", nearest_tie="floor", cubic_a=-0.5, edge="renormalize", antialias=True,
    positions_from="scale_unless_same", eight_bits="pillow",
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
        name = getattr(like, "__name__", None)  # of a module
        named = OTHER_NAMES.get(name, name) if isinstance(name, str) else None
        refuse(
            TypeError, argument, expected, describe(like) + (f" (did you mean {named!r}?)" if named in PRESETS else "")
        )
    like = OTHER_NAMES.get(like, like)
    if like not in PRESETS:
        refuse(ValueError, argument, expected, repr(like) + did_you_mean(like, (*PRESETS, *OTHER_NAMES)))
    return PRESETS[like]


# The allowed values of each field that has a few.
_WORDS: dict[str, tuple[Any, ...]] = {
    "align": ALIGNS, "nearest_align": ALIGNS, "corners_antialias": ALIGNS, "nearest_tie": (*TIES, *_TIES_OF),
    "cubic": ("keys", "spline"), "edge": EDGES, "antialias": (False, True, "gaussian"), "area": ("touched", "overlap"),
    "length_rounding": _native.WORDS["length_rounding"], "eight_bits": ("once", "pillow", "opencv"),
    "positions_from": ("scale", "scale_unless_same", "sizes", "length"), "aspect_ratio": _native.WORDS["policy"],
}  # fmt: skip
_PAIRS = ("edge", "cubic_a")


def checked(like: Convention, argument: str = "") -> Convention:
    """Returns a convention with checked fields, in the spellings used here. argument: the argument that errors name; by
    default the field."""
    found = {
        field: _values(field, getattr(like, field), argument) if field in _PAIRS
        else _value(field, getattr(like, field), argument) for field in (*_WORDS, "cubic_a")
    }  # fmt: skip
    return like._replace(**found)


def _values(field: str, given: Any, argument: str) -> Any:
    """Of a field that may be a pair."""
    if not isinstance(given, (tuple, list)):
        return _value(field, given, argument)
    if len(given) != 2:
        _refuse(field, argument, "one value or a pair: without and with antialias", describe(given))
    return tuple(_value(field, each, argument) for each in given)


def _value(field: str, given: Any, argument: str) -> Any:
    if field == "cubic_a":
        if not (is_real(given) and abs(given) <= LARGEST):
            _refuse(field, argument, "a finite number, Keys' a", describe(given))
        return given
    found = tie_of(given) if field == "nearest_tie" else given
    words = _WORDS[field]
    if isinstance(given, str) and given not in words:
        here = edge_here(given) if field == "edge" else ALIGNS_ELSEWHERE.get(given)
        if here in words:
            _refuse(field, argument, f"one of {', '.join(map(str, words))}", f"{given!r} (here it is {here!r})")
    if not isinstance(found, (str, bool)) or found not in words:
        close = did_you_mean(given, [w for w in words if isinstance(w, str)]) if isinstance(given, str) else ""
        _refuse(field, argument, f"one of {', '.join(map(str, words))}", repr(given) + close)
    return found


def _refuse(field: str, argument: str, expected: str, got: str) -> NoReturn:
    whose = f"a Convention whose {field} is " if argument else ""
    refuse(ValueError, argument or field, f"{whose}{expected}", got)
