"""Uses of tenter as type checkers see them. `# error`: what mypy calls the error in that line, and what pyright does."""

from __future__ import annotations

import array
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from typing_extensions import assert_type

import tenter
import tenter.torch
from tenter.lazy import LazyArray


class Other:
    """An array of a library that follows the Array API standard."""

    def __array_namespace__(self, *, api_version: str | None = None) -> Any: ...


Doubles = npt.NDArray[np.float64]
Bytes = npt.NDArray[np.uint8]


def the_kind_and_dtype_that_go_in_come_out(
    d: Doubles, b: Bytes, t: torch.Tensor, j: Other, p: torch.nn.Parameter
) -> None:
    assert_type(tenter.repeat_interleave(d, 2), Doubles)
    assert_type(tenter.repeat_interleave(b, [1, 2], 0, output_size=3), Bytes)
    assert_type(tenter.repeat_interleave(t, t, dim=-1), torch.Tensor)
    assert_type(tenter.repeat_interleave(j, j, axis=0), Other)
    assert_type(tenter.repeat_interleave(p, 2), torch.Tensor)
    assert_type(tenter.repeat_interleave([[1, 2]], 2), npt.NDArray[Any])
    assert_type(tenter.repeat_interleave(input=t, repeats=2, dim=0), torch.Tensor)
    assert_type(tenter.repeat_interleave(d, range(3)), Doubles)
    assert_type(tenter.repeat_interleave(d, array.array("i", [1])), Doubles)

    assert_type(tenter.repeat(d, 2), Doubles)
    assert_type(tenter.repeat(d, 2, 3), Doubles)
    assert_type(tenter.repeat(t, (2, 3)), torch.Tensor)
    assert_type(tenter.repeat(t, repeats=(2, 3)), torch.Tensor)
    assert_type(tenter.repeat(j, [2, 3]), Other)
    assert_type(tenter.repeat((1, 2), 2), npt.NDArray[Any])
    assert_type(tenter.repeat(input=b, sizes=2), Bytes)

    assert_type(tenter.tile(b, 2, np.int64(3)), Bytes)
    assert_type(tenter.tile(t, dims=(2, 3)), torch.Tensor)
    assert_type(tenter.tile(j, (2, 3)), Other)
    assert_type(tenter.tile(1.5, 2), npt.NDArray[Any])

    assert_type(tenter.expand(d, 4, -1), Doubles)
    assert_type(tenter.expand(t, size=(4, -1)), torch.Tensor)
    assert_type(tenter.expand(j, (4, -1)), Other)
    assert_type(tenter.expand([1], 2), npt.NDArray[Any])

    assert_type(tenter.interpolate(d, 4), Doubles)
    assert_type(tenter.interpolate(t, scale_factor=2.5, mode="bicubic", align_corners=True), torch.Tensor)
    assert_type(tenter.interpolate(j, (4, 5), mode="bilinear", antialias=True), Other)
    assert_type(tenter.interpolate(input=t, size=[4, 5]), torch.Tensor)

    assert_type(tenter.resize(d, 4), Doubles)
    assert_type(tenter.resize(b, (4, 5), axes=(0, 1), mode="bilinear", like="cv2", labels=True), Bytes)
    assert_type(
        tenter.resize(
            t,
            scale=Fraction(1, 2),
            like=tenter.conventions.Convention.of("onnx", length_rounding="ceil"),
            mode=["linear", tenter.filters.cubic(-0.6)],
        ),
        torch.Tensor,
    )
    assert_type(tenter.resize(j, scale=(2, 1.5), edge="wrap", align="align_corners"), Other)
    assert_type(tenter.resize([1, 2], 4, box=[(0, 1.5)], mode=tenter.filters.Filter(np.abs, 1)), npt.NDArray[Any])
    assert_type(tenter.resize(d, 4, like=tenter.conventions.PRESETS["jax"], value=1.5, edge="constant"), Doubles)

    assert_type(tenter.image.resize(b, (4, 5), linear_light=True, alpha=False, mode="lanczos"), Bytes)
    assert_type(tenter.image.resize(t, scale=0.5, antialias=False), torch.Tensor)
    assert_type(tenter.image.resize(b, tenter.image.Fill((4, 5), gravity="north"), labels=True), Bytes)
    assert_type(tenter.image.resize(t, tenter.image.Fit(4, enlarge=True)), torch.Tensor)
    assert_type(tenter.image.resize(b, tenter.image.Fit(4, pad=(1, 2, 3))), Bytes)
    assert_type(tenter.image.resize(b, tenter.image.Tiles(4, 12, pad=0)), Bytes)
    assert_type(tenter.image.Fit(4).place(3, 4).resized, tuple[int, int])
    assert_type(tenter.image.resize([t, t], 4, layout="CHW"), torch.Tensor)
    assert_type(tenter.image.resize([b, b], 4), npt.NDArray[Any])
    assert_type(tenter.image.resize(b, (4, 5), box=((0, 3), (4.5, 0.5)), mode="cubic"), Bytes)

    assert_type(tenter.numpy.repeat(d, [1, 2], axis=0), Doubles)
    assert_type(tenter.numpy.tile([1, 2], 2), npt.NDArray[Any])


