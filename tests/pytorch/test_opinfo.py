"""The sample inputs with which PyTorch tests these operations (OpInfo), values and first derivatives."""

import functools
import importlib
import inspect
from functools import partial

import pytest

torch = pytest.importorskip("torch")

import hypothesis  # noqa: E402

import tenter  # noqa: E402
from sweeps import sampled  # noqa: E402


@functools.cache
def package():
    """PyTorch's test package (it needs expecttest), which takes seconds to import: by the process that runs these tests.
    It loads a hypothesis profile of 10 examples and freezes torch.backends for the whole process, other test files
    included: both are put back."""
    profile = hypothesis.settings.get_current_profile_name()
    names = ("common_methods_invocations", "common_nn", "opinfo.core")
    found = [importlib.import_module(f"torch.testing._internal.{name}") for name in names]
    hypothesis.settings.load_profile(profile)
    torch.backends.flags_frozen.__globals__["__allow_nonbracketed_mutation_flag"] = True
    return found


@pytest.fixture(scope="module", autouse=True)
def samples_without_stacks():
    """Four fifths of the time of these tests were stacks: PyTorch keeps one with each seed of a device that is not there,
    which every sample sets, and looks for the test's name in one."""
    _, _, core = package()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "extract_test_fn", lambda: None)
        for device in (torch.cuda, torch.xpu, torch.mtia):
            if not device.is_available():
                patch.setattr(device, "manual_seed_all", lambda seed: None, raising=False)
        yield


def aten_antialiased(mode):
    """The aten overloads: one takes a size or scale factors, the other a size and, beside it, coordinate scales."""

    def call(x, output_size, align_corners, scale_factors=None, scales_h=None, scales_w=None):
        if scales_h is not None and not align_corners:  # align_corners derives its scale from the sizes
            return NotImplemented  # interpolate takes a size or a scale, never both: torch's own cannot say it either
        return tenter.interpolate(x, output_size, scale_factors, mode, align_corners, antialias=True)

    return call


OURS = {
    "repeat_interleave": tenter.repeat_interleave,
    "repeat": tenter.repeat,
    "tile": tenter.tile,
    "expand": tenter.expand,
    "nn.functional.interpolate": tenter.interpolate,
    "nn.functional.upsample_nearest": partial(tenter.interpolate, mode="nearest"),
    "nn.functional.upsample_bilinear": partial(tenter.interpolate, mode="bilinear", align_corners=True),
    "_upsample_bilinear2d_aa": aten_antialiased("bilinear"),
}
COPIES = {"repeat_interleave", "repeat", "tile", "expand", "upsample_nearest", "nearest", "nearest-exact"}
HALVES = (torch.float16, torch.bfloat16)
REFUSALS = (TypeError, ValueError, IndexError, RuntimeError, MemoryError, OverflowError)

FLOATS = ("bfloat16", "float16", "float32", "float64")
EVERY = (*FLOATS, "bool", "complex64", "complex128", "int8", "int16", "int32", "int64", "uint8")
# OpInfo's variants of these operations, and their dtypes.
DTYPES = {
    "expand": EVERY,
    "nearest": (*FLOATS, "uint8"),
    "nearest-exact": (*FLOATS, "uint8"),
    "linear": FLOATS,
    "bilinear": (*FLOATS, "uint8"),
    "bicubic": (*FLOATS, "uint8"),
    "trilinear": FLOATS,
    "area": FLOATS,
    "upsample_bilinear": (*FLOATS, "uint8"),
    "_upsample_bilinear2d_aa": ("float32", "float64", "uint8"),
    "upsample_nearest": (*FLOATS, "uint8"),
    "repeat": EVERY,
    "tile": EVERY,
    "repeat_interleave": (*EVERY, "complex32"),
}
CASES = [(name, dtype) for name, dtypes in DTYPES.items() for dtype in dtypes]
GRADIENT_CASES = [case for case in CASES if case[1].startswith(("bfloat", "float", "complex"))]


def short(op):
    return op.variant_test_name or op.name.removeprefix("nn.functional.")


@functools.cache
def ops():
    return {short(op): op for op in package()[0].op_db if op.name in OURS}


def opinfo(case):
    return ops()[case[0]], getattr(torch, case[1])


def channels_last(t):
    formats = {4: torch.channels_last, 5: torch.channels_last_3d}
    is_image = isinstance(t, torch.Tensor) and t.ndim in formats
    return t.contiguous(memory_format=formats[t.ndim]) if is_image else t


def value_samples(op, dtype):
    for sample in op.reference_inputs("cpu", dtype):
        yield sample
        yield sample.noncontiguous()
        if OURS[op.name] not in (tenter.repeat_interleave, tenter.repeat, tenter.tile, tenter.expand):
            yield sample.transform(channels_last)


def gradient_samples(op, dtype):
    return op.sample_inputs("cpu", dtype, requires_grad=True)


def evaluate(function, sample, x):
    return function(x, *sample.args, **sample.kwargs)


