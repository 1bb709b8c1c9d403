"""A PyTorch without the private names that quick calls look at: every call then goes the long way."""

import torch

taken = torch._C._dispatch_keys
del torch._C._dispatch_keys
import tenter  # noqa: E402

torch._C._dispatch_keys = taken
from tenter._arrays import torch_tensors  # noqa: E402

x = torch.randn(1, 3, 4, requires_grad=True)
counts = torch.tensor([1, 0, 2])
assert not torch_tensors.is_ordinary(x)
for ours, theirs in [
    (lambda x: tenter.repeat(x, 2, 1, 3), lambda x: x.repeat(2, 1, 3)),
    (lambda x: tenter.repeat_interleave(x, counts, 1), lambda x: x.repeat_interleave(counts, 1)),
    (lambda x: tenter.interpolate(x, 7, mode="linear"), lambda x: torch.nn.functional.interpolate(x, 7, mode="linear")),
]:
    got, want = ours(x), theirs(x)
    torch.testing.assert_close(got, want)
    torch.testing.assert_close(*[torch.autograd.grad(y.square().sum(), x)[0] for y in (got, want)])
print("right")
