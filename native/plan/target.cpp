#include "plan/target.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/kernels.hpp"
#include "plan/passes.hpp"
#include "rules/verify.hpp"
#include "system/integers.hpp"
#include "system/threads.hpp"
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

// Whether no two elements share memory, as the strides tell: each dim steps over all that faster dims span.
bool elements_apart(const ArrayView& x) {
  struct Step {
    int64_t stride, n;
  } steps[max_read_dims];
  int n = 0;
  for (int d = 0; d < x.ndim; ++d)
    if (x.shape[d] > 1) steps[n++] = {x.stride[d] < 0 ? -x.stride[d] : x.stride[d], x.shape[d]};
  // Not std::sort, of which GCC says that it could sort more than 16 steps.
  std::partial_sort(steps, steps + n, steps + n, [](const Step& a, const Step& b) { return a.stride < b.stride; });
  int64_t end = x.dtype->itemsize;
  for (int k = 0; k < n; ++k) {
    if (steps[k].stride < end) return false;
    end += (steps[k].n - 1) * steps[k].stride;
  }
  return true;
}

// A dim of `out`, and bytes between its positions in `out` and in the result.
struct OutDim {
  int64_t n, to, from;
};

void copy_elements(const char* from, char* to, const OutDim& by, int64_t itemsize) {
  const auto copy = [&](auto size) {
    for (int64_t k = 0; k < by.n; ++k) std::memcpy(to + k * by.to, from + k * by.from, size_t(size));
  };
  switch (itemsize) {
    case 1: return copy(std::integral_constant<int, 1>());
    case 2: return copy(std::integral_constant<int, 2>());
    case 4: return copy(std::integral_constant<int, 4>());
    case 8: return copy(std::integral_constant<int, 8>());
    default: return copy(itemsize);
  }
}

// Whether the memory is aligned as kernels need it, which store values of up to 8 bytes.
bool aligned(const ArrayView& x) {
  const int64_t unit = std::min(x.dtype->itemsize, 8);
  return reinterpret_cast<uintptr_t>(x.data) % uintptr_t(unit) == 0;
}

bool is(const ArrayView& a, Dtype dtype) { return a.dtype->number == int(dtype); }

bool is_normalized(const ArrayView& x) { return is(x, Dtype::u8) || is(x, Dtype::f32); }

}  // namespace

Reading Target::read(PyObject* out, const ArrayView& x) {
  object = out;
  if (const Reading found = read_array(out, view); found != Reading::readable) return found;
  const bool has_dtype = normalization.each ? is(view, Dtype::f32) && is_normalized(x) : view.dtype == x.dtype;
  const bool is_taken = view.tensor == x.tensor && has_dtype && view.device == on_cpu && x.device == on_cpu &&
                        is_apart(x) && elements_apart(view);
  return is_taken ? Reading::readable : Reading::unreadable;
}

bool Target::makes_floats(const ArrayView& x) const {
  return normalization.each && x.tensor && x.device == on_cpu && is_normalized(x);
}

bool Target::is_apart(const ArrayView& x) const {
  return lowest(x) + x.extent() <= lowest(view) || lowest(view) + view.extent() <= lowest(x);
}

bool Target::takes(const int64_t* shape, int ndim, const int* order) const {
  if (!object) return true;
  if (view.ndim != ndim || !std::equal(shape, shape + ndim, view.shape)) return false;
  FloatRows rows;
  if (normalization.each) return float_rows(shape, ndim, order, rows);
  return true;
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
  const auto has_order = [&](const int* by) {
    for (int k = 0; k < ndim; ++k)
      if ((order ? order[k] : k) != by[k]) return false;
    return true;
  };
  const bool interleaved = !has_order(planes);
  if ((interleaved && !has_order(pixels)) || !has_layout(planes)) return false;
  to = {reinterpret_cast<float*>(view.data),
        each,
        channels,
        shape[planes[ndim - 2]],
        shape[planes[ndim - 1]],
        interleaved};
  return true;
}

// Loops over the caller's memory in its own order. Each position of the outer dims has a block of adjacent bytes.
void Target::place(const char* made, const int* order, int threads) const {
  if (!view.n_values()) return;
  OutDim steps[max_read_dims];
  const int64_t itemsize = view.dtype->itemsize;
  char* to = view.data;
  int n = 0;
  for (int64_t k = view.ndim - 1, step = itemsize; k >= 0; --k) {
    const int d = order ? order[k] : int(k);
    OutDim one{view.shape[d], view.stride[d], step};
    step *= one.n;
    if (one.n == 1) continue;
    if (one.to < 0) to += (one.n - 1) * one.to, made += (one.n - 1) * one.from, one.to = -one.to, one.from = -one.from;
    steps[n++] = one;
  }
  std::stable_sort(steps, steps + n, [](const OutDim& a, const OutDim& b) { return a.to > b.to; });
  int outer = n;
  for (int64_t run = itemsize; outer && steps[outer - 1].to == run; run *= steps[outer].n) --outer;
  CopyAxis axes[max_read_dims];
  for (int k = outer; k < n; ++k)
    axes[k - outer] = {CopyAxis::affine, steps[k].n, steps[k].n, steps[k].from, 1, nullptr};
  CopyTask block{};
  copy_pass(itemsize, axes, n - outer, block);
  block.src = made, block.dst = to;
  if constexpr (verifies) verify(block);
  if (!outer) return kernels().copy(block, threads);
  const OutDim& last = steps[outer - 1];
  int64_t positions = 1;
  for (int k = 0; k < outer; ++k) positions *= steps[k].n;
  const int64_t bytes = view.n_values() * itemsize;
  const int64_t n_tasks = std::min(positions, ceil_div(bytes, tuning.task_bytes)), each = ceil_div(positions, n_tasks);
  parallel(n_tasks, team_for(bytes, threads), [&](int64_t task) {
    CopyTask one = block;
    const int64_t end = std::min(positions, (task + 1) * each);
    for (int64_t i = task * each; i < end;) {
      const int64_t first = i % last.n, count = std::min(last.n - first, end - i);
      one.src = made + first * last.from, one.dst = to + first * last.to;
      int64_t line = i / last.n;
      for (int k = outer - 2; k >= 0; line /= steps[k--].n)
        one.src += line % steps[k].n * steps[k].from, one.dst += line % steps[k].n * steps[k].to;
      if (n == outer) copy_elements(one.src, one.dst, {count, last.to, last.from}, itemsize);
      else
        for (int64_t k = 0; k < count; ++k, one.src += last.from, one.dst += last.to) kernels().copy(one, 1);
      i += count;
    }
  });
}

}  // namespace tenter