def wide(t):
    return t.to(torch.complex128 if t.is_complex() else torch.float64)


def components(t):
    return torch.view_as_real(t) if t.is_complex() else t


def assert_same_bits(ours, theirs):
    assert (ours.shape, ours.dtype, ours.device) == (theirs.shape, theirs.dtype, theirs.device)
    assert torch.equal(*(t.contiguous().reshape(-1).view(torch.uint8) for t in (ours, theirs)))


def assert_same_layout(ours, x):
    """5-D area is where this asks for more than PyTorch, which forgets channels-last there."""
    if x.is_contiguous():
        assert ours.is_contiguous()
    elif channels_last(x) is x:
        kept = channels_last(ours) is ours
        assert kept, f"channels-last {tuple(x.shape)} in, strides {ours.stride()} out"


def allowed_error(truth, dtype, scale):
    """Float32 arithmetic (float64 for float64), then one rounding to a half type."""
    rounding = torch.finfo(dtype).eps / 2 if dtype.itemsize == 2 or dtype == torch.complex32 else 0
    arithmetic = 1e-12 if dtype in (torch.float64, torch.complex128) else 1e-6
    return arithmetic * scale + rounding * truth.abs()


def assert_near_truth(ours, theirs, truth, scale):
    assert ours.shape == truth.shape
    error = (ours.double() - truth).abs()
    excess = (error - allowed_error(truth, ours.dtype, scale)).max().item()
    assert excess <= 0, f"{excess:.1e} beyond the tolerance; largest error {error.max():.1e}"
    if theirs is not None:
        slack = max(torch.finfo(ours.dtype).eps / 2, 1e-12) * scale
        assert error.max() <= (theirs.double() - truth).abs().max() + slack, "worse than PyTorch"


def assert_within_one(ours, theirs, truth, cut_between):
    """cut_between: antialiased cubics overshoot, and both libraries cut that between the axes, as Pillow does; the truth,
    cut once, is not theirs then."""
    exact = truth.round().clamp(0, 255)
    our_errors, their_errors = (ours - exact).abs(), (theirs - exact).abs()
    for who, errors in (("ours", our_errors), ("PyTorch", their_errors)):
        print(f"uint8, {truth.numel()} values: {who} differs in {(errors > 0).sum()}, by at most {errors.max():.0f}")
    if cut_between:
        our_errors = torch.minimum(our_errors, (ours.double() - theirs.double()).abs())
    assert ours.shape == truth.shape and our_errors.max().item() <= 1


def theirs_or_none(op, sample, dtype):
    try:
        return evaluate(op, sample, sample.input)
    except RuntimeError:
        # a result here: PyTorch has no antialias kernel in half precision; the float64 truth still judges ours
        assert sample.kwargs.get("antialias") and dtype in HALVES
        return None


# A dtype of some sizes, and bool.
COPIED = ("bool", "bfloat16", "float32", "complex128")


def of_some_dtypes(cases):
    """Not the widest sweeps again in three more floating-point types, nor copies in each dtype of a size."""
    found = []
    for case in cases:
        name, dtype = case
        some = dtype in COPIED if name in COPIES else dtype not in ("float64", "float16", "bfloat16")
        found.append(pytest.param(case, marks=[pytest.mark.slow] * (not some), id="-".join(case)))
    return found


@pytest.mark.parametrize("case", of_some_dtypes(CASES))
def test_values(case):
    op, dtype = opinfo(case)
    torch.manual_seed(0)
    checked = unsayable = 0
    for sample in value_samples(op, dtype):
        ours = evaluate(OURS[op.name], sample, sample.input)
        if ours is NotImplemented:
            unsayable += 1
            continue
        theirs = theirs_or_none(op, sample, dtype)
        assert ours.dtype == dtype
        if short(op) in COPIES:
            assert_same_bits(ours, theirs)
        else:
            truth = evaluate(op, sample, sample.input.double())
            if dtype == torch.uint8:
                assert_within_one(ours, theirs, truth, sample.kwargs.get("antialias") and short(op) == "bicubic")
            else:
                assert_near_truth(ours, theirs, truth, sample.input.double().abs().max())
        if op.name == "expand":
            assert ours.untyped_storage().data_ptr() == sample.input.untyped_storage().data_ptr()
            assert_same_bits(OURS[op.name](sample.input, *sample.args[0]), theirs)
        elif op.name in ("repeat_interleave", "repeat", "tile"):
            assert ours.numel() == 0 or ours.data_ptr() != sample.input.data_ptr()
        else:
            assert_same_layout(ours, sample.input)
        checked += 1
    # of the seven antialias samples one, in three layouts, gives both a size and scales
    assert checked > 0 and unsayable == (3 if op.name.endswith("_aa") else 0)
    print(f"{case}: {checked} samples")


