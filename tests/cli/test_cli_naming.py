"""`tenter resize` into several files for each input: names by fields, one decoding, and inputs with one output."""

from __future__ import annotations

import json
import os
import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cli_helpers import Image, _inside, files, noise, ran, refused, workers_die_on_b  # noqa: F401
from roots import DOCS
from sweeps import in_one_test, sampled
from tenter.cli import naming
from tenter.cli.main import main
from tenter.cli.reading import opening

SIZES = (9, 25, 200)
TYPES = ("png", "jpg")


def smooth(height: int = 128, width: int = 192) -> Any:
    """An image that JPEG does not blur, of sides that its decoder can shrink."""
    y, x = np.mgrid[:height, :width] / 30
    return Image.fromarray((np.stack([np.sin(x), np.cos(y), np.sin(x + y)], -1) * 120 + 128).astype(np.uint8))


def turned(name: str) -> None:
    exif = Image.Exif()
    exif[274] = 6
    smooth().save(name, exif=exif)


def animated(name: str) -> None:
    frames = [noise().rotate(90 * k) for k in range(3)]
    frames[0].save(name, save_all=True, append_images=frames[1:])


def two(name: str) -> None:
    smooth().save(name, "MPO", save_all=True, append_images=[noise()])


#: An input, how it is made, and options.
SOURCES: dict[str, tuple[Any, str]] = {
    "photo.jpg": (smooth().save, ""), "fast.jpg": (smooth().save, "--fast"), "turned.jpg": (turned, "--strip"), "inks.jpg": (smooth().convert("CMYK").save, ""),
    "cut.jpg": (smooth().save, "--box 150x100+0+0"),
    "alpha.png": (noise("RGBA").save, "--background white"), "gray.png": (noise("L").save, "--linear-light"),
    "palette.png": (noise("L").convert("P").save, "--labels"), "moving.gif": (animated, ""),
    "moving.png": (animated, "--background white"), "two.mpo": (two, ""),
}  # fmt: skip


@in_one_test("name", sampled(SOURCES, 3, str))
def test_an_output_of_several_is_the_file_of_a_run_for_it_alone(name: str) -> None:
    make, text = SOURCES[name]
    make(name)
    words = [*text.split(), "--force", "--jobs", "1"]
    several = [f"--fit={','.join(map(str, SIZES))}", f"--format={','.join(TYPES)}"]
    done = ran("resize", name, "all/{stem}-{size}.{format}", *several, *words)
    assert done.returncode == 0, done.stderr
    stem = Path(name).stem
    for size in SIZES:
        for type_ in TYPES:
            assert ran("resize", name, f"alone.{type_}", "--fit", size, *words).returncode == 0
            made = Path(f"all/{stem}-{size}.{type_}").read_bytes()
            assert made == Path(f"alone.{type_}").read_bytes(), (size, type_)


#: An input, and how often images of it are decoded for three sizes of three types: a JPEG also at a reduced scale,
#: three frames for each of the types that hold them.
DECODED = {"photo.jpg": 2, "two.mpo": 2, "alpha.png": 1, "moving.gif": 3 * (3 + 3 + 1)}


@in_one_test("name", DECODED)
def test_an_image_is_decoded_once_for_all_outputs_of_the_same_pixels(name: str) -> None:
    SOURCES[name][0](name)
    calls = []
    read = opening._read
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(opening, "_read", lambda *args: (calls.append(args), read(*args))[1])
        args = ("--fit", "9,25,200", "--format", "png,webp,bmp", "--jobs", 1, "--background", "white")
        ran("resize", name, "out/{stem}-{size}.{format}", *args)
    assert len(calls) == DECODED[name]


#: OUT and options, and the files that are made of photos/: a.png, b.JPG and below/c.webp.
NAMES: dict[str, str] = {
    "out --fit 9 --format png,webp": "a.png a.webp b.png b.webp below/c.png below/c.webp",
    "out/{stem}-{size}.{format} --fit 9,8x7": "a-9.png a-8x7.png b-9.JPG b-8x7.JPG below/c-9.webp below/c-8x7.webp",
    "out/{stem}@{width}.{format} --width 9,8 --format png": "a@9.png a@8.png b@9.png b@8.png below/c@9.png below/c@8.png",
    "out/{width}/{stem}.webp --width 9": "9/a.webp 9/b.webp 9/below/c.webp",
    "out/{stem}/{height}.png --height 9": "a/9.png b/9.png below/c/9.png",
    "out/{stem}-{width}-{height}.png --fill 9x8": "a-9-8.png b-9-8.png below/c-9-8.png",
    "out/{stem}-{width}.png --size 9x8": "a-9.png b-9.png below/c-9.png",
    "out/{stem}-{size}.png --scale 50%": "a-50%.png b-50%.png below/c-50%.png",
    "out/{stem}.{ending}.{format} --fit 9 --format webp": "a.png.webp b.JPG.webp below/c.webp.webp",
    "out/{format}/{stem}.{format} --fit 9 --format png,webp": "png/a.png webp/a.webp png/b.png webp/b.webp "
    "png/below/c.png webp/below/c.webp",
    "out/{stem}-{size}.png --fit 9,9": "a-9.png b-9.png below/c-9.png",
}


