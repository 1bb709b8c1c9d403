"""A PyTorch without DLPack's exchange API: tensors are plain all the same, and their calls checked each time."""

import torch

del torch.Tensor.__dlpack_c_exchange_api__
import tenter  # noqa: E402
from tenter import _native  # noqa: E402
from tenter._arrays import torch_tensors  # noqa: E402

x = torch.randn(1, 3, 4, requires_grad=True)
counts = torch.tensor([1, 0, 2])
assert torch_tensors.is_ordinary(x) and not _native.ordinary(x) and _native.call_key("f", x) is None
for ours, theirs in [
    (lambda x: tenter.repeat(x, 2, 1, 3), lambda x: x.repeat(2, 1, 3)),
    (lambda x: tenter.expand(x, 2, 3, 4), lambda x: x.expand(2, 3, 4)),
    (lambda x: tenter.interpolate(x, 7, mode="linear"), lambda x: torch.nn.functional.interpolate(x, 7, mode="linear")),
    (lambda x: tenter.repeat_interleave(x, counts, 1), lambda x: x.repeat_interleave(counts, 1)),
]:  # fmt: skip
    for _ in range(3):
        got, want = ours(x), theirs(x)
        torch.testing.assert_close(got, want)
        torch.testing.assert_close(*[torch.autograd.grad(y.square().sum(), x)[0] for y in (got, want)])
print("right")
