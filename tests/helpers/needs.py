"""What tests need of PyTorch and older promised versions lack.

Each row: what it is, the first version that has it, and the tests that need it, by their names. With an older version
these tests must fail (`tests/conftest.py` marks them so), which proves the row. docs/installing.md shows the rows that
users meet; `python tests/helpers/needs.py` writes them there.
"""

from __future__ import annotations

import re
import sys
from typing import NamedTuple

from roots import DOCS

PAGE = DOCS / "installing.md"
START, END = "<!-- needs -->", "<!-- /needs -->"


class Need(NamedTuple):
    """what: as the page says it, with what an older version does; "" for what is no user's. tests: regular
    expressions."""

    first: tuple[int, int]
    what: str
    tests: tuple[str, ...]


NEEDS = (
    Need((2, 12), "", (  # PyTorch's own lanczos, which tests compare with
        r"test_torch\.py::test_equals_torch_in_float64\[some\]", r"test_torch\.py::test_gradients_equal_torch\[dtype[01]\]",
    )),
    Need((2, 8), "", (  # Triton 3.4, which PyTorch brings along, and the setting of Inductor's cache
        r"test_torch_inductor\.py::test_expressions_on_cuda", r"test_torch_inductor\.py::test_code_of_other_versions",
    )),
    Need((2, 7), "", (  # OpInfo's modules
        r"test_opinfo\.py::test_module_tests$",
    )),
    Need((2, 10), "calls that need no Python after the first of a kind", (
        r"test_ragged\.py::test_the_core_alone_runs_calls_of_plain_arrays\[tensor\]",
    )),
    Need((2, 10), "transforms that normalize where they resize; else in a second pass", (
        r"test_the_core_normalizes_where_it_resizes\[(tensor|(batch, )?channels last|batch|part|turned|gray|five channels)\]",
    )),
    Need((2, 13), "a function as a filter in compiled code; else a graph break", (
        r"test_resize_torch\.py::test_a_compiled_function_is_not_given_another_filter",
    )),
    Need((2, 13), "a `Fraction` in a box within one graph; else a graph break", (
        r"test_torch_tracing\.py::test_calls_that_a_graph_cannot_hold_are_followed\[fractions within\]",
    )),
    Need((2, 8), "images by a scale whose lengths depend on data, and counts that differ within `vmap`, within one graph", (
        r"test_torch_tracing\.py::test_lengths_that_depend_on_data_go_on_to_other_operations\[image by scale\]",
        r"test_torch_errors\.py::test_vmap_refuses_counts_of_unequal_sums",
    )),
    Need((2, 7), "values outside the array, and boxes that change, within one graph", (
        r"test_torch_tracing\.py::test_calls_that_a_graph_cannot_hold_are_followed\[a value outside\]",
        r"test_torch_symbols\.py::test_an_int_may_change_from_call_to_call\[resize, box\]",
    )),
    Need((2, 8), "ragged rows whose number or longest length only data says, within one graph", (
        r"test_ragged_compiled\.py::test_compiled_code_refuses_what_eager_code_refuses\[(eager|inductor)-row ids alone\]",
        r"test_ragged_torch\.py::test_indices_in_compiled_code\[lengths_from_row_ids-dtype17\]",
        r"test_ragged_torch\.py::test_a_plan_that_does_not_know_its_total_names_the_call\[pad\]",
        r"test_ragged_torch\.py::test_padded_repeats_in_compiled_code",
    )),
    Need((2, 10), "ragged rows from positions, within one graph", (
        r"test_ragged_compiled\.py::test_compiled_code_refuses_what_eager_code_refuses\[(eager|inductor)-positions\]",
        r"test_ragged_torch\.py::test_indices_in_compiled_code\[lengths_from_positions-",
    )),
    Need((2, 12), "maps in one graph; else a graph break", (
        r"test_map_operator\.py::test_(one_graph_with_its_gradient|inductor|the_compiler_tells_maps_apart)",
    )),
    Need((2, 10), "a scale that is read from a tensor, in `torch.export`", (
        r"test_torch_tracing\.py::test_a_scale_that_is_read_from_a_tensor_changes_in_one_program\[export-nearest-False\]",
    )),
    Need((2, 9), "`DTensor` with dtypes that gloo lacks, sums over ranks, and FSDP2 on gloo", (
        r"test_two_ranks\[(expand|other_dtypes|sums_over_ranks|fsdp_step|fsdp_step_accelerated)\]",
    )),
    Need((2, 13), "a `DTensor` that is flattened", (
        r"test_two_ranks\[(interleave_flat|interleave_flat_counts|unequal_shards_flattened)\]",
    )),
)  # fmt: skip


def lacking(version: str) -> dict[str, Need]:
    """The rows that a version does not reach, by the expressions of their tests."""
    numbers = tuple(int(n) for n in re.findall(r"\d+", version)[:2])
    return {test: need for need in NEEDS if numbers < need.first for test in need.tests}


def table() -> str:
    rows = sorted((need.first, need.what) for need in NEEDS if need.what)
    lines = [f"| {'.'.join(map(str, first))} | {what} |" for first, what in rows]
    return "\n".join(["| from PyTorch | what |", "|---|---|", *lines])


def page(text: str) -> str:
    """The page with the table of today."""
    before, rest = text.split(START)
    return f"{before}{START}\n\n{table()}\n\n{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    new = page(PAGE.read_text(encoding="utf-8"))
    if "--check" in sys.argv:
        sys.exit(new != PAGE.read_text(encoding="utf-8"))
    PAGE.write_text(new, encoding="utf-8")
