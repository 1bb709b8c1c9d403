"""Results in blocks that come from other processes: a DataLoader's workers, queues, shared memory."""

from __future__ import annotations

from typing import Any

import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, Dataset

import tenter

x = torch.arange(280000.0).reshape(700, 400)


class Large(Dataset):
    def __len__(self) -> int:
        return 6

    def __getitem__(self, i: int) -> tuple[torch.Tensor, Any]:
        return tenter.repeat_interleave(x + i, 2, 0), tenter.repeat_interleave(x.numpy() + i, 2, 0)


def put(queue: Any, n: int, fetched: Any) -> None:
    for i in range(n):
        queue.put(tenter.repeat_interleave(x + i, 2, 0))
    fetched.wait()


def want(i: int) -> torch.Tensor:
    return (x + i).repeat_interleave(2, 0)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for workers in (0, 2):
        loader = DataLoader(Large(), batch_size=None, num_workers=workers, timeout=60 if workers else 0)
        for i, (tensor, array) in enumerate(loader):
            assert torch.equal(tensor, want(i)) and torch.equal(torch.as_tensor(array), want(i))
            tenter.repeat_interleave(x * 0 - 1, 2, 0)
    forking = mp.get_context("fork")
    queue = forking.SimpleQueue()
    held = [tenter.repeat_interleave(x + i, 2, 0) for i in range(3)]
    for y in held:
        queue.put(y)  # the parent's own results, moved to shared memory
    del y, held
    for _ in range(3):
        tenter.repeat_interleave(x * 0 - 1, 2, 0)
    assert all(torch.equal(queue.get(), want(i)) for i in range(3))
    fetched = forking.Event()
    process = forking.Process(target=put, args=(queue, 3, fetched))
    process.start()
    assert all(torch.equal(queue.get(), want(i)) for i in range(3))
    fetched.set()
    process.join()
    print("done")
