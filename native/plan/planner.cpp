#include "plan/planner.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "plan/groups.hpp"
#include "plan/joined_rows.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

typedef std::vector<MappedDim> Dims;

int64_t values(const Dims& dims) {
  int64_t n = 1;
  for (const MappedDim& d : dims) n *= d.n;
  return n;
}
int64_t values_out(const Dims& dims) {
  int64_t n = 1;
  for (const MappedDim& d : dims) n *= d.n_out();
  return n;
}
// Dims [from, to), where neighbors that are adjacent in memory are one. They have no maps, or their maps do not count.
Merged merged(const Dims& dims, size_t from, size_t to) {
  Dim found[max_axes];
  for (size_t k = from; k < to; ++k) found[k - from] = {dims[k].n, dims[k].stride};
  return Merged(found, found + (to - from));
}
bool all_copy(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end(), [](const MappedDim& d) { return !d.map || d.map->copies(); });
}
bool any_gathers(const Dims& dims) {
  return std::any_of(dims.begin(), dims.end(), [](const MappedDim& d) { return d.map && d.map->gathers(); });
}

// Whether a dim has length 1 and so no place in any order. One that is expanded has its place (`without_expanded`).
bool is_one(const MappedDim& d) { return !d.map && d.n == 1 && d.stride; }

// Strides of dims of length 1 mean nothing.
void unify_ones(Dims& dims, int64_t itemsize) {
  for (MappedDim& d : dims)
    if (!d.map && d.n == 1) d.stride = itemsize;
}

// Sets the strides of contiguous memory.
void set_contiguous(Dims& dims, int64_t itemsize) {
  for (size_t k = dims.size(); k-- > 0;) dims[k].stride = itemsize, itemsize *= dims[k].n;
}

typedef std::vector<size_t> Order;  // of dims

// The dims of a (batch, channels, spatial...) array in memory order, if its channels are last in memory; else empty.
Order channels_last(const Dims& dims) {
  Order order(1, 0);
  for (size_t k = 2; k < dims.size(); ++k) order.push_back(k);
  order.push_back(1);
  int64_t before = INT64_MAX;
  for (const size_t k : order) {
    const MappedDim& d = dims[k];
    if (d.n == 1) continue;
    if (d.stride <= 0 || d.stride >= before) return {};
    before = d.stride;
  }
  return order;
}

// The sums at all positions of an expanded dim are equal: one of them is made, and copied afterwards. Returns whether
// dims have changed.
bool without_expanded(Dims& dims) {
  bool any = false;
  const bool packs =
      std::any_of(dims.begin(), dims.end(), [](const MappedDim& d) { return d.map && d.stride == 0 && d.n > 1; });
  if (!sums_once(values(dims), values_out(dims), packs)) return false;
  for (MappedDim& d : dims)
    if (!d.map && d.stride == 0 && d.n > 1) d.n = 1, any = true;
  return any;
}

// The dims in an order in which adjacent channels are resampled together; the result is put into its order afterwards.
// Empty if that does not pay.
Order with_channels_together(const Dims& dims, int64_t itemsize, const Device& device) {
  const bool is_part = std::any_of(dims.begin(), dims.end(), [](const MappedDim& d) { return d.whole; });
  if (is_part || dims.size() <= 2 || dims[1].map || all_copy(dims)) return {};
  const int64_t n = dims[1].n, made = values_out(dims);
  const bool wide = n >= wide_inner;
  if (n <= 1 || (wide && !(device.wide_channels && dims[1].stride == itemsize))) return {};
  if (!sums_channels_together(values(dims), made, wide, itemsize)) return {};
  return channels_last(dims);
}

// The dims in an order in which two axes that are summed in fixed point are neighbors: apart they would be summed in
// floats, to other bits. Empty if no dim is between them.
Order with_axes_together(const Dims& dims) {
  Order axes, order;
  for (size_t k = 0; k < dims.size(); ++k)
    if (dims[k].map && !dims[k].map->copies()) axes.push_back(k);
  for (size_t k = 0; k < dims.size(); ++k)
    if (k < axes[0] || (k > axes[0] && k < axes[1])) order.push_back(k);
  const bool between =
      std::any_of(order.begin(), order.end(), [&](size_t k) { return k > axes[0] && !is_one(dims[k]); });
  if (!between) return {};
  for (size_t k = 0; k < dims.size(); ++k)
    if (k == axes[0] || k >= axes[1]) order.push_back(k);
  return order;
}

