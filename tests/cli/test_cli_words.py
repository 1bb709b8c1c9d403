"""What the command line says: how sizes are spelled, which command was meant, and what an interrupt leaves."""

from __future__ import annotations

import importlib
import os
import re
import shlex
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, noise, refused  # noqa: F401
from tenter.cli import spelling, workers
from tenter.cli.main import main
from tenter.cli.parser import build_parser

ALPHA = "has no alpha channel, this image is RGBA; write .png or .tiff, or put it on a color by --background white"
BOTH = "--size: expected WIDTHxHEIGHT, got 480 640; --size 480x640 is 480 wide and 640 high, --size 640x480 is 640 wide"

#: A command, and what its one line says.
REFUSED: list[tuple[str, str]] = [
    ("resize in.png out.png --size 480 640", BOTH),
    ("resize --size 480 640 in.png out.png", BOTH),
    ("resize photos web/ --size 480 640", BOTH),
    ("resize in.npy out.npy --size 480 640", BOTH),
    ("resize in.png out.png --size 3 3", "got 3 3; --size 3x3 is 3 wide and 3 high\n"),
    ("resize in.png out.png --size 480", "got 480; --width 480 is 480 wide, --fit 480 at most 480 a side\n"),
    ("resize in.png out.png --auto-orient", "--auto-orient: images are always turned upright; --keep-orientation"),
    ("resize in.png out.png --crop 3x3", "--crop: tenter cuts by --box WxH+X+Y, and to a ratio by --fill"),
    ("resize in.png out.png --rotate 90", "--rotate: tenter does not rotate by an angle: `jpegtran -rotate 90` does"),
    ("resize in.png out.png --sharpen", "--sharpen: tenter does not sharpen: --mode lanczos is the crispest"),
    ("resize in.png out.png --resize 8x6", "--resize: --fit WxH is the largest size within it, and enlarges nothing"),
    ("resize in.png out.png -resize 8x6", "-resize: --fit WxH is the largest size within it, and enlarges nothing"),
    ("resize in.png out.png --thumbnail 8", "--thumbnail: --fit WxH is the largest size within it, and enlarges nothing"),
    ("resize in.png out.png --cover 8x6", "--cover: --fill WxH is this size, cut where the ratio differs; --gravity"),
    ("resize in.png out.png --extent 8x6", "--extent: --fit WxH is the image without bars; --pad adds them"),
    ("resize in.png out.png --kernel=cubic", "--kernel: --mode names the filter, such as --mode cubic\n"),
    ("resize in.png out.png --eprofile srgb", "--eprofile: --profile srgb converts colors to sRGB"),
    ("resize in.png out.png -q 80 --fit 8", "-q: --quality is 1 to 100\n"),
    ("resize in.png out/ -r --fit 8", "-r: --recursive includes subfolders\n"),
    ("pyramid in.npy out.zarr --cover 8", "unknown option --cover (see tenter pyramid --help-all)\n"),
    ("resize in.png out.png --fit 800x", "such as 1600x1200, got '800x'; --width 800 is 800 wide\n"),
    ("resize in.png out.png --size x600", "such as 640x480, got 'x600'; --height 600 is 600 high\n"),
    ("resize in.png out.png --fit '16x16>'", "got '16x16>'; --fit 16x16 enlarges nothing by itself\n"),
    ("resize in.png out.png --size '16x16!'", "got '16x16!'; --size 16x16 is regardless of the ratio\n"),
    ("resize in.png out.png --fit '16x16^'", "got '16x16^'; --fill 16x16 is cut where the ratio differs\n"),
    ("resize in.png out.png --fit '16x16<'", "got '16x16<'; --fit 16x16 --enlarge enlarges smaller images too\n"),
    ("resize in.png out.png --fit 50%", "got '50%'; --scale 50% multiplies both sides\n"),
    ("resize in.png out.png --width 50%", "got '50%'; --scale 50% multiplies both sides\n"),
    ("resize in.png out.png --width 800px", "got '800px'; 800 is in pixels\n"),
    ("resize in.png out.png --fill 16:9", "got '16:9'; a size is in pixels\n"),
    ("resize in.png out.jxl --fit 9", "out.jxl: JPEG XL is not read or written: `djxl in.jxl out.png`"),
    ("resize in.png out.svg --fit 9", "out.svg: SVG has no pixels: `rsvg-convert -w 800 in.svg -o out.png` draws it\n"),
    ("resize scan.nii.gz out.npy --scale 2", "scan.nii.gz: NIfTI is not read: nibabel gives its array"),
    ("pyramid scan.nii.gz out.ome.zarr", "scan.nii.gz: NIfTI is not read: nibabel gives its array"),
    ("repeat scan.nii.gz out.npy --repeats 2", "scan.nii.gz: NIfTI is not read: nibabel gives its array"),
    ("resize 'scan.*.gz' out/ --scale 2", "scan.nii.gz: NIfTI is not read: nibabel gives its array"),
    ("resize scan.NII out.npy --scale 2", "scan.NII: NIfTI is not read: nibabel gives its array"),
    ("resize in.tar.gz out.npy --scale 2", "in.tar.gz: is compressed; the file within it may be one that is read\n"),
    ("resize in.abc out.npy --scale 2", "in.abc: is not an image that can be read\n"),
    ("resize in.png out.png --colour red", "unknown option --colour (see tenter resize --help-all)\n"),
    ("resize in.png out.png --blur 3", "unknown option --blur (see tenter resize --help-all)\n"),
    ("resize in.png out.png --scale 2 --gravity nowhere", "unknown value 'nowhere'; known are"),
    ("resize in.png out.png --size 480 x 640", "--size: expected WIDTHxHEIGHT"),
    ("resize in.png out.png --scale 0.5 0.5", "--scale: expected one number, got 0.5 0.5\n"),
    ("resize in.npy out.npy --axes 0 1 --scale 0.5 2 3", "--scale: expected one number for each axis, 2 in all, got 0.5,2"),
    ("resize in.npy out.npy --axes 0 1 --height 50 20", "--height: expected one number, got 50 20; --size has one number"),
    ("resize in.png out.png --width 30 40", "--width: expected one number, or several with commas between them (30,40)"),
    ("resize in.png out.png --width=30 40", "--width: expected one number, or several with commas between them (30,40)"),
    ("resize in.png out.png --fit 30 40", "(30,40), got 30 40; 30x40 is a width and a height\n"),
    ("resize in.png out/ --fit 9 --format webp jpg", "expected one type, or several with commas between them (webp,jpg)"),
    ("resize in.png out.png 80x60", "80x60: expected an option before it: --fit 80x60, --fill 80x60 or --size 80x60\n"),
    ("resize in.png out.png 50%", "50%: expected an option before it: --scale 50%\n"),
    ("photos web --fit 100", "unknown command 'photos' (did you mean `tenter resize photos web --fit 100`?); known are"),
    ("'my photos' web --fit 100", "(did you mean `tenter resize 'my photos' web --fit 100`?)"),
    ("in.png out.png --size 3x4", "(did you mean `tenter resize in.png out.png --size 3x4`?)"),
    ("resise in.png out.png", "unknown command 'resise' (did you mean `tenter resize in.png out.png`?)"),
    ("rezise in.png", "unknown command 'rezise' (did you mean `tenter resize in.png`?)"),
    ("convert in.png out.jpg", "unknown command 'convert' (did you mean `tenter resize in.png out.jpg`?)"),
    ("frobnicate", "unknown command 'frobnicate'; known are"),
    ("resize rgba.png out.jpg --scale 2", ALPHA),
    ("resize in.png out.png --scale 2 --box 5x13+0+0", "--box: reaches 13 down and 5 across, of 12 and 10"),
    ("resize in.png out.png --scale 0.05", "--scale: 0.05 leaves nothing of 10 x 12"),
    ("resize in.png out.png --size 2000000000x1000000000", "a result of 2000000000 x 1000000000 needs"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_what_was_meant_is_said(capsys: pytest.CaptureFixture[str], line: str, said: str) -> None:
    noise("RGBA").save("rgba.png")
    for name in ("scan.nii.gz", "scan.NII", "in.tar.gz", "in.abc"):
        Path(name).write_bytes(b"not empty")
    assert said in refused(capsys, *shlex.split(line))


def test_an_option_of_another_program_is_none_of_tenter() -> None:
    known = set(build_parser()[1]["resize"]._option_string_actions)
    meant = {
        word for text in spelling.ELSEWHERE.values() for word in re.findall(r"(?<![\w-])--?[a-z]+(?:-[a-z]+)*", text)
    }
    assert not known & {f"{dash}{word}" for word in spelling.ELSEWHERE for dash in ("-", "--")}
    assert {word for word in meant if word.startswith("--")} <= known


def test_a_number_may_be_joined_to_its_short_option() -> None:
    assert main(["resize", "in.png", "out.png", "-w5"]) == 0 and Image.open("out.png").size == (5, 6)


def test_endings_of_compressed_files_are_counted_whole(capsys: pytest.CaptureFixture[str]) -> None:
    Path("scans").mkdir()
    noise().save("scans/a.png")
    Path("scans/brain.nii.gz").touch()
    assert main(["resize", "scans", "out/", "--fit", "9"]) == 0
    assert capsys.readouterr().out.endswith("; not read: 1 .nii.gz\n")


def test_an_out_of_digits_is_a_name_if_it_is_there() -> None:
    Path("2024").mkdir()
    assert main(["resize", "in.png", "--scale", "0.5", "2024"]) == 0 and Path("2024/in.png").is_file()


#: Options, and what the summary says of a picture 10 wide and 12 high.
SUMMARIES: dict[str, str] = {
    "--size 20x6": "out.png: 20 x 6 (from in.png: 10 x 12)", "--scale 2": "out.png: 20 x 24 (from in.png: 10 x 12)",
    "--fit 5x100": "out.png: 5 x 6 (from in.png: 10 x 12)", "--size 50%": "out.png: 5 x 6 (from in.png: 10 x 12)",
}  # fmt: skip


@pytest.mark.parametrize("options", SUMMARIES)
def test_summaries_are_spelled_as_sizes_are(capsys: pytest.CaptureFixture[str], options: str) -> None:
    assert main(["resize", "in.png", "out.png", *options.split()]) == 0
    assert capsys.readouterr().out == f"{SUMMARIES[options]}\n"
    assert f"{Image.open('out.png').width} x {Image.open('out.png').height}" in SUMMARIES[options]


@pytest.mark.parametrize("dry", [False, True])
def test_all_pictures_of_an_animation_are_named(capsys: pytest.CaptureFixture[str], dry: bool) -> None:
    frames = [noise("L").resize((40, 30)).rotate(90 * k) for k in range(6)]
    frames[0].save("in.gif", save_all=True, append_images=frames[1:])
    assert main(["resize", "in.gif", "out.gif", "--scale", "0.5", *["--dry-run"] * dry]) == 0
    would = "would be written: " if dry else ""
    assert capsys.readouterr().out.startswith(
        f"out.gif: {would}6 images, the first 20 x 15 (from in.gif: the first 40 x 30)"
    )
    assert dry or Image.open("out.gif").n_frames == 6


def test_sizes_of_arrays_follow_their_axes() -> None:
    np.save("x.npy", np.zeros((4, 5, 6)))
    assert main(["resize", "x.npy", "y.npy", "--axes", "2", "0", "--size", "3", "2"]) == 0
    assert np.load("y.npy").shape == (2, 5, 3)


@pytest.mark.parametrize(
    ("failures", "options", "hint"),
    [(0, [], "; --skip-existing continues"), (2, ["--force"], ""), (0, ["--update"], "")],
)
def test_an_interrupt_counts_failures(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    answers_interrupts: None,
    failures: int,
    options: list[str],
    hint: str,
) -> None:
    Path("photos").mkdir()
    for k in range(6):
        noise().save(f"photos/{k}.png")
        if k < failures:
            Path(f"photos/{k}.png").write_text("not an image")
    attempt, calls = workers._attempt, []

    def pressed(*args: Any) -> Any:
        calls.append(args)
        if len(calls) == 4:
            os.kill(os.getpid(), signal.SIGINT)
        return attempt(*args)

    monkeypatch.setattr(workers, "_attempt", pressed)
    assert main(["resize", "photos", "web/", "--scale", "2", "--jobs", "1", *options]) == 130
    failed = f" ({failures} failed)" if failures else ""
    assert capsys.readouterr().err == f"tenter: interrupted after 3 of 6 files{failed}{hint}\n"


def test_an_interrupt_elsewhere_is_one_word(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, answers_interrupts: None
) -> None:
    def pressed(*_: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    program = importlib.import_module("tenter.cli.main")
    monkeypatch.setitem(program.COMMANDS, "resize", pressed)
    assert main(["resize", "in.png", "out.png", "--scale", "2"]) == 130
    assert capsys.readouterr().err == "tenter: interrupted\n"
