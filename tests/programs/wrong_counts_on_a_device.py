"""Wrong counts and offsets on a CUDA device, for a sanitizer that looks on."""

import test_deferred
import test_guards
import torch

for dtype in (torch.int64, torch.int32):
    for name, (counts, total, _) in test_deferred.WRONG.items():
        if max(counts) < 2**31 or dtype == torch.int64:
            x = torch.randn(4, 5, device="cuda", requires_grad=True)
            with test_deferred.before_the_device():
                test_deferred.call(x, torch.tensor(counts, dtype=dtype, device="cuda"), total).sum().backward()
            assert test_deferred.settle(), name
for name in test_guards.OFFSETS:
    for inner in (1, 3, 40):
        test_guards.test_any_offsets_stay_in_bounds((True, name, inner), "cuda")
torch.cuda.synchronize()
print("done")
