"""What lies on a CUDA device, without one: tables, temporaries and reports of kernels."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode

import tenter
from maps_of import resample
from tenter._arrays import torch_tensors
from tenter._arrays.errors import Refusal
from tenter._arrays.layout import Layout
from tenter._specs.repeat import RepeatCounts
from tenter._torch import device, operators
from tenter._triton import copies, launch, prefix_sum, tables, windows
from tenter._triton.launch import Kernel
from tenter.maps import Copy, Window


class Stream:
    """A stream, and a tensor, that remember what they were told."""

    def __init__(self) -> None:
        self.waited: list = []
        self.recorded: list = []
        self.wait_event, self.record_stream = self.waited.append, self.recorded.append


def test_each_stream_waits_for_tables_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = tables.DeviceTables([], torch.device("cpu"))
    table: Any = Stream()
    sent.tensors, sent.event, sent.streams = [table], "sent", {1}  # type: ignore[assignment]
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: False)
    streams = {n: Stream() for n in (1, 2, 3)}
    for n in (1, 2, 1, 3, 2, 3):
        monkeypatch.setattr(torch.cuda, "current_stream", lambda n=n: streams[n])
        tables.await_all([sent], n)
    assert [s.waited for s in streams.values()] == [[], ["sent"], ["sent"]]
    assert table.recorded == [streams[2], streams[3]]


def test_tables_have_64_bits_where_they_need_them() -> None:
    assert [tables._narrowed(np.array([0, n])).dtype for n in (2**31 - 1, 2**31)] == [np.int32, np.int64]


def test_each_device_has_tables_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list = []
    monkeypatch.setattr(tables, "DeviceTables", lambda arrays, device: sent.append(device) or len(sent))
    monkeypatch.setattr(launch, "refuse_under_capture", lambda: None)  # PyTorch without CUDA has no answer to that
    window, copy = Window(4, 3, [0, 1, 2], [0, 2, 4, 6], [0.5] * 6), Copy.repeats([1, 0, 2])
    devices = [torch.device("cuda", k) for k in range(2)]
    for _ in range(2):
        for at in devices:
            tables.index(copy, at)
            tables.window(window, "float32", at)
            tables.in_groups(window, 8, "float32", at)
    assert sent == [devices[0]] * 3 + [devices[1]] * 3


@pytest.mark.parametrize("index, address", [(1, 256), (0, 264)])
def test_plans_know_the_device_and_how_addresses_are_aligned(index: int, address: int) -> None:
    def lying(index: int, address: int) -> Any:
        return SimpleNamespace(
            is_cuda=True, get_device=lambda: index, shape=(3,), dtype=torch.float32, stride=lambda: (1,),
            element_size=lambda: 4, data_ptr=lambda: address,
        )  # fmt: skip

    for known in (torch_tensors.place, torch_tensors.layout):
        assert known(lying(0, 256)) == known(lying(0, 512)) != known(lying(index, address))


def test_what_lies_between_passes_is_aligned() -> None:
    layout = Layout((3, 5, 5, 7), (700, 140, 28, 4), "float32", 4, "cpu", 0)
    made = windows.launches(layout, tuple((axis, resample("linear", n, 99)) for axis, n in [(0, 3), (3, 7)]))
    assert made.temporaries and all(n % 256 == 0 for n in made.temporaries)


def test_captures_keep_tables_and_send_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    sent = tables.DeviceTables([], torch.device("cpu"))
    monkeypatch.setattr(torch.cuda, "is_current_stream_capturing", lambda: True)
    tables.await_all([sent], 1)
    assert sent in tables._captured
    tables._captured.remove(sent)
    kernel = Kernel(copies.copy, (), (), (), 1)
    for first in (
        lambda: launch.loaded(kernel, 0),
        lambda: tables.DeviceTables([], torch.device("cuda", 0)),
        lambda: device.Report(torch.device("cuda", 0)),
    ):
        with pytest.raises(Refusal, match="a call like one made before it"):
            first()


def test_counts_on_another_device_are_refused() -> None:
    with FakeTensorMode():
        x = torch.empty(3, device="cuda:0")
        counts = torch.empty(3, dtype=torch.int64, device="cuda:1")
        for output_size in (5, None):
            with pytest.raises(TypeError, match="repeats: expected counts with values, on cuda:0, got some on cuda:1"):
                tenter.repeat_interleave(x, counts, output_size=output_size)


def test_offsets_on_another_device_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch_tensors, "device", lambda x: "cpu")
    with pytest.raises(Refusal, match="offsets: expected some on meta, got some on cpu"):
        operators._verified(RepeatCounts(torch.zeros(4, dtype=torch.int64), 0, 0), torch.empty(3, device="meta"))


def test_threads_share_a_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another would be gone before a kernel wrote to it."""
    counts = torch.tensor([1, 2])
    others = device.Report(counts.device)

    class Slow(device.Report):
        def __init__(self, of: torch.device) -> None:
            super().__init__(of)
            device._reports.setdefault(of, others)  # by another thread, meanwhile

    told: list = []
    monkeypatch.setattr(device, "_reports", {})
    monkeypatch.setattr(device, "Report", Slow)
    monkeypatch.setattr(prefix_sum, "offsets", lambda counts, total, words, ticket: told.append(words))
    device.offsets(counts, 3)
    assert told[0] is others.words is device._reports[counts.device].words


def test_a_default_device_is_not_where_reports_lie() -> None:
    with torch.device("meta"):
        assert device.Report(torch.device("cpu")).words.device.type == "cpu"
