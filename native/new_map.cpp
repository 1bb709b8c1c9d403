#include "new_map.hpp"
#include "rounded.hpp"
#include "tuning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tenter {

// Tables of longer rows and axes have other rules.
constexpr int64_t longest_byte_axis = 1 << 24, longest_rounded = 1 << 16;
constexpr double unit = 1 << 22;  // of rounded weights

namespace {

// Of positions that descend Python's code makes the rows.
std::optional<Sampling> ascending(const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisNumbers& by) {
  std::optional<Sampling> made = rule.sampling(n_in, n_out, by);
  return made && made->line().step.whole >= 0 ? made : std::nullopt;
}

}  // namespace

bool NewMap::make(const Family& family, const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisNumbers& by,
                  Arithmetic how) {
  this->n_in = family.transposed ? n_out : n_in, this->n_out = family.transposed ? n_in : n_out;
  if (how == Arithmetic::pillow) return make_pillow(*rule.of_pillow(), n_in, n_out, by.box);
  sampling = ascending(rule, n_in, n_out, by);
  if (!sampling || sampling->taps_each() > tuning.planned_taps) return false;
  if (goes_on(sampling->edge()) && taps_at_ends(*sampling) > double(tuning.planned_bytes) / 64) return false;
  is_identity = n_in == n_out && OwnedMap(nb::object(), *sampling, false, false).is_identity();
  if (is_identity) return true;  // whose transpose is one
  if (how == Arithmetic::rounded) return make_rounded();
  map.emplace(nb::object(), *sampling, family.transposed, false);
  const bool floats = family.dtype == Dtype::f32 || family.dtype == Dtype::f64;
  return floats || !map->gathers() || !map->picks();  // integers are summed in integers
}

// Weights are rounded where all rows are of adjacent inputs.
bool NewMap::make_rounded() {
  if (sampling->n_in() + sampling->n_out() > longest_rounded) return false;
  Rows made;
  if (!goes_on(sampling->edge())) {
    sampling->make(0, sampling->n_out(), made);
    return round_weights(made), use_integers(made);
  }
  FoldedRows rows = fold_rows(sampling->n_in(), taps_of(*sampling), sampling->edge());
  if (rows.adjacent) return round_weights(rows.rows), use_integers(rows.rows);
  auto& [offset, column, weight] = rows.taps;
  if (std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; })) return false;  // as above
  lay_out(offset, column, std::move(weight));
  if (use_integers(map->rows)) map.reset();  // weights of gathers are not rounded, but may be such units
  return true;
}

bool NewMap::use_integers(Rows& made) {
  if (!fits_bytes(int64_t(made.start.size()), made.offset.data(), made.weight.data())) return false;
  std::vector<int32_t> units;
  units.reserve(made.weight.size());
  for (const double w : made.weight) units.push_back(int32_t(w * unit));
  rows = {std::move(made.start), std::move(made.offset), std::move(units), {}, true};
  return true;
}

void NewMap::use_floats() {
  if (map) return;
  std::vector<double> weight(rows.units.begin(), rows.units.end());
  for (double& w : weight) w /= unit;
  map.emplace(n_read(), Rows{std::move(rows.start), std::move(rows.offset), std::move(weight)}, false);
}

void NewMap::lay_out() {
  Rows made = map->gathered(order);
  map.emplace(int64_t(order.size()), std::move(made), false);
}

// weight: empty for ones.
void NewMap::lay_out(const std::vector<int64_t>& offset, const std::vector<int64_t>& column,
                     std::vector<double>&& weight) {
  LaidOut made = laid_out(int64_t(offset.size()) - 1, offset.data(), column.data());
  order = std::move(made.order);
  const bool ones = weight.empty();
  map.emplace(int64_t(order.size()), Rows{std::move(made.start), offset, std::move(weight)}, ones);
}

bool NewMap::weigh(const AxisRule* rule, const AxisNumbers& by) {
  if (n_out > tuning.weighed_outputs) return false;
  if (!rule && is_identity) return inside.assign(size_t(n_out), 1.0), true;
  std::optional<Sampling> other;
  if (rule && !(other = ascending(*rule, n_in, n_out, by))) return false;
  const Sampling& rows_of = rule ? *other : *sampling;
  const int64_t together = std::max<int64_t>(1, (1 << 20) / (rows_of.taps_each() + 1));
  Rows made;
  inside.reserve(size_t(n_out));
  for (int64_t lo = 0; lo < n_out; lo += together) {
    rows_of.make(lo, std::min(lo + together, n_out), made);
    for (size_t o = 0; o < made.start.size(); ++o) {
      double sum = 0;
      for (int64_t k = made.offset[o]; k < made.offset[o + 1]; ++k) sum += made.weight[size_t(k)];
      inside.push_back(sum);
    }
  }
  return true;
}

