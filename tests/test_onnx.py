"""like="onnx" is ONNX's Resize: its own node tests, and sweeps beside its reference implementation."""

from __future__ import annotations

import numpy as np
import pytest

import onnx_node

CASES = onnx_node.cases()


@pytest.mark.parametrize("name", CASES)
def test_shipped_node_tests(name):
    operator, attributes, inputs, expected = CASES[name]
    found = onnx_node.run(operator, attributes, inputs)
    assert found.shape == expected.shape and found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


def test_there_are_node_tests_of_every_operator():
    counts = {name: sum(case[0] == name for case in CASES.values()) for name in onnx_node.OPERATORS}
    assert counts["Resize"] >= 39 and all(counts.values()), counts
