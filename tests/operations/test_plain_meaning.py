"""No argument means something other than its reader thinks."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch

import tenter

X = np.arange(12.0).reshape(3, 4)


# ---- scales


@pytest.mark.parametrize("scale", [(2, 1), [2, 1], np.array([2, 1]), (2.0, 1.0), (Fraction(2), 1)])
def test_several_scales_are_one_for_each_axis(scale):
    assert tenter.resize(X, scale=scale, axes=(0, 1)).shape == (6, 4)


def test_a_ratio_is_a_fraction():
    assert tenter.resize(X, scale=Fraction(2, 3), axes=0).shape == (2, 4)
    for scale in ((2, 3), [2, 3]):
        with pytest.raises(ValueError, match=r"^scale: expected 1 value for 1 axis, got 2"):
            tenter.resize(X, scale=scale, axes=0)
    with pytest.raises(TypeError, match=r"^scale: expected numbers or fractions.Fraction, .*, got \(1, 2\)"):
        tenter.resize(X, scale=[(1, 2), 1], axes=(0, 1))


# ---- counts that are missing, and None, which is no count


@pytest.mark.parametrize("call", [lambda r: tenter.repeat_interleave(X, r), lambda r: tenter.repeat_interleave(X, repeats=r),
                                  lambda r: tenter.repeat_interleave(torch.ones(3), r), lambda r: tenter.repeat_interleave(X, r, 0, output_size=3)])  # fmt: skip
def test_none_is_no_count(call):
    with pytest.raises(TypeError, match=r"^repeats: expected integer counts.*, got None"):
        call(None)
    for theirs in (lambda: np.repeat(X, None), lambda: torch.repeat_interleave(torch.ones(3), None)):
        with pytest.raises(TypeError):
            theirs()


def test_counts_alone_have_no_x():
    counts = [1, 0, 2]
    assert tenter.repeat_interleave(counts).tolist() == [0, 2, 2]
    assert tenter.repeat_interleave(repeats=counts).tolist() == [0, 2, 2]
    counts = torch.tensor(counts)
    assert torch.equal(tenter.repeat_interleave(repeats=counts), torch.repeat_interleave(repeats=counts))
    compiled = torch.compile(lambda c: tenter.repeat_interleave(c, output_size=3), fullgraph=True, backend="eager")
    assert compiled(counts).tolist() == [0, 2, 2]


@pytest.mark.parametrize(
    "function", [tenter.repeat_interleave, tenter.repeat, tenter.tile, tenter.expand, tenter.interpolate]
)
def test_x_is_needed(function):
    with pytest.raises(TypeError, match=r"^(x|repeats): expected .*, got none\n  in "):
        function()


# ---- PyTorch's names of arguments, and NumPy's axis

T = torch.arange(6.0).reshape(2, 3)
PAIRS = [
    (lambda **k: tenter.repeat_interleave(**k), {"x": T, "repeats": 2, "dim": 1}, {"input": T, "repeats": 2, "axis": 1}),
    (lambda **k: tenter.repeat(T, **k), {"sizes": (2, 1)}, {"repeats": (2, 1)}),
    (lambda **k: tenter.repeat(**k), {"x": T, "sizes": [2, 1, 3]}, {"input": T, "repeats": [2, 1, 3]}),
    (lambda **k: tenter.tile(**k), {"x": T, "dims": (2,)}, {"input": T, "dims": 2}),
    (lambda **k: tenter.expand(**k), {"x": T, "sizes": (4, 2, 3)}, {"input": T, "size": (4, -1, 3)}),
    (lambda **k: tenter.interpolate(**k, size=2), {"x": T[None]}, {"input": T[None]}),
]  # fmt: skip


@pytest.mark.parametrize(("call", "ours", "theirs"), PAIRS)
def test_an_argument_by_each_of_its_names(call, ours, theirs):
    assert torch.equal(call(**ours), call(**theirs))
    others = {k: v for k, v in theirs.items() if k not in ours}
    for name, value in others.items():
        with pytest.raises(
            TypeError, match=f"^{name}: expected {name} or [a-z]+, which are one argument, got both\n  in "
        ):
            call(**ours, **{name: value})
    with pytest.raises(
        TypeError, match=r"^inputs: expected no argument of this name, got 3 \(did you mean input=3\?\)\n  in "
    ):
        call(**ours, inputs=3)


def test_names_beside_positions():
    assert tenter.tile(T, dims=(1, 2)).shape == (2, 6)
    assert tenter.repeat_interleave(X, 2, axis=-1).shape == (3, 8)
    assert tenter.expand(np.ones((2, 1)), size=(2, 5)).shape == (2, 5)
    for call in (lambda: tenter.tile(T, 2, input=T), lambda: tenter.tile(X, 2, input=X), lambda: tenter.repeat_interleave(X, 2, input=[1]), lambda: tenter.repeat_interleave(X, 2, 0, axis=0), lambda: tenter.tile(T, 2, dims=3),
                 lambda: tenter.repeat(input=T, sizes=(2, 2), repeats=(2, 2))):  # fmt: skip
        with pytest.raises(TypeError, match=r"got (both|it twice)"):
            call()
    with pytest.raises(TypeError, match=r"^axis: expected only sizes"):
        tenter.repeat(T, 2, axis=1)


def test_names_in_compiled_code():
    def f(x):
        return tenter.tile(input=tenter.repeat_interleave(input=x, repeats=2, axis=0), dims=(2,))

    assert torch.equal(torch.compile(f, fullgraph=True, backend="eager")(T), f(T))


# ---- words of modes and libraries


@pytest.mark.parametrize(
    ("word", "each", "axes"), [("bilinear", "linear", 2), ("bicubic", "cubic", 2), ("trilinear", "linear", 3)]
)
def test_a_mode_of_pytorch_says_for_how_many_axes_it_is(word, each, axes):
    x = np.random.default_rng(0).random((3, 4, 5, 6))
    for n in range(1, 5):
        if n == axes:
            got, want = (tenter.resize(x, (7,) * n, axes=range(n), mode=mode) for mode in (word, each))
            assert np.array_equal(got, want)
        else:
            with pytest.raises(
                ValueError, match=rf"^mode: expected '{each}' for {n} ax[ei]s, '{word}' for {axes} axes alone"
            ):
                tenter.resize(x, (7,) * n, axes=range(n), mode=word)
    with pytest.raises(
        ValueError, match=rf"^mode: expected '{each}' in a list of one mode for each axis, got '{word}'"
    ):
        tenter.resize(x, (7,) * axes, axes=range(axes), mode=[word] * axes)


@pytest.mark.parametrize(("call", "meant"), [
    (lambda: tenter.interpolate(X[None, None], 4, mode="cubic"), "bicubic"), (lambda: tenter.interpolate(X[None], 4, mode="Linear"), "linear"),
    (lambda: tenter.interpolate(X[None], 4, mode="nearest_exact"), "nearest-exact"), (lambda: tenter.resize(X, (4, 4), mode="catmullrom"), "catmull-rom"),
    (lambda: tenter.resize(X, (4, 4), mode="lancsoz"), "lanczos"), (lambda: tenter.resize(X, (4, 4), like="Pillow"), "pillow"), (lambda: tenter.resize(X, (4, 4), like="open-cv"), "opencv"),
    (lambda: tenter.resize(X, (4, 4), edge="replicated"), "replicate"), (lambda: tenter.resize(X, (4, 4), align="half_pixels"), "half_pixel"), (lambda: tenter.conventions.Convention.of("onnx", nearest_tie="prefer-floor"), "prefer_floor"),
    (lambda: tenter.conventions.Convention.of("opencvv"), "opencv"), (lambda: tenter.image.Fill(4, "nort"), "north"),
])  # fmt: skip
def test_an_unknown_word_gets_the_closest_known_one(call, meant):
    with pytest.raises(ValueError, match=rf"^\w+: expected one of .*, got '.*' \(did you mean '{meant}'\?\)\n  in "):
        call()
    with pytest.raises(ValueError, match=r"^mode: expected one of .*, got 'xyz'\n  in "):
        tenter.resize(X, (4, 4), mode="xyz")


@pytest.mark.parametrize(
    ("package", "name"),
    [("cv2", "opencv"), ("PIL", "pillow"), ("tf", "tensorflow"), ("scikit-image", "skimage"), ("pytorch", "torch")],
)
def test_a_library_by_its_package(package, name):
    assert np.array_equal(tenter.resize(X, (7, 7), like=package), tenter.resize(X, (7, 7), like=name))
    assert tenter.conventions.compare(package, n_out=3) == tenter.conventions.compare(name, n_out=3).replace(
        f" {name}", f" {package}"
    )


# ---- counts that are not integers, or not in a row


@pytest.mark.parametrize(("counts", "got"), [
    (torch.tensor([1.6, 2.2, 0.4]).round(), r"float32 \(convert with .long\(\)\)"), (torch.tensor([1.6, 2, 0]), r"float32 with fractions \(round, then convert with .long\(\)\)"),
    (np.array([2.0, 2, 0]), r"float64 \(convert with .astype\(np.int64\)\)"), (np.array([2.5, 2, 0]), r"float64 with fractions \(round, .*"),
    (torch.tensor([2.0, 2, 0], dtype=torch.bfloat16), r"bfloat16 \(convert with .long\(\)\)"), (torch.tensor([True, False, True]), "bool"),
    ([2.0, 1, 0], r"2.0"), (2.0, "2.0"),
])  # fmt: skip
def test_float_counts_are_refused_with_what_makes_integers_of_them(counts, got):
    for x in (X, torch.from_numpy(X)):
        with pytest.raises(TypeError, match=rf"^repeats: expected integer counts.*, got {got}\n  in repeat_interleave"):
            tenter.repeat_interleave(x, counts, 0)
    if isinstance(counts, torch.Tensor) and counts.is_floating_point():
        with pytest.raises(torch._dynamo.exc.Unsupported, match=r"convert with \.long\(\)"):
            torch.compile(tenter.repeat_interleave, backend="eager", fullgraph=True)(
                torch.ones(3), counts, 0, output_size=4
            )


@pytest.mark.parametrize("counts", [np.ones((3, 4), int), torch.ones(3, 4, dtype=torch.int64), [[1, 2], [3, 4]]])
def test_counts_of_a_padded_batch_name_the_function_for_them(counts):
    for call in (lambda: tenter.repeat_interleave(X, counts, 0), lambda: tenter.repeat_interleave(counts)):
        with pytest.raises(
            ValueError, match=r"^repeats: expected .*1-D counts \(.*tenter\.ragged\.repeat_padded\), got 2-D"
        ):
            call()


# ---- channels of pictures


@pytest.mark.parametrize("channels", range(1, 5))
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_no_channel_is_alpha_unless_told_and_four_channels_ask(channels, dtype):
    pixels = np.random.default_rng(0).integers(0, 256, (9, 8, channels)).astype(dtype)
    plain = tenter.resize(pixels, (5, 5), axes=(0, 1), mode="lanczos")
    if channels == 4:
        with pytest.raises(ValueError, match=r"^alpha: expected True if the last of four channels is alpha, False"):
            tenter.image.resize(pixels, (5, 5))
    else:
        assert np.array_equal(tenter.image.resize(pixels, (5, 5)), plain)
    assert np.array_equal(tenter.image.resize(pixels, (5, 5), alpha=False), plain)
    if channels > 1:
        assert not np.array_equal(tenter.image.resize(pixels, (5, 5), alpha=True), plain)


def test_which_calls_antialias_unless_told():
    """The table of docs/coming-from.md."""
    x = np.random.default_rng(0).random((16, 16))
    batch = x[None, None]
    size = (5, 5)
    blurred = {like: tenter.resize(x, size, like=like) for like in (None, "pillow", "jax", "skimage")}
    sharp = {like: tenter.resize(x, size, like=like) for like in ("torch", "opencv", "onnx", "tensorflow", "scipy")}
    for like, found in blurred.items():
        assert np.array_equal(found, tenter.resize(x, size, like=like, antialias=True))
    for like, found in sharp.items():
        assert np.array_equal(found, tenter.resize(x, size, like=like, antialias=False))
    assert np.array_equal(tenter.interpolate(batch, size, mode="bilinear")[0, 0], sharp["torch"])
    assert np.array_equal(tenter.resize(x, size), blurred["pillow"])
    assert np.array_equal(tenter.image.resize(x, size, mode="linear"), blurred[None])
    assert np.array_equal(tenter.image.resize(x, size), tenter.resize(x, size, mode="lanczos"))
    assert np.array_equal(tenter.image.resize(x, size, like="pillow"), blurred["pillow"])


def test_sizes_come_height_first():
    """OpenCV and Pillow have the width first."""
    photo = np.zeros((6, 8, 3), np.uint8)
    assert tenter.image.resize(photo, (3, 4)).shape == (3, 4, 3) == tenter.resize(photo, (3, 4), axes=(0, 1)).shape
    assert tenter.resize(photo, (4, 3), axes=(1, 0)).shape == (3, 4, 3)
    assert tenter.interpolate(photo.transpose(2, 0, 1)[None], (3, 4)).shape == (1, 3, 3, 4)
    cv2, image = pytest.importorskip("cv2"), pytest.importorskip("PIL.Image")
    assert cv2.resize(photo, (4, 3)).shape == (3, 4, 3) == np.asarray(image.fromarray(photo).resize((4, 3))).shape