def results_go_where_they_are_told(d: Doubles, b: Bytes, t: torch.Tensor) -> None:
    assert_type(tenter.resize(d, 4, out=d), Doubles)
    assert_type(tenter.repeat(t, 2, out=t), torch.Tensor)
    assert_type(tenter.tile(b, 2, out=b), Bytes)
    assert_type(tenter.interpolate(d, 2, out=d), Doubles)
    assert_type(tenter.repeat_interleave(b, 2, out=b), Bytes)


def counts_alone_give_positions(c: npt.NDArray[np.int32], d: npt.NDArray[np.int8], t: torch.Tensor) -> None:
    assert_type(tenter.repeat_interleave(c), npt.NDArray[np.int32])
    assert_type(tenter.repeat_interleave(d), npt.NDArray[np.int64])
    assert_type(tenter.repeat_interleave([1, 2]), npt.NDArray[np.int64])
    assert_type(tenter.repeat_interleave(t, output_size=3), torch.Tensor)


def maps_and_settings(d: Doubles, t: torch.Tensor) -> None:
    m = tenter.axis_map(4, 6, "cubic", like="pillow", box=[(0, 2.5)])
    assert_type(m.apply(d, 0), Doubles)
    assert_type(m.apply(t, axis=-1), torch.Tensor)
    assert_type(m.apply([1, 2, 3, 4], 0), npt.NDArray[Any])
    assert_type(m.dense(), Doubles)
    assert_type(tenter.maps.Copy.repeat_each(2, 3).T, tenter.maps.Window)
    assert_type(m @ m.T, tenter.maps.AxisMap)
    assert_type(m * 0.5, tenter.maps.AxisMap)
    assert_type(2 * m, tenter.maps.AxisMap)
    assert_type(m + m, tenter.maps.AxisMap)
    assert_type(m[1:3], tenter.maps.AxisMap)
    assert_type(m @ d, Doubles)
    assert_type(m[1:] @ t, torch.Tensor)
    assert_type(m @ [1, 2, 3, 4], npt.NDArray[Any])
    assert_type(tenter.maps.Window.from_scipy(m.to_scipy()), tenter.maps.Window)
    assert_type(tenter.interp(d, [0.5], np.arange(4), mode="area", period=360), Doubles)
    assert_type(tenter.interp(t, t, t, 0, edge="constant", value=(0, 1.5)), torch.Tensor)
    assert_type(tenter.maps.from_coordinates([0.5], [0, 1]).apply(d, 0), Doubles)
    assert_type(tenter.get_num_threads(), int)
    assert_type(tenter.memory.get_limit(), int)
    assert_type(tenter.conventions.compare("pillow", "jax"), str)
    with tenter.torch.accelerate() as report:
        assert_type(report.computed, dict[str, int])