bool NewMap::make_pillow(const NamedFilter& filter, int64_t n_in, int64_t n_out, const Box* box) {
  is_identity = n_in == n_out && !box;
  if (is_identity) return true;
  const double begin = box ? box->begin : 0, end = box ? box->end : double(n_in);
  if (begin < 0 || end > double(n_in)) return false;
  const double taps = std::min(double(n_in), 2 * (filter.support * std::max(1.0, (end - begin) / double(n_out)) + 1));
  if (n_in > longest_byte_axis || taps * double(n_out) > double(tuning.planned_bytes) / 16) return false;
  rows = pillow_rows(filter, n_in, float(begin), float(end), n_out);
  return rows.fits_bytes;
}

// Outputs without an input are filled later.
bool NewMap::make_copy(Picking&& of) {
  n_in = of.n_in, n_out = of.n_out;
  if (!of.reads_all() && n_out > tuning.weighed_outputs) return false;
  if (!of.reads_all()) {
    inside.assign(size_t(n_out), 0.0);
    std::fill(inside.begin() + of.begin, inside.begin() + of.end, 1.0);
    of.begin = 0, of.end = n_out;
  }
  const Picking& its = picking.emplace(std::move(of));
  is_identity = !its.goes_on() && its.repeat() == 1;
  return true;
}

bool NewMap::make_sums(Picking&& of) {
  n_in = of.n_out, n_out = of.n_in;
  if (of.goes_on()) {
    if (double(of.n_in) + double(of.n_out) > double(tuning.planned_bytes) / 64) return false;
    Taps taps{std::vector<int64_t>(size_t(of.n_out) + 1), std::vector<int64_t>(size_t(of.n_out)), {}};
    std::iota(taps.offset.begin(), taps.offset.end(), int64_t(0));
    of.index(0, of.n_out, taps.column.data());
    const Taps sums = transposed(taps, of.n_in);
    lay_out(sums.offset, sums.column, {});
    return true;
  }
  const int64_t repeat = picking.emplace(std::move(of)).repeat();
  is_identity = repeat == 1;
  if (repeat > 1) map.emplace(picking->n_out, picking->n_in, repeat, std::nullopt, std::nullopt, std::nullopt);
  else if (!is_identity) map.emplace(nb::object(), *picking, true);
  return true;
}

bool NewMap::make_tables() {
  if (map->gathers()) {
    is_long = map->is_computed();
    if (is_long && map->taps_each() * double(n_out) + 2.0 * double(n_in + n_out) > double(tuning.planned_bytes) / 16)
      return false;
    return lay_out(), true;
  }
  if (!map->is_computed()) return map->make_tables(), true;
  if (picking) return false;
  if (double(map->n_taps()) + 2.0 * double(map->map.n_out) > double(tuning.planned_bytes) / 16) return false;
  map.emplace(nb::object(), *sampling, bool(map->transposed), true);
  is_long = true;
  return true;
}

std::pair<int64_t, int64_t> NewMap::crop(int64_t n) {
  if (gathers() || (map && (is_long || !map->map.start))) return {0, n};
  std::vector<int64_t>& start = map ? map->rows.start : rows.start;
  const std::vector<int64_t>& offset = map ? map->rows.offset : rows.offset;
  const size_t last = start.size() - 1;
  const int64_t lo = start[0], hi = start[last] + offset[last + 1] - offset[last];
  if (!crops(n, lo, hi)) return {0, n};
  for (int64_t& at : start) at = std::clamp<int64_t>(at - lo, 0, hi - lo);
  if (map) map->map.n_in = hi - lo, map->sampling = nullptr;
  return {lo, hi - lo};
}

CopyAxis copy_axis(const Picking& p, int64_t stride, bool alone, std::vector<int64_t>& table) {
  const int64_t n = p.n_in, made = p.n_out, repeat = p.goes_on() ? -1 : p.repeat();
  if (repeat == 1) return {CopyAxis::affine, n, n, stride, 1, nullptr};
  if (n == 1) return {CopyAxis::affine, made, made, 0, 1, nullptr};
  if (repeat >= 0) return {CopyAxis::every, n, made, stride, repeat, nullptr};
  if (alone) return {CopyAxis::computed, n, made, stride, 1, nullptr};
  const bool runs = !p.goes_on() && made > 2 * n;  // which take a step per input, indices a step per output
  table.resize(size_t(runs ? n + 1 : made));
  if (runs) p.offsets(0, n, table.data());
  else p.index(0, made, table.data());
  return {runs ? CopyAxis::runs : CopyAxis::index, n, made, stride, 1, table.data()};
}

}  // namespace tenter