def photos() -> None:
    Path("photos/below").mkdir(parents=True)
    for name in ("a.png", "b.JPG", "below/c.webp"):
        noise().save(f"photos/{name}")


@pytest.mark.parametrize("line", NAMES)
def test_fields_of_out_are_filled_in_for_each_output(line: str) -> None:
    photos()
    args = ("resize", "photos", *line.split(), "--recursive", "--jobs", 1)
    planned = ran(*args, "--dry-run", "--json")
    assert not Path("out").exists()
    done = ran(*args, "--json")
    assert (done.returncode, planned.returncode, done.stderr) == (0, 0, "")
    assert files("out") == sorted(NAMES[line].split())
    entries, plans = (json.loads(one.stdout)["files"] for one in (done, planned))
    assert [{**entry, "status": "planned"} for entry in entries] == plans
    for entry in entries:
        with Image.open(entry["output"]) as made:
            assert entry["output_size"] == {"height": made.height, "width": made.width}


def test_a_field_is_filled_in_once() -> None:
    noise().save("{size}.png")
    assert main(["resize", "{size}.png", "out/{stem}-{width}.png", "--width", "9"]) == 0
    assert files("out") == ["{size}-9.png"]


def test_what_exists_under_a_name_with_braces_is_meant_by_it() -> None:
    Path("{stem}").mkdir()
    assert main(["resize", "in.png", "{stem}", "--fit", "9"]) == 0
    assert main(["resize", "in.png", "{stem}/{width}.png", "--width", "9"]) == 0
    assert files("{stem}") == ["9.png", "in.png"]


#: IN, OUT and options that give no name, or one name to several outputs; and what is said.
NO_NAME: list[tuple[str, str]] = [
    ("photos web --fit 9,8", "--fit: 2 sizes need a name each, such as 'web/{stem}-{size}.{format}', got web\n"),
    ("photos web/ --fill 9,8", "such as 'web/{stem}-{width}.{format}', got web/\n"),
    ("photos/a.png web/a.png --height 9,8", "such as 'web/{stem}-{height}.{format}', got web/a.png\n"),
    ("photos web/{stem}.webp --fit 9,8", "2 sizes of --fit would have one name; {size} in OUT tells them apart\n"),
    ("photos web/{stem}-{width}.png --fill 9x8,9x7", "one name; {width} in OUT tells them apart\n"),
    ("photos web/{size}.png --fit 9,8", "2 inputs would have one name; {stem} in OUT tells them apart\n"),
    ("photos web/{stem}-{width}.png --fit 9,8", "{width} is not known, as images of different shapes get a different"),
    ("photos web/{stem}-{height}.png --scale 2", "{height} is not known"),
    ("photos web/{name}.{ext} --fit 9", "unknown field {name} (did you mean {stem}?); known are {stem}, {ending}"),
    ("photos web/{stem}.{ext} --fit 9", "unknown field {ext} (did you mean {format}?)"),
    ("photos web/{stem}-{Width}.png --width 9", "unknown field {Width} (did you mean {width}?)"),
    ("photos web/{stem}-{}.png --width 9", "unknown field {}; known are"),
    ("photos web/{stem}.webp --fit 9 --format webp,jpg", "--format goes with .{format} at the end of OUT\n"),
    ("photos web/{stem}-{format}.webp --fit 9", "{format} goes with .{format} at the end of OUT\n"),
    ("photos web/{stem} --fit 9", "expected .{format} at its end, or an ending such as .webp\n"),
    ("photos web/{stem}.xyz --fit 9", "unknown file type '.xyz'"),
    ("photos photos/{stem}-{size}.{format} --fit 9", "expected names in another folder than photos, whose images"),
    ("photos/a.png web/a.png --fit 9 --format png", "--format: goes with a folder, {format} or - as OUT"),
    ("- web/{stem}.png --fit 9", "expected a name without fields, as - has no name\n"),
    ("photos/a.png - --fit 9,8", "--fit: expected one size, as - is one file, got 2\n"),
    ("photos/a.png - --fit 9 --format png,webp", "--format: expected one type, as - is one file, got png, webp\n"),
    ("photos web --fit 9,0", "--fit: expected a height of at least 1, got 0\n"),
    ("photos web --fit 9,", "--fit: expected WIDTHxHEIGHT"),
    ("photos web --format png, --fit 9", "unknown value ''"),
    ("photos web --format webb --fit 9", "unknown value 'webb' (did you mean 'webp'?); known are png"),
]