bool in_pillows_order(const AxisMap& row, const AxisMap& column) {
  return rows_before(row.n_in, row.n_out, column.n_in, column.n_out);
}

// Whether 8-bit values are summed in fixed point along a row and a column (byte_taps.hpp). Narrow rows are not.
bool sums_in_fixed_point(const MappedDim& row, const MappedDim& column) {
  if (row.map->linear_steps() && column.map->linear_steps()) return true;
  return column.deciding()->n_out >= least_fixed_columns && row.deciding()->fixed_taps() &&
         column.deciding()->fixed_taps();
}

class Planner {
 public:
  Planner(PlannedArray& x, const Device& device, const AskRoom& room) : x_(x), device_(device), room_(room) {}

  Passes plan(int from, int to) {
    const Buffer source = x_.has_sums ? x_.as_sums(from) : x_.as_given(from);
    const Buffer target = x_.rounding == Rounding::kept ? x_.as_sums(to) : x_.as_given(to);
    x_.dtype = source.dtype, x_.itemsize = source.itemsize;
    made_.chunks.source = from, made_.chunks.target = to;
    unify_ones(x_.dims, x_.itemsize);
    const Dims given = x_.dims;
    Dims& dims = x_.dims;
    if (!all_copy(dims)) settle(dims);
    const bool expands = !all_copy(dims) && without_expanded(dims);
    Order order = with_channels_together(dims, x_.itemsize, device_);
    if (order.empty() && made_.rounding == Rounding::fixed_point) order = with_axes_together(dims);
    if (order.empty() && !expands) {
      steps(source, target, std::move(dims));
      return std::move(made_);
    }
    const Buffer held = temporary(Buffer::reordered, values_out(dims), target.dtype, target.itemsize);
    made_.chunks.target = held.memory;
    for (size_t k = order.size(); k < dims.size(); ++k) order.push_back(k);
    Dims reordered, made, after(dims.size());
    for (const size_t k : order) reordered.push_back(dims[k]), made.push_back({dims[k].n_out(), 0});
    set_contiguous(made, target.itemsize);
    for (size_t k = 0; k < order.size(); ++k) after[order[k]] = made[k];
    for (size_t k = 0; k < given.size(); ++k)
      if (!given[k].map && given[k].n != after[k].n) after[k] = {given[k].n, 0};
    steps(source, held, std::move(reordered));
    made_.after.push_back({true, held, target, std::move(after)});
    return std::move(made_);
  }

 private:
  Buffer temporary(int memory, int64_t n, int dtype, int64_t itemsize) {
    made_.use(memory, n * itemsize, device_.alignment);
    return {memory, 0, dtype, itemsize};
  }

  void steps(Buffer source, Buffer target, Dims dims) {
    if (all_copy(dims)) return made_.passes.push_back({true, source, target, std::move(dims)});
    if (x_.is_complex) {
      source.itemsize /= 2, target.itemsize /= 2;
      dims.push_back({2, source.itemsize});
    }
    windows(source, target, std::move(dims));
  }

  void windows(Buffer source, Buffer target, Dims dims) {
    dims.erase(std::remove_if(dims.begin(), dims.end(), is_one), dims.end());
    const Dims given = dims;
    if (device_.crops) crop(source, dims);
    const Grouping by{x_.dtype, size_of_sums(), made_.rounding, made_.rows_first, device_};
    std::vector<Group> groups = grouped(dims, by);
    for (const Group& g : groups) ask_room(g, dims);
    separate_long_sums(dims, by, groups);
    if (device_.crops) uncrop(given, groups, source, dims);
    const bool one = groups.size() == 1;
    if (one && !packs(groups[0], dims) && (!any_gathers(dims) || takes(groups[0], dims)))
      return window(groups[0], source, target, std::move(dims), 1);
    size_t lead = 0;
    while (!dims[lead].map) ++lead;
    const Merged outer = merged(dims, 0, lead);
    const int fewer = int(lead) - outer.n;
    dims.erase(dims.begin(), dims.begin() + fewer);
    for (int k = 0; k < outer.n; ++k) dims[size_t(k)] = {outer.dims[k].n, outer.dims[k].stride};
    for (Group& g : groups) g.first -= g.copies ? 0 : fewer;
    run_chunks(source, target, dims, size_t(outer.n), groups);
  }

