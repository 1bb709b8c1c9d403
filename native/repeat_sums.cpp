#include "repeat_sums.hpp"

#include <algorithm>
#include <list>
#include <optional>
#include <utility>

#include "gil.hpp"
#include "memory.hpp"
#include "new_map.hpp"
#include "owned_map.hpp"
#include "passes.hpp"
#include "results.hpp"
#include "tuning.hpp"
#include "window_step.hpp"

namespace tenter {
namespace {

constexpr int most_dims = 2 * max_read_dims + 1;  // copies and what is copied of each, and the parts of complex numbers
constexpr int complex_code = 5;                   // DLPack's

// Dims from slowest to fastest, and how many neighbors along each are copies of one value.
struct CopiedDims {
  Dim dims[most_dims];
  int64_t times[most_dims];
  int n = 0;

  void add(int64_t length, int64_t stride, int64_t each) { dims[n] = {length, stride}, times[n++] = each; }
  int64_t values(int from) const {
    int64_t found = 1;
    for (int k = from; k < n; ++k) found *= dims[k].n;
    return found;
  }
  int64_t sums(int from) const {
    int64_t found = 1;
    for (int k = from; k < n; ++k) found *= dims[k].n / times[k];
    return found;
  }
};

// Neighbors that one call of the kernel sums along.
struct Together {
  int first, count;
};

std::pair<double, int> cost(const CopiedDims& all, const Together& t) {
  int64_t n[most_together], n_out[most_together];
  for (int k = 0; k < t.count; ++k) n[k] = all.dims[t.first + k].n, n_out[k] = n[k] / all.times[t.first + k];
  return pass_cost(n, n_out, t.count);
}

// tenter._kernels.passes._passes
int passes_of(const CopiedDims& all, Together* to) {
  int summed[most_dims], n = 0;
  for (int k = 0; k < all.n; ++k)
    if (all.times[k] > 1) summed[n++] = k;
  if (!n) return 0;
  int last = 1;  // of the fastest, which are neighbors
  for (int k = 2; k <= std::min(n, most_together); ++k)
    if (summed[n - 1] - summed[n - k] == k - 1) last = k;
  for (int k = 0; k < n - last; ++k) to[k] = {summed[k], 1};
  to[n - last] = {summed[n - last], last};
  const int n_passes = n - last + 1;
  std::stable_sort(to, to + n_passes,
                   [&](const Together& a, const Together& b) { return cost(all, a) < cost(all, b); });
  return n_passes;
}

// A call of the window kernel, whose input is made contiguous if it must be, and what it leaves to the next one.
class SumStep {
 public:
  // False where no kernel does it. all: its input, then its result.
  bool plan(CopiedDims& all, const Together& t, Dtype in, Dtype out, Accumulate acc) {
    OwnedMap* maps[most_together];
    Deciding deciding[most_together];
    n_dims_ = all.n, itemsize_ = size_of(in), bytes_in_ = all.values(0) * itemsize_;
    std::copy_n(all.dims, all.n, unpacked_);
    for (int k = 0; k < t.count; ++k) {
      const int64_t n = all.dims[t.first + k].n, times = all.times[t.first + k];
      maps[k] = &maps_[k].emplace(n, n / times, times, std::nullopt, std::nullopt, std::nullopt);
      deciding[k] = {n, maps[k]};
    }
    WindowTask task{};
    task.in = in, task.out = out, task.acc = acc;
    int64_t n_plane = 1;
    const Pass pass{all.dims, all.n, t.first, t.count};
    packs_ = !window_pass(pass, maps, deciding, false, task, n_plane);
    if (packs_) {
      set_contiguous(all.dims, all.n, itemsize_);
      if (!window_pass(pass, maps, deciding, false, task, n_plane)) return false;
    }
    step_.emplace(task, n_plane, maps, t.count);
    for (int k = t.first; k < t.first + t.count; ++k) all.dims[k].n /= all.times[k], all.times[k] = 1;
    set_contiguous(all.dims, all.n, size_of(out));
    bytes_out_ = all.values(0) * size_of(out);
    return true;
  }
  int64_t bytes_between(bool last) const { return bytes_in_ * packs_ + bytes_out_ * !last; }
  // Where it leaves what the next one reads.
  char* made() { return made_.get(bytes_out_); }

  void run(const char* src, char* dst, int threads, bool stream, bool small) {
    if (packs_) {
      char* const room = packed_.get(bytes_in_);
      const auto copy = [&] { pack(unpacked_, n_dims_, itemsize_, src, room, threads); };
      if (small) copy();
      else without_gil(copy);
      src = room;
    }
    const auto source = reinterpret_cast<uintptr_t>(src), target = reinterpret_cast<uintptr_t>(dst);
    if (small) step_->run_here(source, target);
    else step_->run(source, target, threads, stream);
  }