@pytest.mark.parametrize("case", of_some_dtypes(GRADIENT_CASES))
def test_gradients(case):
    op, dtype = opinfo(case)
    torch.manual_seed(0)
    checked = 0
    for sample in gradient_samples(op, dtype):
        ours = evaluate(OURS[op.name], sample, sample.input)
        if ours is NotImplemented:
            continue
        x = wide(sample.input.detach()).requires_grad_()
        theirs = evaluate(op, sample, x)
        cotangent = torch.randn(ours.shape, dtype=theirs.dtype).to(dtype)
        (gradient,) = torch.autograd.grad(ours, sample.input, cotangent)
        (truth,) = torch.autograd.grad(theirs, x, wide(cotangent), retain_graph=True)
        (size,) = torch.autograd.grad(theirs, x, wide(cotangent).abs().to(theirs.dtype))
        assert (gradient.shape, gradient.dtype) == (truth.shape, dtype)
        error = (components(wide(gradient)) - components(truth)).abs()
        if error.numel():
            scale = size.abs().max().item()
            excess = (error - allowed_error(components(truth), dtype, scale)).max().item()
            assert excess <= 0, f"{excess:.1e} beyond the tolerance; largest gradient {scale:.1e}"
        checked += 1
    assert checked > 0
    print(f"{case}: {checked} gradients")


def test_the_table_is_opinfos():
    said = {(name, str(dtype).removeprefix("torch.")) for name, op in ops().items() for dtype in op.dtypes}
    differentiable = {
        (name, str(dtype).removeprefix("torch."))
        for name, op in ops().items()
        for dtype in op.supported_backward_dtypes("cpu")
    }
    assert {op.name for op in ops().values()} == set(OURS)
    assert set(CASES) == said and set(GRADIENT_CASES) == differentiable


@pytest.mark.slow
def test_no_generator_runs_dry():
    values = sum(1 for case in CASES for _ in value_samples(*opinfo(case)))
    gradients = sum(1 for case in GRADIENT_CASES for _ in gradient_samples(*opinfo(case)))
    print(f"{values} value samples, {gradients} gradient samples")
    assert values >= 4600 and gradients >= 1000  # PyTorch 2.13: 5185 and 1111


def spoiled(value):
    """Wrong neighbours of an argument: too small, too long, too short, of the wrong kind."""
    if isinstance(value, torch.Tensor):
        yield from (-value - 1, value[1:], value.double())
    elif isinstance(value, str):
        yield value + "er"
    elif isinstance(value, float) or type(value) is int:
        yield -value - 7
    elif isinstance(value, tuple | list) and value:
        yield from ((-value[0] - 7, *value[1:]), (3, *value), value[1:], (str(value[0]), *value[1:]))


def spoiled_calls(sample):
    for position, value in enumerate(sample.args):
        for wrong in spoiled(value):
            yield (*sample.args[:position], wrong, *sample.args[position + 1 :]), sample.kwargs
    for name, value in sample.kwargs.items():
        for wrong in spoiled(value):
            yield sample.args, {**sample.kwargs, name: wrong}


def refuses(function, x, args, kwargs):
    try:
        function(x, *args, **kwargs)
    except REFUSALS:
        return True
    return False


# the aten overload is left out: its argument names are not interpolate's
@pytest.mark.parametrize("name", sampled([name for name in DTYPES if not name.endswith("_aa")], 3))
def test_what_pytorch_refuses_is_refused(name):
    """No OpInfo of these has error inputs of its own as of PyTorch 2.13, so its samples are spoiled one by one."""
    op, refused = ops()[name], 0
    for sample in op.sample_inputs("cpu", torch.float64):
        for args, kwargs in spoiled_calls(sample):
            if refuses(op, sample.input, args, kwargs):
                ours_too = refuses(OURS[op.name], sample.input, args, kwargs)
                assert ours_too, f"PyTorch refuses shape {tuple(sample.input.shape)}, {args}, {kwargs}; ours does not"
                refused += 1
    print(f"{short(op)}: {refused} refusals")
    assert refused >= 8


def module_tests():
    """The interpolations among the samples of PyTorch's module tests, which are older than OpInfo."""
    for case in package()[1].get_new_module_tests():
        forward = getattr(case.get("constructor"), "forward", None)
        closed_over = inspect.getclosurevars(forward).nonlocals if forward else {}
        if closed_over.get("fn") is torch.nn.functional.interpolate:
            yield case["fullname"], case["input_size"], closed_over["kwargs"]


def test_module_tests():
    found = list(module_tests())
    assert len(found) >= 40  # PyTorch 2.13: 42
    for name, shape, kwargs in found:
        torch.manual_seed(0)
        x = torch.randn(shape, dtype=torch.float64, requires_grad=True)
        outs = [f(x, **kwargs) for f in (tenter.interpolate, torch.nn.functional.interpolate)]
        cotangent = torch.randn(outs[1].shape, dtype=torch.float64)
        gradients = [torch.autograd.grad(out, x, cotangent)[0] for out in outs]
        for ours, theirs in (outs, gradients):
            torch.testing.assert_close(
                ours, theirs, rtol=1e-12, atol=1e-12, msg=lambda said, name=name: f"{name}: {said}"
            )