  // Decides what the result's bits depend on: the type of sums, how they are rounded, and the order of two axes if that
  // is between them. Whole maps decide, so that a part of a result has the bits of the whole.
  void settle(const Dims& dims) {
    const MappedDim* summed[2] = {};
    int n = 0;
    bool ones = true, bytes = device_.sums_bytes;
    for (const MappedDim& d : dims) {
      if (!d.map || d.map->copies()) continue;
      AxisMap& m = *d.deciding();
      if (n < 2) summed[n] = &d;
      ++n, ones = ones && m.ones(), made_.is_filtered_signal |= m.is_filtered_signal();
      if (m.has_long_rule() && (by_axis(x_.rounding) || m.gathers())) room_(m.table_bytes());
      bytes = bytes && by_axis(x_.rounding) && m.has_bytes();
    }
    made_.rounding = x_.rounding;
    if (by_axis(x_.rounding)) {
      made_.rounding = bytes ? Rounding::integers : Rounding::clamped;
      made_.rows_first = n == 2 && in_pillows_order(*summed[0]->deciding(), *summed[1]->deciding());
    } else if (x_.rounding == Rounding::once && n == 2 && device_.chunks && x_.dtype == int(Dtype::u8)) {
      if (sums_in_fixed_point(*summed[0], *summed[1])) made_.rounding = Rounding::fixed_point;
    }
    made_.acc = ones && !is_float(Dtype(x_.dtype)) ? Accumulate::i64 : sums_of(Dtype(x_.dtype));
  }

  // A pass of several axes needs tables.
  void ask_room(const Group& g, const Dims& dims) const {
    for (int k = g.first; !g.copies && g.count > 1 && k < g.first + g.count; ++k) {
      AxisMap* const m = dims[size_t(k)].map;
      if (m && m->has_long_rule()) room_(m->table_bytes());
    }
  }

  // Leaves out inputs at the ends of axes that no row reads, such as those around a box.
  void crop(Buffer& source, Dims& dims) {
    int n = 0;
    for (const MappedDim& d : dims) n += d.map && !d.map->copies();
    for (MappedDim& d : dims) {
      if (!d.map || d.map->kind != AxisMap::Kind::sums) continue;
      const auto [first, map] = d.map->cropped(n > 1);
      source.at += first * d.stride, d.n = map->n_in, d.map = map;
      if (d.whole && d.whole->kind == AxisMap::Kind::sums) d.whole = d.whole->cropped(n > 1).second;
    }
  }

  // Keeps inputs that no row reads where the first pass sums a slower axis. Without them the dims inside of that axis
  // may not be adjacent in memory, and would be copied for its kernel.
  void uncrop(const Dims& given, const std::vector<Group>& groups, Buffer& source, Dims& dims) const {
    const Group& first = groups[0];
    if (groups.size() == 1 || first.copies || any_gathers(dims)) return;
    const size_t inside = size_t(first.first + first.count);
    double growth = 1;
    for (const Group& g : groups)
      for (size_t k = inside; k < dims.size(); ++k)
        if (g.has(int(k), dims[k]) && g.count > 1) return;  // its order of axes depends on what is left out
    for (size_t k = inside; k < dims.size(); ++k)
      growth *= double(given[k].n) / double(std::max<int64_t>(1, dims[k].n));
    const int n = merged(dims, inside, dims.size()).n, n_given = merged(given, inside, dims.size()).n;
    if (!keeps_ends(growth, n == 1, n_given == 1)) return;
    for (size_t k = inside; k < dims.size(); ++k) {
      if (dims[k].n == given[k].n) continue;
      source.at -= given[k].map->cropped(true).first * given[k].stride;  // `true`: there are several groups
      dims[k] = given[k];
    }
  }