def layers(t: torch.Tensor) -> None:
    assert_type(tenter.torch.Upsample(scale_factor=(2, 1.5), mode="bilinear")(t), torch.Tensor)
    assert_type(tenter.torch.UpsamplingNearest2d((4, 5))(t), torch.Tensor)
    transforms = tenter.torch.transforms
    crop = transforms.RandomResizedCrop(224, (0.5, 1.0), flip=0.5, mean=[0.5], std=[0.5])
    assert_type(crop.flip, float)
    assert_type(transforms.Resize((4, 5), max_size=None, dtype=torch.uint8).max_size, int | None)
    assert_type(transforms.ResizeCenterCrop(224, resize_size=256).crop_size, tuple[int, int])
    assert_type(transforms.Letterbox(640, pad=114).fit.gravity, str)
    transforms.Thumbnail("64")  # error: arg-type, reportArgumentType
    transforms.Resize(9, mode="bilinear")  # error: arg-type, reportArgumentType
    tenter.torch.UpsamplingBilinear2d(scale=2)  # error: arg-type, reportArgumentType


def mistakes(d: Doubles, t: torch.Tensor) -> None:
    tenter.resise(d, 4)  # error: attr-defined, reportAttributeAccessIssue
    tenter.repeat_interleve(d, 2)  # error: attr-defined, reportAttributeAccessIssue
    tenter.torch.instal()  # error: attr-defined, reportAttributeAccessIssue
    tenter.resize(d, 4, mode="bilinar")  # error: arg-type, reportCallIssue
    tenter.resize(d, 4, like="Pillow")  # error: call-overload, reportCallIssue
    tenter.resize(d, 4, edge="reflected")  # error: call-overload, reportCallIssue
    tenter.conventions.Convention.of("onnx", aspect_ratio="fit")  # error: arg-type, reportArgumentType
    tenter.resize(d, 4, axis=0)  # error: call-overload, reportCallIssue
    tenter.resize(d, "4")  # error: arg-type, reportCallIssue
    tenter.resize("photo.png", 4)  # error: call-overload, reportCallIssue
    tenter.resize({1, 2}, 4)  # error: call-overload, reportCallIssue
    tenter.interpolate(t, 4, mode="cubic")  # error: call-overload, reportCallIssue
    tenter.interpolate(t, 4, "bilinear")  # error: arg-type, reportCallIssue
    tenter.repeat_interleave(d, None)  # error: call-overload, reportCallIssue
    tenter.repeat_interleave(d, 2.0)  # error: call-overload, reportCallIssue
    tenter.repeat_interleave(d, [1.5, 2])  # error: list-item, reportCallIssue
    tenter.repeat(d, 2, axis=0)  # error: call-overload, reportCallIssue
    tenter.tile(d, 2.5)  # error: call-overload, reportCallIssue
    tenter.expand(t, "2")  # error: arg-type, reportCallIssue
    tenter.resize(d, 4, out=t)  # error: call-overload, reportCallIssue
    tenter.image.resize(d, 4, axes=(0, 1))  # error: call-overload, reportCallIssue
    tenter.interp(d, [0.5], [0, 1], mode="cubic")  # error: call-overload, reportCallIssue
    tenter.axis_map(4, 6, "bilinear")  # error: arg-type, reportArgumentType
    tenter.maps.Copy.repeat_each(2, 3).apply(d, "0")  # error: call-overload, reportCallIssue
    tenter.axis_map(4, 6)["1"]  # error: index, reportArgumentType
    tenter.axis_map(4, 6) + 1  # error: operator, reportOperatorIssue
    number: int = tenter.resize(d, 4)  # error: assignment, reportAssignmentType
    wrong: torch.Tensor = tenter.repeat(d, 2)  # error: assignment, reportAssignmentType


