"""Animations and files of several pages: each frame as it is seen, durations, number of plays, disposal."""

from __future__ import annotations

import errno
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import _inside, ran  # noqa: F401
from picture_helpers import Image, pixels_of, run
from sweeps import sampled
from tenter.cli import resize
from tenter.cli.formats import FORMATS
from tenter.cli.reading import opening

try:
    import cv2
except ImportError:
    cv2 = None
ENDINGS = ["gif", "webp", "png", "avif"]
DURATIONS = [40, 60, 80, 100]
#: how far rendered frames may be from Pillow's, as these types are lossy
FAR = {"gif": 0.0, "png": 0.0, "webp": 6.0, "avif": 6.0}


def frames(clear: bool) -> list[Any]:
    """A square that moves, leaves a trace and changes its color, on nothing or on white; alpha is 0 or 255."""
    made = []
    for k in range(len(DURATIONS)):
        pixels = np.zeros((40, 56, 4), np.uint8) if clear else np.full((40, 56, 4), 255, np.uint8)
        pixels[8:24, 4 + 8 * k : 20 + 8 * k] = ((220, 30, 30, 255), (10, 10, 10, 255))[k % 2]
        pixels[32:36, 4 : 20 + 8 * k] = (30, 90, 200, 255)
        made.append(Image.fromarray(pixels))
    return made


def rendered(name: str) -> tuple[list[np.ndarray[Any, Any]], list[float], Any]:
    """The frames as RGBA, their durations, and the opened file."""
    image = Image.open(name)
    found, durations = [], []
    for k in range(image.n_frames):
        image.seek(k)
        image.load()
        durations.append(image.info.get("duration"))
        found.append(np.asarray(image.convert("RGBA")))
    return found, durations, image


def far(a: np.ndarray[Any, Any], b: np.ndarray[Any, Any]) -> float:
    """The mean difference of colors as they are seen on black, and of alpha."""
    a, b = a.astype(float), b.astype(float)
    seen = np.abs(a[..., :3] * a[..., 3:] - b[..., :3] * b[..., 3:]) / 255
    return float(max(seen.mean(), np.abs(a[..., 3] - b[..., 3]).mean()))


@pytest.mark.parametrize("disposal", [0, 1, 2, 3])
@pytest.mark.parametrize("clear", [True, False])
@pytest.mark.parametrize("ending", ENDINGS)
def test_frames_of_a_gif(ending: str, clear: bool, disposal: int) -> None:
    first, *others = frames(clear)
    first.save("in.gif", save_all=True, append_images=others, duration=DURATIONS, loop=2, disposal=disposal)
    before, _, _ = rendered("in.gif")
    run("resize", "in.gif", f"out.{ending}", "--size", "28x20", "--mode", "area")
    after, durations, image = rendered(f"out.{ending}")
    assert durations == DURATIONS
    # edges lie on even pixels, so that alpha stays 0 or 255, which GIF can hold
    for seen, made in zip(before, after):
        assert far(np.asarray(Image.fromarray(seen).reduce(2)), made) <= FAR[ending]
    plays = {"gif": 2, "webp": 3, "png": 3}  # GIF counts how often it plays again
    assert image.info.get("loop") == plays.get(ending)
    if ending == "gif" and disposal in (0, 1, 2) and not (clear and disposal < 2):
        disposals = []
        for k in range(image.n_frames):
            image.seek(k)
            disposals.append(image.disposal_method)
        assert disposals == [disposal] * 4


@pytest.mark.parametrize("target", ENDINGS)
@pytest.mark.parametrize("source", ENDINGS)
def test_frames_from_any_type_to_any(source: str, target: str) -> None:
    first, *others = frames(True)
    first.save(
        f"in.{source}", save_all=True, append_images=others, duration=DURATIONS, disposal=1 if source == "png" else 2
    )
    before, _, _ = rendered(f"in.{source}")
    run("resize", f"in.{source}", f"out.{target}", "--size", "28x20", "--mode", "area")
    after, durations, _ = rendered(f"out.{target}")
    assert durations == DURATIONS and len(before) == len(after)
    limit = FAR[target] + (8 if "avif" in (source, target) or "webp" in (source, target) else 0)
    assert all(far(np.asarray(Image.fromarray(a).reduce(2)), b) <= limit for a, b in zip(before, after))