  // Whether columns are far apart, so that the rows of a chunk are made contiguous first (joined_rows.hpp). A chunk has
  // to hold all rows that share cache lines.
  bool packs(const Group& g, const Dims& dims) const {
    if (!device_.chunks || g.copies || g.count != 1 || is_bytes()) return false;
    const size_t at = size_t(g.first);
    const MappedDim& d = dims[at];
    const int64_t inner = values(Dims(dims.begin() + g.first + 1, dims.end())), size = size_of(Dtype(x_.dtype));
    if (inner >= wide_inner || !d.map || d.map->gathers() || d.map->has_long_rule()) return false;
    size_t closest = at;
    for (size_t k = 0; k < at; ++k)
      if (dims[k].n > 1 && (closest == at || std::abs(dims[k].stride) < std::abs(dims[closest].stride))) closest = k;
    Packing of{d.n, d.n_out(), 1, d.n * inner, tuning.chunk_bytes / size, far_apart(d.n, d.stride, inner * size)};
    for (size_t k = closest; k < at; ++k) of.n_rows *= dims[k].n;
    return tenter::packs(of);
  }

  // Whether the kernel computes a gather without first copying all inputs into order.
  bool takes(const Group& g, const Dims& dims) const {
    return device_.computes_gathers && g.count == 1 && dims[size_t(g.first)].map->computes_gather() && !is_bytes();
  }

  bool is_bytes() const { return made_.rounding == Rounding::integers; }
  int64_t size_of_sums() const { return is_bytes() ? 1 : made_.acc == Accumulate::f32 ? 4 : 8; }
  int dtype_of_sums() const {
    if (is_bytes()) return int(Dtype::u8);
    return int(made_.acc == Accumulate::i64 ? Dtype::i64 : made_.acc == Accumulate::f64 ? Dtype::f64 : Dtype::f32);
  }

  // The largest number of bytes between two passes, including inputs that gathers have copied into order.
  int64_t largest_between(const Dims& dims, const std::vector<Group>& groups) {
    int64_t n = values(dims), most = 0;
    for (size_t p = 0; p < groups.size(); ++p) {
      for (size_t k = 0; k < dims.size(); ++k) {
        const MappedDim& d = dims[k];
        if (!groups[p].has(int(k), d) || !d.map) continue;
        if (d.map->gathers() && !takes(groups[p], dims)) most = std::max(most, n / d.n * d.map->n_read() * x_.itemsize);
        if (p == 0 && packs(groups[p], dims)) most = std::max(most, n * x_.itemsize);
        n = n / d.n * d.n_out();
      }
      if (p + 1 < groups.size()) most = std::max(most, n * (groups[p].copies ? x_.itemsize : size_of_sums()));
    }
    return most;
  }

  void run_chunks(Buffer source, Buffer target, Dims& dims, size_t n_outer, const std::vector<Group>& groups) {
    Chunks& s = made_.chunks;
    int64_t step = target.itemsize * values_out(dims);
    for (size_t k = 0; device_.chunks && k < n_outer && values(dims) > 0; ++k) {
      if (largest_between(dims, groups) <= tuning.chunk_bytes) break;
      const int64_t n = std::exchange(dims[k].n, 1);
      step /= n;
      const int64_t each = std::clamp<int64_t>(tuning.chunk_bytes / largest_between(dims, groups), 1, n);
      if (each == 1 && k + 1 < n_outer && largest_between(dims, groups) > tuning.chunk_bytes) {
        s.loops.push_back({n, dims[k].stride, step});
        continue;
      }
      s.n = n, s.each = each, s.source_step = dims[k].stride, s.target_step = step;
      if (n % each) {
        dims[k].n = n % each;
        run_passes(source, target, dims, groups);
        made_.last = std::exchange(made_.passes, {});
      }
      dims[k].n = each;
      break;
    }
    run_passes(source, target, dims, groups);
  }