def rows_of_unlike_lengths(d: Doubles, i: npt.NDArray[np.int32], j: npt.NDArray[np.int64], t: torch.Tensor) -> None:
    ragged = tenter.ragged
    assert_type(ragged.offsets([2, 0, 3]), npt.NDArray[np.int64])
    assert_type(ragged.offsets(i, output_size=5), npt.NDArray[np.int32])
    assert_type(ragged.lengths(j), npt.NDArray[np.int64])
    assert_type(ragged.row_ids(t, output_size=5), torch.Tensor)
    assert_type(ragged.positions(ragged.Plan(t)), torch.Tensor)
    assert_type(ragged.Plan.from_row_ids([0, 1], n=2).lengths, npt.NDArray[np.int64])
    assert_type(ragged.Plan.from_mask(t).lengths, torch.Tensor)
    assert_type(ragged.Plan.from_mask(i, padding_side="left").lengths, npt.NDArray[np.int32])
    assert_type(ragged.Plan.from_mask([[0, 1], [1, 1]]).lengths, npt.NDArray[np.int64])
    assert_type(ragged.mask([2, 0, 3], max_len=4), npt.NDArray[np.bool_])
    assert_type(ragged.mask(ragged.Plan(t)), torch.Tensor)
    assert_type(ragged.spans_to_mask([1], [2], 3), npt.NDArray[np.bool_])
    assert_type(ragged.ranges(0, i), npt.NDArray[np.int32] | npt.NDArray[np.int64])
    assert_type(ragged.ranges(t, t, output_size=4), torch.Tensor)
    assert_type(ragged.segment_sum(d, [2, 0, 3]), Doubles)
    assert_type(ragged.segment_softmax(t, t, axis=-1), torch.Tensor)
    assert_type(ragged.segment_mean([1.0, 2.0], lengths=[2]), npt.NDArray[Any])
    assert_type(ragged.pad(d, [2, 0, 3], max_len=4, value=-1), Doubles)
    assert_type(ragged.unpad(t, t, output_size=5), torch.Tensor)
    assert_type(ragged.pad(t, [2, 3], padding_side="left"), torch.Tensor)
    assert_type(ragged.repeat_padded(t, [[1, 2]]), tuple[torch.Tensor, torch.Tensor])
    assert_type(ragged.repeat_padded(d, i), tuple[Doubles, npt.NDArray[np.int32] | npt.NDArray[np.int64]])


def plans(d: Doubles, i: npt.NDArray[np.int32], t: torch.Tensor, any_plan: tenter.ragged.Plan) -> None:
    plan = tenter.ragged.Plan([2, 0, 3])
    assert_type(plan.offsets, npt.NDArray[np.int64])
    assert_type(tenter.ragged.Plan(i).lengths, npt.NDArray[np.int32])
    assert_type(tenter.ragged.Plan.from_offsets(t, output_size=5).row_ids, torch.Tensor)
    assert_type(tenter.ragged.Plan.from_row_ids([0, 1], n=3).positions, npt.NDArray[np.int64])
    assert_type(any_plan.sum(d), Doubles)
    assert_type(plan.repeat(t, axis=1), torch.Tensor)
    assert_type(plan.pad([1, 2], 3), npt.NDArray[Any])
    assert_type(plan.unpad(d), Doubles)
    assert_type(plan.softmax(t), torch.Tensor)
    assert_type(plan.mask(4, padding_side="left"), npt.NDArray[np.bool_])
    assert_type(tenter.ragged.Plan(t).to("cuda").offsets, torch.Tensor)
    assert_type(len(plan), int)
    assert_type(tenter.ragged.Plan(t).mask(), torch.Tensor)
    assert_type(tenter.ragged.mask(any_plan), npt.NDArray[np.bool_] | torch.Tensor)
    assert_type(plan.output_size, int)
    assert_type(plan.map, tenter.maps.Copy)