@pytest.mark.parametrize(("line", "said"), NO_NAME)
def test_outputs_without_a_name_of_their_own_are_refused_before_anything_is_read(
    capsys: pytest.CaptureFixture[str], line: str, said: str
) -> None:
    Path("photos").mkdir()
    for name in ("a.png", "b.png"):
        Path(f"photos/{name}").write_text("no image, which a run that reads it would say")
    assert said in refused(capsys, "resize", *shlex.split(line))


def test_an_input_is_no_output_of_several(capsys: pytest.CaptureFixture[str]) -> None:
    noise().save("a-9.png")
    args = ("resize", "a-9.png", "{stem}.{format}", "--fit", 9, "--force", "--format")
    assert "a-9.png: is an input too, for a-9.webp" in refused(capsys, *args, "png,webp")
    assert ran(*args, "png").returncode == 0


# ---- inputs with one output


@pytest.mark.parametrize("options", ["--jobs 2", "--force", "--skip-existing", "--update", "--dry-run"])
def test_inputs_with_one_output_are_named_and_the_rest_is_done(options: str) -> None:
    Path("photos").mkdir()
    for name in ("a.png", "a.jpg", "b.png", "c.png", "c.JPG", "c.webp"):
        noise().save(f"photos/{name}")
    Path("out").mkdir()
    Path("out/c.webp").write_text("mine")
    done = ran("resize", "photos", "out", "--format", "webp", "--fit", 9, *options.split())
    assert done.returncode == 1
    assert f"1 {'to do' if 'dry' in options else 'done'}, 0 skipped, 5 failed" in done.stdout
    assert files("out") == ([] if "dry" in options else ["b.webp"]) + ["c.webp"]
    assert Path("out/c.webp").read_text() == "mine"
    hint = "; {ending} in OUT, such as 'out/{stem}-{ending}.{format}', tells them apart"
    assert done.stderr.splitlines()[:2] == [
        f"tenter: photos/a.jpg: out/a.webp would be written from photos/a.png too{hint}",
        f"tenter: photos/a.png: out/a.webp would be written from photos/a.jpg too{hint}",
    ]
    assert "photos/c.webp: out/c.webp would be written from photos/c.JPG, photos/c.png too" in done.stderr
    done = ran("resize", "photos", "apart/{stem}-{ending}.{format}", "--format", "webp", "--fit", 9)
    assert done.returncode == 0 and len(files("apart")) == 6


def test_inputs_of_one_name_from_two_folders_are_named() -> None:
    photos()
    Path("more").mkdir()
    noise().save("more/a.png")
    done = ran("resize", "photos", "more", "out", "--fit", 9, "--json")
    assert done.returncode == 1 and files("out") == ["b.JPG"]
    said = "photos/a.png: out/a.png would be written from more/a.png too"
    failed = [entry for entry in json.loads(done.stdout)["files"] if entry["status"] == "failed"]
    assert [entry["error"] for entry in failed] == [
        said,
        "more/a.png: out/a.png would be written from photos/a.png too",
    ]


def test_an_input_of_a_clash_is_not_overwritten(capsys: pytest.CaptureFixture[str]) -> None:
    photos()
    os.link("photos/a.png", "b.JPG")
    args = ("photos/a.png", "in.png", "photos/b.JPG", "a.png", ".", "--fit", 9, "--force")
    noise().save("a.png")
    assert "b.JPG: is an input too" in refused(capsys, "resize", *args)


def test_a_killed_process_is_reported_for_all_outputs_of_its_input(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("photos").mkdir()
    for name in ("a.png", "b.png", "c.png"):
        noise().save(f"photos/{name}")
    workers_die_on_b(monkeypatch)
    done = ran("resize", "photos", "out/{stem}-{size}.{format}", "--fit", "9,8", "--jobs", 2)
    assert done.returncode == 1 and done.stdout.startswith("4 done, 0 skipped, 2 failed; ")
    assert done.stderr == "tenter: photos/b.png: its process was ended by SIGKILL (is memory short?)\n" * 2
    assert sorted(os.listdir("out")) == ["a-8.png", "a-9.png", "c-8.png", "c-9.png"]


def test_the_page_and_the_help_have_every_field(capsys: pytest.CaptureFixture[str]) -> None:
    page = (DOCS / "command-line.md").read_text()
    rows = re.findall(r"^\| `\{(\w+)\}` \| (.*) \|$", page, re.M)
    assert {name: text.replace("`", "") for name, text in rows} == naming.FIELDS
    with pytest.raises(SystemExit):
        main(["resize", "--help-all"])
    said = " ".join(capsys.readouterr().out.split())
    assert all(f"{{{name}}} is {text}" in said for name, text in naming.FIELDS.items())
