"""The operator that checks the description of segments when traced code runs, because only then are its values
known."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from tenter._arrays import torch_private
from tenter._arrays.arguments import error
from tenter._arrays.errors import Refusal, refuse
from tenter._arrays.torch_tensors import stored, to_numpy
from tenter._specs import segments as spec
from tenter._torch.schema import LIBRARY, OPS

# The check of each argument. stops: the ends of spans, else None. n: the number of rows that the caller gave, or None.
CHECKS: dict[str, Callable[[Any, Any, Any], object]] = {
    "offsets": lambda values, stops, n: spec.of_offsets("offsets", values),
    "row_ids": lambda values, stops, n: spec.of_row_ids("row_ids", values, n),
    "positions": lambda values, stops, n: spec.of_positions("positions", values),
    "any mask": lambda values, stops, n: spec.of_mask("mask", values),
    "right mask": lambda values, stops, n: spec.of_mask("mask", values, "right"),
    "left mask": lambda values, stops, n: spec.of_mask("mask", values, "left"),
    "starts": spec.spans,
    "max_len": lambda lengths, stops, n: spec.padded_length(spec.of_lengths("lengths", lengths), n, True),
}


def verified(name: str, values: Tensor, n: Any = None, stops: Tensor | None = None) -> Tensor:
    """Returns `values`, checked if they can be."""
    if not verifies(values):
        return values
    return OPS.verified.default(values, stops, n, name)  # type: ignore[no-any-return]


def verifies(values: Tensor) -> bool:
    """True if values are checked: on the host, and only if torch.func does not batch them."""
    return values.device.type == "cpu" and not torch_private.functorch_active()


def _verified(values: Tensor, stops: Tensor | None, n: int | None, name: str) -> Tensor:
    try:
        if name not in CHECKS:
            refuse(ValueError, "name", f"one of {', '.join(CHECKS)}", repr(name))
        for given in (values, stops):
            if given is not None:
                stored(name, given)
        CHECKS[name](to_numpy(values), None if stops is None else to_numpy(stops), n)
    except Refusal as refusal:
        raise error(refusal, spec.RAGGED, values, *([] if stops is None else [stops])) from None
    return values.clone()


LIBRARY.impl("verified", _verified, "CPU")
torch.library.register_fake("tenter::verified", lambda values, *rest: torch.empty_like(values), lib=LIBRARY)