def test_a_gif_without_end_and_one_that_plays_once() -> None:
    first, *others = frames(False)
    for loop, plays, again in (({"loop": 0}, 0, 0), ({}, 1, None)):
        first.save("in.gif", save_all=True, append_images=others, **loop)
        run("resize", "in.gif", "out.gif", "--scale", 0.5, "--force")
        run("resize", "in.gif", "out.webp", "--scale", 0.5, "--force")
        assert Image.open("out.gif").info.get("loop") == again and Image.open("out.webp").info["loop"] == plays


@pytest.mark.parametrize("ending", sampled(ENDINGS, 4))
def test_one_frame(ending: str) -> None:
    first, *others = frames(False)
    first.save(f"in.{ending}", save_all=True, append_images=others, duration=DURATIONS)
    before, _, _ = rendered(f"in.{ending}")
    for frame, at in ((0, 0), (2, 2), (-1, 3)):
        run("resize", f"in.{ending}", "out.png", "--size", "56x40", "--frame", frame, "--force")
        with Image.open("out.png") as image:
            assert getattr(image, "n_frames", 1) == 1
            np.testing.assert_array_equal(np.asarray(image.convert("RGBA")), before[at])
    run("resize", f"in.{ending}", "out.jpg", "--scale", 2, "--frame", 1)  # an opaque frame has no alpha
    assert Image.open("out.jpg").mode == "RGB"
    assert "--frame: expected -4 to 3" in ran("resize", f"in.{ending}", "no.png", "--scale", 2, "--frame", 4).stderr


def test_the_stand_in_of_an_animated_png_stays_apart() -> None:
    stand_in, *others = frames(False)
    stand_in.save("in.png", save_all=True, append_images=others, default_image=True, duration=DURATIONS[1:])
    run("resize", "in.png", "out.png", "--size", "28x20", "--mode", "area")
    with Image.open("out.png") as image:
        assert image.default_image and image.n_frames == 4
        np.testing.assert_array_equal(np.asarray(image.convert("RGBA")), np.asarray(stand_in.reduce(2)))


def test_frames_to_pages(capsys: pytest.CaptureFixture[str]) -> None:
    first, *others = frames(False)
    first.save("in.gif", save_all=True, append_images=others, duration=DURATIONS)
    run("resize", "in.gif", "out.tif", "--size", "28x20", "--mode", "area")
    assert "not kept: durations of frames, number of plays" in capsys.readouterr().out
    assert Image.open("out.tif").n_frames == 4


def test_pages_are_resized_one_by_one() -> None:
    kinds = {"RGB": (20, 26), "gray": (20, 26), "CMYK": (20, 26)}
    pages = [Image.frombytes({"gray": "L"}.get(k, k), (26, 20), pixels_of(k).tobytes()) for k in kinds]
    pages[1] = pages[1].resize((52, 10))
    pages[0].save(
        "in.tif", save_all=True, append_images=pages[1:], tiffinfo={270: "first", 282: 300.0, 283: 300.0, 296: 2}
    )
    run("resize", "in.tif", "out.tif", "--scale", 0.5)
    with Image.open("out.tif") as image:
        found = []
        for k in range(image.n_frames):
            image.seek(k)
            found.append((image.mode, image.size, image.info.get("dpi")))
    assert [entry[:2] for entry in found] == [("RGB", (13, 10)), ("L", (26, 5)), ("CMYK", (13, 10))]
    assert found[0][2] == (300, 300)


def test_smaller_copies_are_no_pages(capsys: pytest.CaptureFixture[str]) -> None:
    tifffile = pytest.importorskip("tifffile")
    with tifffile.TiffWriter("in.tif") as writer:
        writer.write(pixels_of("RGB"), photometric="rgb", metadata=None)
        writer.write(pixels_of("RGB")[::2, ::2], photometric="rgb", subfiletype=1, metadata=None)
    run("resize", "in.tif", "out.png", "--scale", 0.5)
    assert "not kept: smaller copies of the image" in capsys.readouterr().out


def test_the_first_of_a_cameras_pictures(capsys: pytest.CaptureFixture[str]) -> None:
    first, second = Image.fromarray(pixels_of("RGB")), Image.fromarray(255 - pixels_of("RGB"))
    first.save("in.jpg", "MPO", save_all=True, append_images=[second])
    run("resize", "in.jpg", "out.jpg", "--size", "13x10")
    assert "not kept: further images of the file" in capsys.readouterr().out
    with Image.open("out.jpg") as image:
        assert image.format == "JPEG" and image.size == (13, 10)


