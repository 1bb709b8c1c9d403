"""PyTorch's own checks of the registered operators."""

from __future__ import annotations

import pytest
import torch

import tenter
from sweeps import sampled
from tenter.maps._written import written

OFFSETS = torch.tensor([0, 2, 2, 3, 7])
RULE = (None, "linear", False, False, False)
WRITTEN = written(tenter.axis_map(3, 5))
RESIZE, AREA = (
    "linear,half_pixel,,,,floor,torch,replicate,,-0.75",
    "overlap,half_pixel,3/2,1/2,4,floor,exact,wrap,,-0.75",
)


def tracked(*shape: int):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


OPERATOR_CALLS = [
    ("repeat", (tracked(4, 3), [2, 3], False)),
    ("repeat", (tracked(4, 3), [1, 3], True)),
    ("repeat_adjoint", (tracked(8, 9), [4, 3], [2, 3], False)),
    ("repeat_adjoint", (tracked(4, 9), [4, 3], [1, 3], True)),
    ("repeat_counts", (tracked(4, 3), OFFSETS, 0, 7)),
    ("repeat_counts_adjoint", (tracked(7, 3), OFFSETS, 0)),
    ("interpolate", (tracked(2, 3, 4, 5), [7, 3], *RULE)),
    ("interpolate", (tracked(2, 3, 4, 5).detach().contiguous(memory_format=torch.channels_last), [7, 3], *RULE)),
    ("interpolate", (tracked(2, 3, 4, 5), [6, 8], [1.7, 1.7], "cubic", False, True, False)),
    ("interpolate_adjoint", (tracked(2, 3, 7, 3), [4, 5], *RULE)),
    ("resize", (tracked(2, 4, 5), [7, 3], [0, 2], f"{RESIZE};{AREA}", "once")),
    ("resize", (tracked(2, 3, 4, 5).detach().contiguous(memory_format=torch.channels_last), [3], [3], RESIZE, "once")),
    ("resize_adjoint", (tracked(7, 4, 3), [2, 5], [0, 2], f"{RESIZE};{AREA}", "once")),
    ("apply", (tracked(2, 3), 1, WRITTEN)),
    ("apply_adjoint", (tracked(2, 5), 1, WRITTEN)),
    ("offsets", (torch.tensor([2, 0, 1, 4]), 4, None)),
    ("offsets", (torch.tensor([[2, 0, 1, 4], [1, 1, 1, 4]], dtype=torch.int32), 4, 7)),
    ("total", (OFFSETS,)),
    ("verified", (torch.tensor([0, 0, 2]), None, 3, "row_ids")),
    ("verified", (torch.tensor([0, 1]), torch.tensor([2, 4]), 4, "starts")),
]


@pytest.mark.parametrize("name, args", sampled(OPERATOR_CALLS, 3, lambda call: call[0]))
def test_opcheck(name, args):
    tenter.torch.report()  # registers them
    torch.library.opcheck(getattr(torch.ops.tenter, name).default, args)


def test_every_operator_is_checked():
    tenter.torch.report()
    registered = {name.split("::")[1] for name in torch._C._dispatch_get_all_op_names() if name.startswith("tenter::")}
    assert {name for name, _ in OPERATOR_CALLS} == registered
