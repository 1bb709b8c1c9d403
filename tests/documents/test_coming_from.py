"""docs/coming-from.md: each line of its tables is run in both libraries, and gives what the third column says."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from roots import DOCS

PAGE = DOCS / "coming-from.md"
SECTIONS = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.S | re.M))
MODULES = {"PyTorch": "torch", "JAX": "jax", "einops": "einops", "OpenCV": "cv2", "Pillow": "PIL",
           "scikit-image": "skimage", "SciPy": "scipy", "ONNX": "onnx"}  # fmt: skip
ROW = re.compile(r"^\| `(.*)` \| `(.*)` \| (same|rounding|within 1) \|$", re.M)
WITHIN = {"same": 0.0, "rounding": 1e-5, "within 1": 1.0}


def onnx_operator(name: str) -> Any:
    """A function that runs one node; sizes, scales and shapes are its further inputs."""

    def run(x: Any, shape: Any = None, sizes: Any = None, scales: Any = None, **attributes: Any) -> Any:
        from onnx import TensorProto, helper
        from onnx.reference import ReferenceEvaluator

        given = {"x": x}
        if shape is not None:
            given["shape"] = np.array(shape, np.int64)
        if sizes is not None:
            given["sizes"] = np.array(sizes, np.int64)
        if scales is not None:
            given["scales"] = np.array(scales, np.float32)
        names = ["x", "", "scales" * (scales is not None), "sizes" * (sizes is not None)]
        node = helper.make_node(name, names if shape is None else ["x", "shape"], ["y"], **attributes)
        kinds = {"x": TensorProto.FLOAT, "scales": TensorProto.FLOAT}
        inputs = [helper.make_tensor_value_info(n, kinds.get(n, TensorProto.INT64), a.shape) for n, a in given.items()]
        output = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
        model = helper.make_model(helper.make_graph([node], "one", inputs, [output]))
        return ReferenceEvaluator(model).run(None, given)[0]

    return run


def differs(theirs: Any, ours: Any, within: float) -> str:
    a, b = np.asarray(theirs), np.asarray(ours)
    if a.shape != b.shape:
        return f"{a.shape} and {b.shape}"
    scale = 1.0 if within in (0, 1) else float(np.abs(a).max())
    apart = float(np.abs(a.astype(np.float64) - b).max()) / scale
    return "" if apart <= within else f"{apart} apart"


@pytest.mark.parametrize("library", list(SECTIONS))
def test_both_libraries_give_what_the_table_says(library: str) -> None:
    pytest.importorskip(MODULES.get(library, "numpy"))
    text = SECTIONS[library]
    (setup,) = re.findall(r"```python\n(.*?)```", text, re.S)
    rows = ROW.findall(text)
    listed = [line for line in text.splitlines() if line.count(" | ") == 2 and "`" in line]
    assert len(rows) == len(listed) >= 5
    scope: dict[str, Any] = {name: onnx_operator(name) for name in ("Tile", "Expand", "Resize")}
    exec(setup, scope)
    wrong = {f"{theirs}  {ours}": found for theirs, ours, says in rows
             if (found := differs(eval(theirs, scope), eval(ours, scope), WITHIN[says]))}  # fmt: skip
    assert not wrong


def test_a_line_that_is_wrong_is_found() -> None:
    assert differs([1, 1, 2, 2], [1, 2, 1, 2], 0) and differs([1.0, 2.0], [1.0, 2.1], 1e-5)
    assert differs(np.ones((2, 3)), np.ones((3, 2)), 1) and not differs([3, 4], [3, 5], 1)