def lazy_arrays(d: Doubles, t: torch.Tensor) -> None:
    s = tenter.lazy.repeat_interleave(d, [1, 2], 0)
    assert_type(s.materialize(), Doubles)
    assert_type(s.base, Doubles)
    assert_type(s.shape, tuple[int, ...])
    assert_type(tenter.lazy.resize(t, 4, mode="linear").materialize(), torch.Tensor)
    assert_type(tenter.lazy.tile(tenter.lazy.repeat(t, 2), 2).materialize(), torch.Tensor)
    assert_type(tenter.lazy.interpolate(t, 4).base, torch.Tensor)
    assert_type(tenter.lazy.repeat([1, 2], 2).materialize(), npt.NDArray[Any])
    u = tenter.lazy.repeat(t, 2)
    assert_type(s.dtype, np.dtype[np.float64])
    assert_type(u.dtype, torch.dtype)
    assert_type(s.size, int)
    assert_type(u.size(0), int)
    assert_type(s.T, Doubles | LazyArray[Doubles])
    assert_type(u[1:], torch.Tensor | LazyArray[torch.Tensor])
    assert_type(2 * s, npt.NDArray[Any] | LazyArray[npt.NDArray[Any]])
    assert_type(u / 2, torch.Tensor | LazyArray[torch.Tensor])
    assert_type(-u, torch.Tensor | LazyArray[torch.Tensor])
    assert_type(s > 1, npt.NDArray[Any] | LazyArray[npt.NDArray[Any]])
    assert_type(u.sum(0), torch.Tensor | LazyArray[torch.Tensor])


def rows_go_where_they_are_told(
    d: Doubles, i: npt.NDArray[np.int32], t: torch.Tensor, b: npt.NDArray[np.bool_]
) -> None:
    assert_type(tenter.ragged.offsets(i, out=i), npt.NDArray[np.int32])
    assert_type(tenter.ragged.row_ids(t, output_size=5, out=t), torch.Tensor)
    assert_type(tenter.ragged.mask([1, 2], out=b), npt.NDArray[np.bool_])
    assert_type(tenter.ragged.pad(d, [2, 3], value=1, out=d), Doubles)
    assert_type(tenter.ragged.segment_max(t, [2, 3], out=t), torch.Tensor)
    assert_type(tenter.ragged.repeat_padded(t, t, out=(t, t)), tuple[torch.Tensor, torch.Tensor])
    assert_type(tenter.ragged.Plan([2, 3]).mean(d, out=d), Doubles)


def mistakes_with_rows(d: Doubles, t: torch.Tensor) -> None:
    plan = tenter.ragged.Plan([2.5])  # error: list-item, reportCallIssue
    tenter.ragged.Plan("12")  # error: arg-type, reportCallIssue
    tenter.ragged.offsets([1.5])  # error: list-item, reportCallIssue
    tenter.ragged.row_ids(d)  # error: type-var, reportCallIssue
    tenter.ragged.segment_sum(d, 2)  # error: call-overload, reportCallIssue
    tenter.ragged.pad(d, [2], value="0")  # error: call-overload, reportCallIssue
    tenter.ragged.segment_sun(d, [2])  # error: attr-defined, reportAttributeAccessIssue
    plan.sum(d, axis="0")  # error: call-overload, reportCallIssue
    tenter.ragged.pad(d, [2, 3], out=t)  # error: call-overload, reportCallIssue
    tenter.ragged.pad(d, [2, 3], padding_side="top")  # error: call-overload, reportCallIssue
    tenter.lazy.tile(d, 2).materialise()  # error: attr-defined, reportAttributeAccessIssue
    tenter.lazy.resize(d, 4, mode="bilinar")  # error: arg-type, reportCallIssue
    tenter.lazy.repeat_interleave(d, 2.0)  # error: call-overload, reportCallIssue
    wrong: torch.Tensor = tenter.ragged.segment_sum(d, [2])  # error: assignment, reportAssignmentType
