#include "families.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>

#include "byte_step.hpp"
#include "memory.hpp"
#include "pillow_rows.hpp"
#include "results.hpp"
#include "window_step.hpp"

namespace tenter {
namespace {

// Beyond these Python's code checks whether the machine has the memory; and tables of longer axes have other rules.
constexpr int64_t most_bytes = int64_t(1) << 28, most_length = int64_t(1) << 40;
constexpr int64_t longest_row = 1 << 16, longest_byte_axis = 1 << 24;

// Scratch for one call, recycled where it is large.
struct Room {
  std::unique_ptr<Block> block;
  std::unique_ptr<char[]> bytes;
  char* get(int64_t n) {
    if (n >= large && recycles()) return (block = std::make_unique<Block>(n))->p;
    return (bytes = std::make_unique_for_overwrite<char[]>(size_t(n))).get();
  }
};

// An axis's map, made for one call.
struct Made {
  std::optional<Sampling> sampling;
  std::optional<OwnedMap> map;
  std::optional<OwnedByteMap> byte_map;
  bool is_identity = false;

  // False where Python's code shall make it.
  bool make(const Family::Axis& a, int64_t n_in, int64_t n_out) {
    if (a.rule) {
      sampling.emplace(a.rule->sampling(n_in, n_out));
      if (sampling->taps_each() > longest_row) return false;
      map.emplace(nb::object(), *sampling, false, false);
      is_identity = map->is_identity();
      return true;
    }
    is_identity = n_in == n_out;
    if (is_identity) return true;
    const double taps = std::min(double(n_in), 2 * (a.support * std::max(1.0, double(n_in) / double(n_out)) + 1));
    if (n_in > longest_byte_axis || taps * double(n_out) > double(most_bytes) / 16) return false;
    const PillowRows rows = pillow_rows(PillowFilter(a.filter), n_in, 0, float(n_in), n_out);
    if (!fits_bytes(n_out, rows.offset.data(), rows.weight.data())) return false;
    byte_map.emplace(n_in, n_out, rows.start.data(), rows.offset.data(), rows.weight.data());
    return true;
  }
  // For a kernel of several axes.
  bool make_tables() {
    if (!map->is_computed()) return true;
    if (double(map->n_taps()) + 2.0 * double(map->map.n_out) > double(most_bytes) / 16) return false;
    map.emplace(nb::object(), *sampling, false, true);
    return true;
  }
};

// Dims of an array, made contiguous in their order.
void pack(const Dim* dims, int n, int64_t itemsize, const char* src, char* dst, int threads) {
  CopyAxis axes[max_read_dims];
  for (int k = 0; k < n; ++k) axes[k] = {CopyAxis::affine, dims[k].n, dims[k].n, dims[k].stride, 1, nullptr};
  CopyTask task{};
  copy_pass(itemsize, axes, n, task);
  task.src = src, task.dst = dst;
  if constexpr (verifies) verify(task);
  kernels().copy(task, threads);
}

void set_contiguous(Dim* dims, int n, int64_t itemsize) {
  for (int k = n - 1; k >= 0; --k) dims[k].stride = itemsize, itemsize *= dims[k].n;
}

}  // namespace

PyObject* Family::run(PyObject* x, const ArrayView& from, PyObject* size) const {
  const int64_t itemsize = from.dtype->itemsize;
  int64_t shape[max_read_dims], n_in = 1, n_out = 1;
  std::copy_n(from.shape, ndim, shape);
  for (int k = 0; k < n_axes; ++k) {
    int overflow = 0;
    PyObject* const given = PyTuple_CheckExact(size) ? PyTuple_GetItem(size, k) : size;
    const int64_t n = PyLong_AsLongLongAndOverflow(given, &overflow);
    if (overflow || n < 1 || n > most_length) return nullptr;
    shape[axes[k].dim] = n;
  }
  for (int d = 0; d < ndim; ++d)
    if (__builtin_mul_overflow(n_in, from.shape[d], &n_in) || __builtin_mul_overflow(n_out, shape[d], &n_out))
      return nullptr;
  if (n_in < 1 || n_out < 1 || n_in > most_length || n_out > most_bytes / itemsize) return nullptr;
  if (from.tensor) {
    const int held = holds(x, *from.dtype, from.extent());
    if (held != 1) return nullptr;
  }

  Made made[most_together];
  Dim dims[max_read_dims];
  Pass pass{dims, ndim, -1, 0};
  Made* maps[most_together];
  const bool turned = channels_last && channels_together(from.shape[order[1]], n_in, n_out);
  const auto placed = [&](int k) { return order[!turned || k == 0 ? k : k + 1 < ndim ? k + 1 : 1]; };
  for (int k = 0; k < ndim; ++k) {
    const int d = placed(k);
    dims[k] = {from.shape[d], from.shape[d] > 1 ? from.stride[d] : 0};
    for (int a = 0; a < n_axes; ++a) {
      if (axes[a].dim != d) continue;
      if (!made[a].make(axes[a], from.shape[d], shape[d])) return nullptr;
      if (made[a].is_identity) continue;
      if (pass.count == 0) pass.first = k;
      else if (pass.first + pass.count != k) return nullptr;
      maps[pass.count++] = made + a;
    }
  }
  const bool bytes = !axes[0].rule;
  if (!pass.count || (bytes && pass.count > 2)) return nullptr;

  WindowTask task{};
  ByteTask byte_task{};
  OwnedMap* windows[most_together];
  Deciding deciding[most_together];
  int64_t n_plane = 1;
  bool rows_first = false, columns = false;
  task.in = task.out = Dtype(from.dtype->number), task.acc = acc;
  for (int k = 0; k < pass.count && !bytes; ++k) {
    if (pass.count > 1 && !maps[k]->make_tables()) return nullptr;
    windows[k] = &*maps[k]->map, deciding[k] = {dims[pass.first + k].n, windows[k]};
  }
  if (bytes && pass.count == 2) {
    const ByteMap &row = maps[0]->byte_map->map, &column = maps[1]->byte_map->map;
    rows_first = rows_before(row.n_in, row.n_out, column.n_in, column.n_out);
  }
  auto planned = [&] {
    return bytes ? byte_pass(pass, rows_first, byte_task, columns)
                 : window_pass(pass, windows, deciding, false, task, n_plane);
  };
  Dim given[max_read_dims];
  const bool packs = !planned();
  if (packs) {
    std::copy_n(dims, ndim, given);
    set_contiguous(dims, ndim, itemsize);
    if (!planned()) return nullptr;
  }
  if ((n_in * packs + n_out * (1 + turned)) * itemsize > most_bytes) return nullptr;

  const bool small = std::max(n_in, n_out) * itemsize < small_bytes;
  const int threads = small ? 1 : thread_count();
  if (!threads) return nullptr;
  char* to;
  bool stream;
  Owned y(result_of(x, from, shape, ndim, n_out * itemsize, to, stream, order_tuple.get()));
  if (!y) return nullptr;
  const auto copied = [&](const Dim* dims, const char* src, char* dst) {
    if (small) pack(dims, ndim, itemsize, src, dst, 1);
    else without_gil([&] { pack(dims, ndim, itemsize, src, dst, threads); });
    return dst;
  };
  const auto run_step = [&](const auto& step) {
    Room packed, held;
    const char* const src = packs ? copied(given, from.data, packed.get(n_in * itemsize)) : from.data;
    char* const dst = turned ? held.get(n_out * itemsize) : to;
    const auto source = reinterpret_cast<uintptr_t>(src), target = reinterpret_cast<uintptr_t>(dst);
    if (small) step.run_here(source, target);
    else step.run(source, target, threads, stream && !turned);
    if (!turned) return;
    Dim made[max_read_dims], in_order[max_read_dims];
    for (int k = 0; k < ndim; ++k) made[k].n = shape[placed(k)];
    set_contiguous(made, ndim, itemsize);
    for (int k = 0; k < ndim; ++k) in_order[k] = made[k == 0 ? 0 : k == 1 ? ndim - 1 : k - 1];
    copied(in_order, dst, to);
  };
  const bool ran = no_exception([&] {
    if (!bytes) return run_step(WindowStep(task, n_plane, windows, pass.count));
    OwnedByteMap* const last = &*maps[pass.count - 1]->byte_map;
    OwnedByteMap* const row = pass.count == 2 ? &*maps[0]->byte_map : columns ? nullptr : last;
    run_step(ByteStep(byte_task, row, columns ? last : nullptr));
  });
  return ran ? y.release() : nullptr;
}

bool LayoutClass::of(const ArrayView& x) {
  int64_t step[max_read_dims];
  for (int d = 0; d < x.ndim; ++d) {
    from_slow[d] = uint8_t(d), step[d] = std::abs(x.stride[d]);
    ones |= (x.shape[d] == 1) << d, zeros |= (step[d] == 0) << d, negative |= (x.stride[d] < 0) << d;
    if (x.shape[d] == 0 || (x.shape[d] > 1 && step[d] == 0)) return false;
  }
  std::stable_sort(from_slow, from_slow + x.ndim, [&](int a, int b) { return step[a] > step[b]; });
  int before = -1;  // of those that are stepped over
  for (int k = 0; k < x.ndim; ++k) {
    const int d = from_slow[k];
    if (k) equal |= (step[from_slow[k - 1]] == step[d]) << k;
    for (int e = 0; e < x.ndim; ++e) below |= uint64_t(step[d] / x.shape[e] < step[e]) << (8 * d + e);
    if (x.shape[d] == 1) continue;
    if (before >= 0 && step[before] / x.shape[d] < step[d]) return false;
    before = d;
  }
  return true;
}

}  // namespace tenter