  void run_passes(Buffer source, Buffer target, Dims dims, const std::vector<Group>& groups) {
    for (size_t p = 0; p < groups.size(); ++p) {
      const Group& g = groups[p];
      const int side = int(p % 2);
      if (!g.copies && !takes(g, dims)) gather(g, source, dims);
      Dims made;
      int64_t n = 1;
      for (size_t k = 0; k < dims.size(); ++k) {
        const bool has = g.has(int(k), dims[k]);
        made.push_back(has ? MappedDim{dims[k].n_out(), 0} : dims[k]);
        n *= made.back().n;
      }
      Buffer out = target;
      if (p + 1 < groups.size()) {
        const int dtype = g.copies ? source.dtype : dtype_of_sums();
        out = temporary(Buffer::temporary + 2 * side, n, dtype, g.copies ? source.itemsize : size_of_sums());
      }
      if (g.copies) {
        for (MappedDim& d : dims)
          if (d.map && !d.map->copies()) d.map = nullptr;
        made_.passes.push_back({true, source, out, std::move(dims)});
      } else {
        for (size_t k = 0; k < dims.size(); ++k)
          if (!g.has(int(k), dims[k])) dims[k].map = dims[k].whole = nullptr;
        window(g, source, out, std::move(dims), 2 * side + 1);
      }
      set_contiguous(made, out.itemsize);
      dims = std::move(made), source = out;
    }
  }

  // Adds the pass that copies the inputs of gathers into the order in which windows then sum them.
  void gather(const Group& g, Buffer& source, Dims& dims) {
    Dims gathered = dims;
    int64_t n = 1;
    bool any = false;
    for (size_t k = 0; k < dims.size(); ++k) {
      MappedDim& d = gathered[k];
      const bool gathers = g.has(int(k), d) && d.map && d.map->gathers();
      if (gathers) {
        const AxisMap::LaidOut& made = d.map->laid_out();
        d.map = made.order.get(), dims[k].map = made.sums.get(), dims[k].n = made.sums->n_in, any = true;
        if (d.whole) dims[k].whole = &d.whole->as_sums();
      } else {
        d.map = nullptr;
      }
      d.whole = nullptr, n *= d.n_out();
    }
    if (!any) return;
    const Buffer held = temporary(Buffer::gathered, n, source.dtype, source.itemsize);
    made_.passes.push_back({true, source, held, std::move(gathered)});
    set_contiguous(dims, held.itemsize);
    source = held;
  }

  void window(const Group& g, Buffer source, Buffer target, Dims dims, int spare) {
    PlannedPass made{false, source, target, std::move(dims), g.first, g.count, Buffer::temporary + spare};
    if (device_.chunks && !is_bytes()) {
      Dim all[max_axes];
      for (size_t k = 0; k < made.dims.size(); ++k) all[k] = {made.dims[k].n, made.dims[k].stride};
      OwnedMap& map = made.dims[size_t(g.first)].map->sums(g.count > 1);
      made.packs = packs_rows({all, int(made.dims.size()), g.first, g.count}, map, Dtype(source.dtype), made_.acc);
    }
    made_.passes.push_back(std::move(made));
  }

  PlannedArray& x_;
  const Device& device_;
  const AskRoom& room_;
  Passes made_;
};

}  // namespace

void use_temporary(std::vector<int64_t>& temporaries, int memory, int64_t bytes, int64_t alignment) {
  const size_t k = size_t(memory - Buffer::temporary);
  if (k >= temporaries.size()) temporaries.resize(k + 1, 0);
  temporaries[k] = std::max(temporaries[k], (bytes + alignment - 1) / alignment * alignment);
}

PlannedArray PlannedArray::before() const {
  PlannedArray made = *this;
  made.rounding = Rounding::kept;
  return made;
}

Buffer PlannedArray::as_sums(int memory) const {
  const Dtype sums = sums_of(Dtype(dtype)) == Accumulate::f64 ? Dtype::f64 : Dtype::f32;
  return {memory, 0, int(sums), size_of(sums) * (is_complex ? 2 : 1)};
}

Passes plan_passes(PlannedArray&& x, const Device& device, int from, int to, const AskRoom& room) {
  return Planner(x, device, room).plan(from, to);
}

}  // namespace tenter