def test_types_of_one_picture_take_the_first_frame() -> None:
    first, *others = frames(False)
    first.save("in.gif", save_all=True, append_images=others, duration=DURATIONS)
    for ending in sorted(set(FORMATS) - {".gif", ".webp", ".png", ".apng", ".avif", ".avifs", ".tif", ".tiff"}):
        done = ran("resize", "in.gif", f"out{ending}", "--scale", 2) if ending == ".jpg" else None
        if done is not None:
            assert done.returncode == 0 and "not kept: further images of the file" in done.stdout
            assert (
                np.abs(np.asarray(Image.open(f"out{ending}").reduce(2)).astype(int) - np.asarray(first)[..., :3]).mean()
                < 8
            )


def random_frames(seed: int, count: int = 7) -> list[Any]:
    """Frames of few colors on nothing, of which parts stay, come and go."""
    rng = np.random.default_rng(seed)
    colors = rng.integers(0, 256, (4, 4), np.uint8)
    colors[:, 3] = (255, 255, 255, 0)
    colors[3] = 0
    frame = np.zeros((12, 15, 4), np.uint8)
    made = []
    for _ in range(count):
        frame = frame.copy()
        for _ in range(int(rng.integers(0, 4))):
            top, left = rng.integers(0, 9), rng.integers(0, 12)
            frame[top : top + rng.integers(1, 9), left : left + rng.integers(1, 9)] = colors[rng.integers(0, 4)]
        made.append(Image.fromarray(frame))
    return made


@pytest.mark.parametrize("target", ["gif", "png"])
def test_each_frame_is_seen_as_it_was_whatever_comes_and_goes(target: str) -> None:
    for seed in range(6):
        made = random_frames(seed)
        made[0].save("in.webp", save_all=True, append_images=made[1:], duration=50, lossless=True, exact=True)
        before, durations, _ = rendered("in.webp")
        run("resize", "in.webp", f"out.{target}", "--scale", 1, "--mode", "nearest-exact", "--force")
        after, times, _ = rendered(f"out.{target}")
        shown = [k for k, frame in enumerate(before) if k == 0 or far(frame, before[k - 1]) > 0]
        assert (len(after), sum(times)) == (len(shown), sum(durations)), seed
        assert max(far(before[k], frame) for k, frame in zip(shown, after)) == 0, seed
        if hasattr(cv2, "imreadanimation"):  # a second reader
            _, others = cv2.imreadanimation(f"out.{target}")
            assert max(far(before[k], frame[..., [2, 1, 0, 3]]) for k, frame in zip(shown, others.frames)) == 0, seed


