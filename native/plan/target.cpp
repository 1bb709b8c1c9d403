#include "plan/target.hpp"

#include <algorithm>
#include <cstring>

#include "kernels/kernels.hpp"
#include "plan/passes.hpp"
#include "rules/verify.hpp"
#include "system/tuning.hpp"

namespace tenter {

thread_local bool defers_signals = false;

namespace {

const char* lowest(const ArrayView& x) {
  const char* at = x.data;
  for (int d = 0; d < x.ndim; ++d)
    if (x.stride[d] < 0 && x.shape[d] > 0) at += (x.shape[d] - 1) * x.stride[d];
  return at;
}

bool apart(const ArrayView& x, const ArrayView& y) {
  return lowest(x) + x.extent() <= lowest(y) || lowest(y) + y.extent() <= lowest(x);
}

// Whether no two elements share memory, as the strides tell: each dim steps over all that faster dims span.
bool elements_apart(const ArrayView& x) {
  struct Step {
    int64_t stride, n;
  } steps[max_read_dims];
  int n = 0;
  for (int d = 0; d < x.ndim; ++d)
    if (x.shape[d] > 1) steps[n++] = {x.stride[d] < 0 ? -x.stride[d] : x.stride[d], x.shape[d]};
  std::sort(steps, steps + n, [](const Step& a, const Step& b) { return a.stride < b.stride; });
  int64_t end = x.dtype->itemsize;
  for (int k = 0; k < n; ++k) {
    if (steps[k].stride < end) return false;
    end += (steps[k].n - 1) * steps[k].stride;
  }
  return true;
}

// Whether the memory is aligned as kernels need it, which store values of up to 8 bytes.
bool aligned(const ArrayView& x) {
  const int64_t unit = std::min(x.dtype->itemsize, 8);
  return reinterpret_cast<uintptr_t>(x.data) % uintptr_t(unit) == 0;
}

}  // namespace

bool Target::read(PyObject* out, const ArrayView& x) {
  object = out;
  if (read_array(out, view) != Reading::readable || view.tensor != x.tensor) return false;
  const auto is = [](const ArrayView& a, Dtype dtype) { return a.dtype->number == int(dtype); };
  const bool has_dtype =
      normalization.each ? is(view, Dtype::f32) && (is(x, Dtype::u8) || is(x, Dtype::f32)) : view.dtype == x.dtype;
  return has_dtype && view.device == on_cpu && x.device == on_cpu && apart(x, view) && elements_apart(view);
}

bool Target::takes(const int64_t* shape, int ndim, const int* order) const {
  if (view.ndim != ndim || !std::equal(shape, shape + ndim, view.shape)) return false;
  FloatRows rows;
  if (normalization.each) return float_rows(shape, ndim, order, rows);
  return has_layout(order) || view.n_values() <= tuning.apart_bytes / view.dtype->itemsize;
}

bool Target::has_layout(const int* order) const { return view.contiguous(order) && aligned(view); }

bool Target::float_rows(const int64_t* shape, int ndim, const int* order, FloatRows& to) const {
  const auto [each, channels, channel] = normalization;
  if (ndim < 2 + (channel >= 0) || (channel >= 0 && shape[channel] != channels)) return false;
  // The order of dims in `out`: the channels are third to last. In the result they are there, or last.
  int planes[max_read_dims], pixels[max_read_dims], n = 0;
  for (int d = 0; d < ndim; ++d)
    if (d != channel) planes[n] = pixels[n] = d, ++n;
  if (channel >= 0) {
    planes[n] = planes[n - 1], planes[n - 1] = planes[n - 2], planes[n - 2] = channel;
    pixels[n] = channel;
  }
  const auto lies = [&](const int* by) {
    for (int k = 0; k < ndim; ++k)
      if ((order ? order[k] : k) != by[k]) return false;
    return true;
  };
  const bool interleaved = !lies(planes);
  if ((interleaved && !lies(pixels)) || !has_layout(planes)) return false;
  to = {reinterpret_cast<float*>(view.data),
        each,
        channels,
        shape[planes[ndim - 2]],
        shape[planes[ndim - 1]],
        interleaved};
  return true;
}

// Loops over the caller's memory in its own order. Contiguous parts of it are copied by one call.
void Target::place(const char* made, const int* order) const {
  struct Step {
    int64_t n, to, from;
  } steps[max_read_dims];
  const int64_t itemsize = view.dtype->itemsize;
  char* to = view.data;
  int n = 0;
  for (int64_t k = view.ndim - 1, step = itemsize; k >= 0; --k) {
    const int d = order ? order[k] : int(k);
    Step one{view.shape[d], view.stride[d], step};
    step *= one.n;
    if (one.n == 1) continue;
    if (one.to < 0) to += (one.n - 1) * one.to, made += (one.n - 1) * one.from, one.to = -one.to, one.from = -one.from;
    steps[n++] = one;
  }
  std::stable_sort(steps, steps + n, [](const Step& a, const Step& b) { return a.to > b.to; });
  int outer = n;
  for (int64_t run = itemsize; outer && steps[outer - 1].to == run; run *= steps[outer].n) --outer;
  CopyAxis axes[max_read_dims];
  for (int k = outer; k < n; ++k)
    axes[k - outer] = {CopyAxis::affine, steps[k].n, steps[k].n, steps[k].from, 1, nullptr};
  CopyTask task{};
  copy_pass(itemsize, axes, n - outer, task);
  int64_t at[max_read_dims] = {};
  for (task.src = made, task.dst = to;;) {
    if constexpr (verifies) verify(task);
    if (task.n_axes) kernels().copy(task, 1);
    else std::memcpy(task.dst, task.src, size_t(task.run));
    int k = outer - 1;
    for (; k >= 0; --k) {
      task.src += steps[k].from, task.dst += steps[k].to;
      if (++at[k] < steps[k].n) break;
      task.src -= steps[k].n * steps[k].from, task.dst -= steps[k].n * steps[k].to, at[k] = 0;
    }
    if (k < 0) return;
  }
}

}  // namespace tenter
