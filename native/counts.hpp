// repeat_interleave by counts that are used once, without a map or a plan, of a contiguous array (outer, n, inner).
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "offsets.hpp"
#include "permute_tables.hpp"
#include "tuning.hpp"
#include "verify.hpp"

namespace tenter {

// It stores all n + 1 offsets, which its transpose (segment sums, for gradients) and Python read too. Of many scalars a
// table of offsets would be a large part of the memory traffic: `Runs` (bind.cpp) has none.
struct Counts {
  std::vector<int64_t> offset;
  int64_t total = 0;  // or an error, as prefix_sum returns it

  Counts() = default;
  Counts(uintptr_t counts, int dtype, int64_t stride, int64_t n, int threads = 1)
      : offset(size_t(n) + 1),
        total(prefix_sum(reinterpret_cast<const char*>(counts), Dtype(dtype), stride, n, offset.data(), threads)) {}
  int64_t n() const { return int64_t(offset.size()) - 1; }
  void copy(const char* src, char* dst, int64_t outer, int64_t inner_bytes, int threads, bool stream) const {
    CopyTask task;  // its axes are kilobytes, and set as far as they are used
    task.src = src, task.dst = dst, task.run = inner_bytes, task.n_axes = 0, task.stream = stream;
    const int64_t bytes[3] = {outer * total * inner_bytes, total * inner_bytes, inner_bytes};
    if (outer > 1) task.axis[task.n_axes++] = {CopyAxis::affine, outer, outer, n() * inner_bytes, 1, nullptr};
    task.axis[task.n_axes++] = {CopyAxis::runs, n(), total, inner_bytes, 1, offset.data()};
    for (int k = 0; k <= task.n_axes; ++k) task.bytes[k] = bytes[k + 2 - task.n_axes];
    if constexpr (verifies) verify(task);
    kernels().copy(task, threads);
  }
  // The transpose: segment sums of (outer, total, inner).
  void sum(const char* src, char* dst, Dtype dtype, int64_t itemsize, int64_t outer, int64_t inner, int threads,
           bool stream) const {
    const WindowMap map{total, n(), 0, offset.data(), offset.data(), nullptr, nullptr};
    WindowTask task{};
    task.src = src, task.dst = dst, task.stream = stream;
    task.in = task.out = dtype, task.acc = dtype == Dtype::f64 ? Accumulate::f64 : Accumulate::f32;
    if (outer > 1) task.n_outer = 1, task.outer_shape[0] = outer, task.outer_stride[0] = total * inner * itemsize;
    if (inner >= wide_inner) {  // it fills vectors, and rows of it are summed
      task.n_row = total, task.row_stride = inner * itemsize, task.row = &map;
      task.n_column = inner, task.column_stride = itemsize, task.inner = 1, task.inner_stride = itemsize;
    } else {
      task.n_row = 1, task.n_column = total, task.column_stride = inner * itemsize, task.column = &map;
      task.inner = inner, task.inner_stride = itemsize;
    }
    if constexpr (verifies) verify(task, 1);
    const Kernels& k = kernels();
    const bool f64 = task.acc == Accumulate::f64;
    PermuteTables tables;
    if (task.column && inner <= max_permuted_inner && outer >= min_permuted_sum_rows &&
        make_permute_tables(map, inner, f64 ? k.double_lanes : k.float_lanes, f64 ? 8 : 4, tables))
      task.permutes = &tables;
    k.window(task, threads);
  }

  static constexpr int64_t wide_inner = 16;  // WIDE of _kernels/passes.py
};

}  // namespace tenter
