#include "bands.hpp"

#include <algorithm>

#include "long_rows.hpp"
#include "memory.hpp"
#include "passes.hpp"
#include "signals.hpp"
#include "threads.hpp"

namespace tenter {
namespace {

constexpr int64_t most_long_sums = 4;
constexpr int64_t min_tiles = 16;  // of a periodic axis: as many rows as fill vectors

// The tables of outputs [lo, hi), from the first input that they read on.
struct Tables {
  Rows rows;
  std::vector<float> weight32;
  WindowMap map;
  int64_t first;

  void make(const OwnedMap& of, int64_t lo, int64_t hi, Accumulate acc) {
    of.make_rows(lo, hi, rows);
    const int64_t n = hi - lo;
    first = n ? rows.start[0] : 0;
    for (int64_t& start : rows.start) start -= first;
    if (acc == Accumulate::f32) weight32.assign(rows.weight.begin(), rows.weight.end());
    map = {n ? rows.stop(n - 1) : 0, n, 0, rows.start.data(), rows.offset.data()};
    if (!of.picking) map.weight32 = weight32.data(), map.weight64 = rows.weight.data();
  }
};

// Outputs [lo, hi), a few, each of very many inputs: some of these at a time, so that their weights stay in cache.
void sum_long_rows(const WindowTask& t, const Sampling& rule, int64_t lo, int64_t hi, int threads) {
  constexpr int64_t together = 4096, round = 1 << 22;  // taps; between rounds signals are polled
  int64_t outer = 1;
  for (int d = 0; d < t.n_outer; ++d) outer *= t.outer_shape[d];
  const int64_t inner = t.inner, each = outer * inner, n = hi - lo, n_out = t.outer_pitch / inner;
  std::vector<LongRow> rows;
  std::vector<int64_t> first_part(1, 0);
  for (int64_t o = lo; o < hi; ++o) first_part.push_back(first_part.back() + rows.emplace_back(rule, o).n_parts());
  const Team team{threads, true};
  parallel(first_part.back(), team, [&](int64_t p) {
    const int64_t row = std::upper_bound(first_part.begin(), first_part.end(), p) - first_part.begin() - 1;
    rows[size_t(row)].sum_part(p - first_part[size_t(row)]);
  });
  int64_t longest = 0;
  for (LongRow& row : rows) row.finish(), longest = std::max(longest, row.stop() - row.start());
  std::vector<double> sums(size_t(n * each), -0.0);  // which leaves the first product unchanged
  for (int64_t done = 0; done < longest; done += round) {
    if (done && interrupted && interrupted()) throw Interrupted();
    parallel(n, team, [&](int64_t o) {
      double weight[together];
      const LongRow& row = rows[size_t(o)];
      const int64_t end = std::min(row.stop(), row.start() + done + round);
      for (int64_t at = row.start() + done; at < end; at += together) {
        const int64_t some = std::min(together, end - at);
        row.weights(at, some, weight);
        for (int64_t k = 0; k < each; ++k) {
          const char* src = t.src + at * t.column_stride + k % inner * t.inner_stride;
          int64_t index = k / inner;
          for (int d = t.n_outer - 1; d >= 0; index /= t.outer_shape[d--])
            src += index % t.outer_shape[d] * t.outer_stride[d];
          kernels().add_taps(t.in, t.acc, src, t.column_stride, weight, some, &sums[size_t(o * each + k)]);
        }
      }
    });
  }
  // Stored by the kernel, as its dtypes.
  const bool f64 = t.acc == Accumulate::f64;
  const int64_t start = 0, offset[] = {0, 1};
  const float one32 = 1;
  const double one64 = 1;
  const WindowMap map{1, 1, 0, &start, offset, &one32, &one64};
  std::vector<double> doubles(size_t(n * inner));
  std::vector<float> floats(f64 ? 0 : doubles.size());
  for (int64_t k = 0; k < outer; ++k) {
    for (int64_t o = 0; o < n; ++o)
      for (int64_t i = 0; i < inner; ++i) {
        const LongRow& row = rows[size_t(o)];
        doubles[size_t(o * inner + i)] = row.start() < row.stop() ? sums[size_t(o * each + k * inner + i)] : 0.0;
      }
    floats.assign(doubles.begin(), f64 ? doubles.begin() : doubles.end());
    WindowTask store{};
    store.in = f64 ? Dtype::f64 : Dtype::f32, store.out = t.out, store.acc = t.acc, store.saturate = t.saturate;
    store.src = f64 ? reinterpret_cast<const char*>(doubles.data()) : reinterpret_cast<const char*>(floats.data());
    store.dst = t.dst + (k * n_out + lo) * inner * size_of(t.out);
    store.n_row = 1, store.row_stride = 0, store.row = &map;
    store.n_column = n * inner, store.column_stride = store.inner_stride = size_of(store.in), store.inner = 1;
    kernels().window(store, 1);
  }
}

// Rows at an end of an axis that goes on past its edges, the first of which is output `at`: the few inputs that they
// read are copied into their order. t: with pitches of all outputs.
void window_at_end(WindowTask t, const Ends::Some& end, int64_t n, int64_t at, int threads) {
  if (!n) return;
  const bool columns = t.column != nullptr;
  const int64_t size_in = size_of(t.in), n_read = int64_t(end.order.size());
  Dim dims[max_axes];
  const std::vector<int64_t>* orders[max_axes] = {};
  int count = 0;
  for (int d = 0; d < t.n_outer; ++d) dims[count++] = {t.outer_shape[d], t.outer_stride[d]};
  orders[count] = &end.order;
  dims[count++] = columns ? Dim{t.n_column, t.column_stride} : Dim{t.n_row, t.row_stride};
  dims[count++] = columns ? Dim{t.inner, t.inner_stride} : Dim{t.n_column, t.column_stride};
  int64_t bytes = size_in;
  for (int d = 0; d < count; ++d) bytes *= orders[d] ? n_read : dims[d].n;
  Room room;
  char* const packed = room.get(std::max<int64_t>(1, bytes));
  pack(dims, count, size_in, t.src, packed, threads, orders);
  dims[t.n_outer].n = n_read;
  set_contiguous(dims, count, size_in);
  for (int d = 0; d < t.n_outer; ++d) t.outer_stride[d] = dims[d].stride;
  std::vector<float> weight32;
  if (t.acc == Accumulate::f32) weight32.assign(end.rows.weight.begin(), end.rows.weight.end());
  const WindowMap map{
      n_read, n, 0, end.rows.start.data(), end.rows.offset.data(), weight32.data(), end.rows.weight.data()};
  if (columns) t.column = &map, t.n_column = n_read, t.column_stride = dims[count - 2].stride;
  else t.row = &map, t.n_row = n_read, t.row_stride = dims[count - 2].stride;
  if (columns) t.inner_stride = size_in;
  else t.column_stride = size_in;
  t.src = packed, t.dst += at * (columns ? t.inner : t.n_column) * size_of(t.out);
  if constexpr (verifies) verify(t, 1);
  kernels().window(t, threads);
}

}  // namespace

// Where an axis is periodic, outputs that are a whole number of periods apart read inputs by the same rows: the axis is
// cut into tiles of that many outputs, which are the rows of one call with the tables of one tile. What is left at the
// edges, and axes without a short period, are cut into bands with tables of their own.
void window_in_bands(const WindowTask& t, OwnedMap& of, int threads) {
  const bool columns = t.column != nullptr;
  const int64_t n_out = of.map.n_out, inner = columns ? t.inner : t.n_column * t.inner;
  const int64_t stride = columns ? t.column_stride : t.row_stride, size = size_of(t.out);
  const int64_t taps = std::max<int64_t>(1, of.taps_each());
  const int64_t band = std::clamp<int64_t>(tuning.tap_block / taps, 1, tuning.tap_outputs);
  WindowTask call = t;
  call.row_pitch = n_out * inner, call.outer_pitch = n_out * inner;
  const Kernels& k = kernels();
  int64_t outer = 1;
  for (int d = 0; d < t.n_outer; ++d) outer *= t.outer_shape[d];
  // Columns of many rows, and one row's tiles, can be permuted.
  auto run = [&](WindowTask part, const Tables& tables, int64_t lo, int64_t tiles, int64_t shift, int team) {
    part.src += tables.first * stride, part.dst += lo * inner * size;
    PermuteTables permutes;
    if (columns) {
      part.column = &tables.map, part.n_column = tables.map.n_in;
      part.n_row = tiles, part.row_stride = shift * stride;
      if (tiles > 1) part.row_pitch = tables.map.n_out * inner;
      const bool f64 = t.acc == Accumulate::f64;
      if (t.inner <= max_permuted_inner && t.acc != Accumulate::i64 && outer * tiles >= min_permuted_rows &&
          make_permute_tables(tables.map, t.inner, f64 ? k.double_lanes : k.float_lanes, f64 ? 8 : 4, permutes))
        part.permutes = &permutes;
    } else {
      part.row = &tables.map, part.n_row = tables.map.n_in;
    }
    if constexpr (verifies) verify(part, 1);
    k.window(part, team);
  };
  // Of outputs [first, last), as others have rows of their own, [lo, hi) are whole tiles, whose inputs are `shift`
  // apart.
  const bool gathers = of.gathers();
  const int64_t first = gathers ? of.ends->lo : 0, last = gathers ? of.ends->hi : n_out;
  int64_t lo = first, hi = first, tile = 0, shift = 0;
  // A few values at a time are summed as fast as their weights are made; of more each weight is used by several.
  const bool is_long = columns && outer * inner <= most_long_sums && of.sampling && !of.transposed && !of.ends &&
                       of.sampling->has_long_rows();
  SignalTask signal;
  std::vector<uint8_t> left;
  const bool is_signal = signal_task(t, of, signal), stretched = is_signal && signal.kind == SignalTask::stretched;
  // Whose weights cost more than a table's.
  const bool filtered = stretched || (of.sampling && of.sampling->is_filtered_signal());
  if (is_signal && !filtered) {
    k.signals(signal, threads);
    lo = signal.lo, hi = signal.hi;
  } else if (of.inside) {
    WindowTask part = call;
    part.dst += first * inner * size;
    if (columns) part.column = &of.inside->map;
    else part.row = &of.inside->map;
    const bool f64 = t.acc == Accumulate::f64;
    if (columns && t.inner <= max_permuted_inner && outer >= min_permuted_rows)
      part.permutes = of.inside->permute_tables(t.inner, f64 ? k.double_lanes : k.float_lanes, f64 ? 8 : 4);
    if constexpr (verifies) verify(part, 1);
    if (first < last) k.window(part, threads);
    lo = first, hi = last;
  } else if (columns && !stretched && of.periods(n_out / min_tiles, tile, shift)) {
    of.interior(lo, hi);
    const int64_t want = std::clamp<int64_t>(std::min(band, (hi - lo) / min_tiles), 1, band),
                  times = ceil_div(want, tile);
    tile *= times, shift *= times;
    hi = lo + (hi - lo) / tile * tile;
  }
  if (is_long && !is_signal && hi - lo < min_tiles * tile) lo = first, hi = last, tile = 0;
  if (is_long && !is_signal && !tile) {
    sum_long_rows(call, *of.sampling, first, last, threads);
    lo = first, hi = last;
  } else if (tile && hi - lo >= min_tiles * tile) {
    Tables tables;
    tables.make(of, lo, lo + tile, t.acc);
    run(call, tables, lo, (hi - lo) / tile, shift, threads);
  } else if (is_signal && filtered && !of.inside) {
    lo = signal.lo, hi = signal.hi;
    left.resize(size_t(ceil_div(hi - lo, left_targets)));
    signal.left = left.data();
    k.signals(signal, threads);
  } else if (tile) {
    lo = hi = first;
  }
  for (size_t b = 0; b < left.size(); ++b) {
    if (!left[b]) continue;
    const size_t begin = b;
    while (b + 1 < left.size() && left[b + 1] && int64_t(b + 2 - begin) * left_targets <= band) ++b;
    const int64_t from = lo + int64_t(begin) * left_targets;
    Tables tables;
    tables.make(of, from, std::min(hi, lo + int64_t(b + 1) * left_targets), t.acc);
    run(call, tables, from, 1, 0, 1);
  }
  const int64_t before = ceil_div(lo - first, band), after = ceil_div(last - hi, band);
  const int64_t values = outer * std::max(of.map.n_in, n_out) * inner * 8;
  parallel(before + after, team_for(values, threads), [&](int64_t b) {
    const int64_t from = b < before ? first + b * band : hi + (b - before) * band;
    const int64_t to = std::min(b < before ? lo : last, from + band);
    Tables tables;
    tables.make(of, from, to, t.acc);
    run(call, tables, from, 1, 0, 1);
  });
  if (!gathers) return;
  window_at_end(call, of.ends->before, first, 0, threads);
  window_at_end(call, of.ends->after, n_out - last, last, threads);
}

}  // namespace tenter
