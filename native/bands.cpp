#include "bands.hpp"

#include <algorithm>

#include "signals.hpp"
#include "threads.hpp"

namespace tenter {
namespace {

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

}  // namespace

// Where an axis is periodic, outputs that are a whole number of periods apart read inputs by the same rows: the axis is
// cut into tiles of that many outputs, which are the rows of one call with the tables of one tile. What is left at the
// edges, and axes without a short period, are cut into bands with tables of their own.
void window_in_bands(const WindowTask& t, const OwnedMap& of, int threads) {
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
  int64_t lo = 0, hi = 0, tile = 0, shift = 0;  // outputs [lo, hi) are whole tiles, whose inputs are `shift` apart
  SignalTask signal;
  std::vector<uint8_t> left;
  const bool filtered = of.sampling && of.sampling->is_filtered_signal();  // whose weights cost more than a table's
  const bool is_signal = signal_task(t, of, signal);
  if (is_signal && !filtered) {
    k.signals(signal, threads);
    lo = signal.lo, hi = signal.hi;
  } else if (columns && of.periods(n_out / min_tiles, tile, shift)) {
    of.interior(lo, hi);
    const int64_t want = std::clamp<int64_t>(std::min(band, (hi - lo) / min_tiles), 1, band),
                  times = ceil_div(want, tile);
    tile *= times, shift *= times;
    hi = lo + (hi - lo) / tile * tile;
  }
  if (tile && hi - lo >= min_tiles * tile) {
    Tables tables;
    tables.make(of, lo, lo + tile, t.acc);
    run(call, tables, lo, (hi - lo) / tile, shift, threads);
  } else if (is_signal && filtered) {
    lo = signal.lo, hi = signal.hi;
    left.resize(size_t(ceil_div(hi - lo, left_targets)));
    signal.left = left.data();
    k.signals(signal, threads);
  } else if (tile) {
    lo = hi = 0;
  }
  for (size_t b = 0; b < left.size(); ++b) {
    if (!left[b]) continue;
    const size_t first = b;
    while (b + 1 < left.size() && left[b + 1] && int64_t(b + 2 - first) * left_targets <= band) ++b;
    const int64_t from = lo + int64_t(first) * left_targets;
    Tables tables;
    tables.make(of, from, std::min(hi, lo + int64_t(b + 1) * left_targets), t.acc);
    run(call, tables, from, 1, 0, 1);
  }
  const int64_t before = ceil_div(lo, band), after = ceil_div(n_out - hi, band);
  const int64_t values = outer * std::max(of.map.n_in, n_out) * inner * 8;
  parallel(before + after, team_for(values, threads), [&](int64_t b) {
    const int64_t from = b < before ? b * band : hi + (b - before) * band;
    const int64_t to = std::min(b < before ? lo : n_out, from + band);
    Tables tables;
    tables.make(of, from, to, t.acc);
    run(call, tables, from, 1, 0, 1);
  });
}

}  // namespace tenter