 private:
  // Memory that every use of the step shares.
  struct Held {
    Room room;
    char* at = nullptr;
    char* get(int64_t n) { return at ? at : at = room.get(n); }
  };
  std::optional<OwnedMap> maps_[most_together];
  std::optional<WindowStep> step_;
  Dim unpacked_[most_dims];
  int n_dims_;
  int64_t itemsize_, bytes_in_, bytes_out_;
  bool packs_;
  Held packed_, made_;
};

// All dims, or a slice of the slowest.
using Steps = std::list<SumStep>;

class RepeatSums {
 public:
  RepeatSums(const ArrayView& g, const Repeats& by) : dtype_(Dtype(g.dtype->number)), itemsize_(g.dtype->itemsize) {
    const bool in_parts = g.dtype->code == complex_code;
    if (in_parts) itemsize_ /= 2, dtype_ = itemsize_ == 8 ? Dtype::f64 : itemsize_ == 4 ? Dtype::f32 : Dtype::f16;
    CopiedDims given;
    for (int d = 0; d < by.ndim; ++d) {
      const int64_t n = g.shape[d], stride = n > 1 ? g.stride[d] : 0, block = by.each ? 1 : by.shape[d];
      if (by.times[d] == 1) {
        given.add(n, stride, 1);
        continue;
      }
      given.add(n / block, stride * block, by.times[d]);
      if (block > 1) given.add(block, stride, 1);
    }
    if (in_parts) given.add(2, itemsize_, 1);
    int lead = 0;
    while (lead < given.n && given.times[lead] == 1) ++lead;
    const Merged outer(given.dims, given.dims + lead);
    for (int k = 0; k < outer.n; ++k) all_.add(outer.dims[k].n, outer.dims[k].stride, 1);
    for (int k = lead; k < given.n; ++k) all_.add(given.dims[k].n, given.dims[k].stride, given.times[k]);
    n_passes_ = passes_of(all_, passes_);
    if (n_passes_ > 1 && outer.n) set_slices();
  }

  bool plan() {
    if (!n_passes_) return true;  // a copy
    if (!plan_slice(slice_ ? slice_ : 1, steps_)) return false;
    const int64_t left = slice_ ? all_.dims[0].n % slice_ : 0;
    return !left || plan_slice(left, last_steps_);
  }
  int64_t n_in() const { return all_.values(0); }
  int64_t bytes_out() const { return all_.sums(0) * itemsize_; }
  // What lies between the steps, and what they pack.
  int64_t bytes_between() const {
    int64_t found = 0;
    for (const Steps* steps : {&steps_, &last_steps_})
      for (const SumStep& step : *steps) found += step.bytes_between(&step == &steps->back());
    return found;
  }

  void run(const char* src, char* dst, int threads, bool stream, bool small) {
    if (!n_passes_) {
      const auto copy = [&] { pack(all_.dims, all_.n, itemsize_, src, dst, threads); };
      return small ? copy() : without_gil(copy);
    }
    if (!slice_) return run_steps(steps_, src, dst, threads, stream, small);
    const int64_t n = all_.dims[0].n, bytes_each = all_.sums(1) * itemsize_;
    for (int64_t at = 0; at < n; at += slice_)
      run_steps(n - at < slice_ ? last_steps_ : steps_, src + at * all_.dims[0].stride, dst + at * bytes_each, threads,
                stream, small);
  }

 private:
  Accumulate acc() const { return dtype_ == Dtype::f64 ? Accumulate::f64 : Accumulate::f32; }
  Dtype of_sums() const { return dtype_ == Dtype::f64 ? Dtype::f64 : Dtype::f32; }

  // Leading dims are independent, so they go some at a time and what lies between passes stays in cache
  // (tenter._kernels.passes.Filling.windows).
  void set_slices() {
    const int64_t largest = size_of(of_sums()) * std::max(all_.values(1), all_.sums(1));
    slice_ = std::clamp<int64_t>(tuning.slice_bytes / largest, 1, all_.dims[0].n);
  }

  bool plan_slice(int64_t n, Steps& to) {
    CopiedDims left = all_;
    if (slice_) left.dims[0].n = n;
    Dtype in = dtype_;
    for (int p = 0; p < n_passes_; ++p) {
      const Dtype out = p + 1 == n_passes_ ? dtype_ : of_sums();
      if (!to.emplace_back().plan(left, passes_[p], in, out, acc())) return false;
      in = out;
    }
    return true;
  }

  static void run_steps(Steps& steps, const char* src, char* dst, int threads, bool stream, bool small) {
    for (SumStep& step : steps) {
      const bool last = &step == &steps.back();
      char* const to = last ? dst : step.made();
      step.run(src, to, threads, stream && last, small);
      src = to;
    }
  }

  Dtype dtype_;
  int64_t itemsize_;  // of a complex number's part
  CopiedDims all_;
  Together passes_[most_dims];
  int n_passes_;
  int64_t slice_ = 0;  // positions of the slowest dim that are done at a time; 0: all, at once
  Steps steps_, last_steps_;
};

// Whether Python's code takes sums of a dtype in float32 or float64.
bool is_real_or_complex(const KnownDtype& d) { return is_float_number(d.number) || d.code == complex_code; }

}  // namespace

PyObject* sum_repeats(PyObject* g, const ArrayView& from, const Repeats& by, const int64_t* shape, int ndim) {
  if (from.device != on_cpu || !is_real_or_complex(*from.dtype)) return nullptr;
  RepeatSums sums(from, by);
  const int64_t n_in = sums.n_in(), bytes_in = by.bytes_out, bytes_out = sums.bytes_out();
  if (!sums.plan() || sums.bytes_between() > tuning.planned_bytes - bytes_out) return nullptr;
  const bool small = bytes_in < tuning.small_bytes;
  const int threads =
      small || n_in * 16 < tuning.parallel_bytes ? 1 : thread_count();  // 16 bytes a value, as in families.cpp
  char* to;
  bool stream;
  Owned x(threads ? result_of(g, from, shape, ndim, bytes_out, to, stream) : nullptr);
  return x && no_exception([&] { sums.run(from.data, to, threads, stream, small); }) ? x.release() : nullptr;
}

}  // namespace tenter
