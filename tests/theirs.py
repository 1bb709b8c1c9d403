"""Other libraries' own tests of resizing, plain and with tenter in the place of what they resize with.

    python -m tests.theirs [--only kornia,timm] [--folder build/theirs] [--python PYTHON]

Clones each library at a revision, makes an environment with what its tests need, and runs them in both ways. Prints how
many pass, how many calls tenter computed, and names the tests whose outcome differs. A clone that lies in the folder is
taken as it is. --python: an environment that has everything, tenter included.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ("pytest>=8", "pytest-mock", "parameterized")


class Library(NamedTuple):
    """path: the folder of its modules in the clone. wanted: the expression by which pytest selects tests."""

    address: str
    revision: str
    path: str
    packages: tuple[str, ...]
    tests: str
    wanted: str = ""
    instead_of: str = "torch"  # else the module whose `resize` is replaced


TRANSFORMS = "tests/transforms"
LIBRARIES = {
    "torchvision": Library(
        "https://github.com/pytorch/vision", "9e37c3a3", "test", ("torch==2.13.*", "torchvision==0.28.*"),
        "test/test_transforms_v2.py test/test_functional_tensor.py test/test_transforms_tensor.py test/test_transforms.py",
        "resize or Resize or ScaleJitter or ShortestSize",
    ),
    "kornia": Library(
        "https://github.com/kornia/kornia", "b4f5a78a", ".", ("torch", "kornia_rs"),
        "tests/geometry/transform/test_affine.py tests/geometry/transform/test_pyramid.py tests/models/test_small_sr.py",
    ),
    "timm": Library(
        "https://github.com/huggingface/pytorch-image-models", "aa4b5850", ".", ("torch", "timm"), "tests/test_layers.py"
    ),
    "diffusers": Library(
        "https://github.com/huggingface/diffusers", "58eb52c0", "src", ("torch", "diffusers"),
        "tests/models/test_layers_utils.py tests/others/test_image_processor.py",
    ),
    "monai": Library(
        "https://github.com/Project-MONAI/MONAI", "d388d1c6", ".", ("torch", "monai", "scikit-image", "nibabel"),
        " ".join(f"{TRANSFORMS}/test_{name}.py" for name in (
            "resize", "resized", "zoom", "zoomd", "rand_zoom", "rand_zoomd", "spacing", "spacingd", "resize_with_pad_or_crop",
        )) + " tests/networks/blocks/test_upsample_block.py tests/networks/blocks/test_subpixel_upsample.py",
        "not (local_inversion or resampler_lazy or script_save)",  # functions that tests call, not tests
    ),
    "torchio": Library(
        "https://github.com/TorchIO-project/torchio", "v1.2.1", "src", ("torch", "torchio"),
        f"{TRANSFORMS}/preprocessing/test_resample.py {TRANSFORMS}/preprocessing/test_resize.py "
        f"{TRANSFORMS}/preprocessing/test_to_canonical.py {TRANSFORMS}/augmentation/test_random_anisotropy.py",
    ),
    "albumentationsx": Library(
        "https://github.com/albumentations-team/AlbumentationsX", "2.0.9", ".",
        ("albumentationsx==2.0.9", "opencv-python-headless", "torch", "deepdiff", "scikit-image", "scikit-learn"),
        "tests/test_resize_area_downscale.py tests/test_transforms.py tests/functional/test_functional.py "
        "tests/test_random_crop_volume_bug.py tests/test_targets.py",
        "resize or Resize or MaxSize or ResizedCrop or Sized or downscale or Scale",
        "albumentations.augmentations.geometric.functional",
    ),
    "albucore": Library(
        "https://github.com/albumentations-team/albucore", "0c1c1ae", ".",
        ("albucore", "opencv-python-headless", "torch", "hypothesis"),
        "tests/test_resize3d.py tests/property/test_resize3d_properties.py tests/test_geometric.py", "resize", "albucore.geometric",
    ),
}  # fmt: skip


def run(command: list[str | Path], **more: Any) -> int:
    return subprocess.run([str(part) for part in command], **more).returncode


def environment(name: str, folder: Path) -> Path:
    place = folder / f"{name}-environment"
    python = place / "bin" / "python"
    if not python.exists():
        run([sys.executable, "-m", "venv", place], check=True)
        run([python, "-m", "pip", "install", "-q", ROOT, *TOOLS, *LIBRARIES[name].packages], check=True)
    return python


def counted(name: str, clone: Path, python: Path, how: str, folder: Path) -> dict[str, Any]:
    """What became of each test, and the report of tenter's calls."""
    library, report = LIBRARIES[name], folder / f"{name}-{how}.json"
    report.unlink(missing_ok=True)
    path = [ROOT / "tests" / "helpers", clone / library.path, clone, *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = {
        **os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), "TENTER_THEIRS": how, "HF_HUB_OFFLINE": "1",
        "TENTER_THEIRS_REPORT": str(report), "NO_ALBUMENTATIONS_UPDATE": "1", "QUICKTEST": "True",
    }  # fmt: skip
    command = [python, "-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", "-p", "theirs_plugin"]
    command += [*(["-k", library.wanted] if library.wanted else []), *library.tests.split()]
    with open(folder / f"{name}-{how}.log", "w") as log:
        run(command, cwd=clone, env=variables, stdout=log, stderr=subprocess.STDOUT)
    found: dict[str, Any] = json.loads(report.read_text())
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(LIBRARIES), help="names of libraries, with commas between")
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "theirs", help="for clones and reports")
    parser.add_argument("--python", type=Path, help="of an environment that has everything")
    given = parser.parse_args()
    folder, differing = given.folder.resolve(), 0
    folder.mkdir(parents=True, exist_ok=True)
    for name in given.only.split(","):
        library, clone = LIBRARIES[name], folder / name
        if not clone.exists():
            run(["git", "clone", "-q", library.address, clone], check=True)
            run(["git", "-C", clone, "checkout", "-q", library.revision], check=True)
        python = given.python or environment(name, folder)
        plain, ours = (counted(name, clone, python, how, folder) for how in ("plain", library.instead_of))
        said = [f"{n} {outcome}" for outcome, n in Counter(plain["outcomes"].values()).items()]
        became = [f"{n} {outcome}" for outcome, n in Counter(ours["outcomes"].values()).items()]
        print(f"{name}: {', '.join(said)}; with tenter {', '.join(became)}; calls {ours['computed'] or 'not counted'}")
        for function, reasons in ours["fallbacks"].items():
            for reason, n in reasons.items():
                print(f"  {function}, {n} times left to PyTorch: {reason}")
        theirs = plain["outcomes"]
        differ = [test for test, outcome in ours["outcomes"].items() if theirs.get(test) != outcome]
        for test in differ:
            print(f"  {theirs.get(test)} -> {ours['outcomes'][test]}: {test}")
        differing += len(differ)
    return int(differing > 0)


if __name__ == "__main__":
    raise SystemExit(main())