@pytest.mark.parametrize("target", ["gif", "png", "webp", "avif", "tif"])
def test_few_frames_are_in_memory_at_a_time(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    alive: list[int] = [0, 0]

    def counted(function: Any) -> Any:
        def called(*args: Any) -> Any:
            made = function(*args)
            pixels = (made[0] if isinstance(made, tuple) else made).pixels
            alive[0] += 1
            alive[1] = max(alive)
            weakref.finalize(pixels, lambda: alive.__setitem__(0, alive[0] - 1))
            return made

        return called

    monkeypatch.setattr(opening, "_read", counted(opening._read))
    monkeypatch.setattr(resize, "_resize_picture", counted(resize._resize_picture))
    made = [Image.fromarray(np.full((9, 9, 3), 8 * k, np.uint8)) for k in range(30)]
    made[0].save("in.webp", save_all=True, append_images=made[1:], duration=50, lossless=True)
    run("resize", "in.webp", f"out.{target}", "--scale", 2)
    assert Image.open(f"out.{target}").n_frames == 30 and alive[1] <= 6
    run("resize", "in.webp", f"out.{target}", "--scale", 1, "--force")  # where a copy would do, all are compared
    assert alive[1] <= 6


@pytest.mark.parametrize("target", ["png", "avif"])
def test_an_animation_is_read_once_unless_a_later_frame_is_the_first_that_is_clear(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[int] = []

    def counted(image: Any, file: Any, index: int, how: Any, of: Any = opening._read) -> Any:
        read.append(index)
        return of(image, file, index, how)

    monkeypatch.setattr(opening, "_read", counted)
    opaque = [(200, 8 * k, 40, 255) for k in range(6)]
    for clear, times in ((None, 1), (0, 1), (4, 2)):
        made = [Image.new("RGBA", (9, 9), (*color[:3], 90 if k == clear else 255)) for k, color in enumerate(opaque)]
        made[0].save("in.webp", save_all=True, append_images=made[1:], duration=50, lossless=True)
        read.clear()
        run("resize", "in.webp", f"out.{target}", "--scale", 2, "--quality", 95, "--force")
        again = list(range(clear + 1)) if times == 2 else []
        assert read == again + list(range(6))
        with Image.open(f"out.{target}") as image:
            assert image.n_frames == 6
            for k, color in enumerate(opaque):
                image.seek(k)
                got = np.asarray(image.convert("RGBA")).reshape(-1, 4).astype(int)
                assert np.abs(got - (*color[:3], 90 if k == clear else 255)).max() <= (1 if target == "png" else 6)


def test_pages_of_any_depth_and_kind_become_frames_of_one(capsys: pytest.CaptureFixture[str]) -> None:
    tifffile, imagecodecs = pytest.importorskip("tifffile"), pytest.importorskip("imagecodecs")
    gray, color = pixels_of("gray"), pixels_of("RGB")
    for pages, mode in [((gray, 255 - gray), "L"), ((gray, color), "RGB"), ((color, 255 - color), "RGB")]:
        with tifffile.TiffWriter("in.tif") as file:
            for page in pages:
                file.write(page, photometric="rgb" if page.ndim == 3 else "minisblack", metadata=None)
        run("resize", "in.tif", "out.png", "--scale", 1, "--mode", "nearest-exact", "--force")
        with Image.open("out.png") as image:
            assert image.n_frames == 2
            for k, page in enumerate(pages):
                image.seek(k)
                np.testing.assert_array_equal(
                    np.asarray(image.convert(mode)), np.asarray(Image.fromarray(page).convert(mode))
                )
    deep = pixels_of("RGB", np.uint16)
    with tifffile.TiffWriter("in.tif") as file:
        for page in (deep, 65535 - deep):
            file.write(page, photometric="rgb", metadata=None)
    run("resize", "in.tif", "out.png", "--scale", 1, "--mode", "nearest-exact", "--force")
    frames = imagecodecs.apng_decode(Path("out.png").read_bytes())
    np.testing.assert_array_equal(frames[0], deep)
    np.testing.assert_array_equal(frames[1], 65535 - deep)


def test_pages_of_labels_and_of_gray_become_frames_of_the_same_colors() -> None:
    tifffile = pytest.importorskip("tifffile")
    rng = np.random.default_rng(0)
    labels, maps = rng.integers(0, 4, (2, 12, 10), np.uint8), rng.integers(0, 256, (2, 3, 256), np.uint8)
    with tifffile.TiffWriter("in.tif") as file:
        for page, colors in zip(labels, maps):
            file.write(page, photometric="palette", colormap=colors.astype(np.uint16) * 257, metadata=None)
    run("resize", "in.tif", "out.png", "--scale", 2, "--labels")
    with Image.open("out.png") as image:
        for k in range(2):
            image.seek(k)
            seen = maps[k].T[labels[k]].repeat(2, 0).repeat(2, 1)
            np.testing.assert_array_equal(np.asarray(image.convert("RGB")), seen)
    with tifffile.TiffWriter("gray.tif") as file:
        for page in (pixels_of("gray"), 255 - pixels_of("gray")):
            file.write(page, metadata=None)
    for target in ("gray.avif", "gray.webp", "gray.gif"):
        run("resize", "gray.tif", target, "--scale", 2)
        with Image.open(target) as image:
            assert image.n_frames == 2


def test_a_source_that_cannot_be_read_on_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """While the result is written, so that its name is not the one that is said."""
    first, *others = frames(False)
    first.save("in.gif", save_all=True, append_images=others, duration=DURATIONS)
    read = opening._read

    def failing(image: Any, file: Any, index: int, how: Any) -> Any:
        if index == 2:
            raise OSError(errno.EIO, "Input/output error")
        return read(image, file, index, how)

    monkeypatch.setattr(opening, "_read", failing)
    done = ran("resize", "in.gif", "out.gif", "--scale", 0.5)
    assert done.stderr == "tenter: in.gif: Input/output error\n" and not Path("out.gif").exists()
