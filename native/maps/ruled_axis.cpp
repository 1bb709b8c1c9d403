#include "maps/ruled_axis.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "rules/folded.hpp"
#include "rules/rounded.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// Python makes the tables of longer axes and rows.
constexpr int64_t longest_byte_axis = 1 << 24, longest_rounded = 1 << 16;
constexpr double unit = 1 << weight_bits;  // rounded weights are multiples of 1 / unit

// The rows of a rule; nullopt if its positions descend, as Python makes those rows.
std::optional<Sampling> ascending(const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisNumbers& by) {
  std::optional<Sampling> made = rule.sampling(n_in, n_out, by);
  return made && made->line().step.whole >= 0 ? made : std::nullopt;
}

// Uses rows whose weights are multiples of 1 / unit. Returns false if 8-bit values cannot be summed by them.
bool use_units(AxisMap& to, int64_t n_in, Rows&& made) {
  if (!fits_bytes(int64_t(made.start.size()), made.offset.data(), made.weight.data())) return false;
  std::vector<int32_t> units;
  units.reserve(made.weight.size());
  for (const double w : made.weight) units.push_back(int32_t(w * unit));
  to.set_units(n_in, {std::move(made.start), std::move(made.offset), std::move(units), {}, true});
  return true;
}

}  // namespace

bool RuledAxis::make(const AxisSums& of, const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisNumbers& by,
                     Arithmetic how) {
  rule_ = &rule, n_in_ = n_in, n_out_ = n_out;
  if (rule.is_nearest()) {
    std::optional<SourceIndex> found = rule.source_index(n_in, n_out, by, how);
    return found && (of.transposed ? make_indexed_sums(std::move(*found)) : make_copy(std::move(*found), of.fills));
  }
  if (how == Arithmetic::pillow) return make_pillow(*rule.of_pillow(), n_in, n_out, by.box);
  std::optional<Sampling> found = ascending(rule, n_in, n_out, by);
  if (!found || found->taps_each() > tuning.planned_taps) return false;
  AxisRule::mark(*found, how, by);
  if (is_periodic(found->edge()) && taps_at_ends(*found) > double(tuning.table_bytes) / 64) return false;
  // The transpose of an identity is one too.
  if (n_in == n_out && OwnedMap(nb::object(), *found, false, false).is_identity()) return true;
  map = std::make_unique<AxisMap>();
  if (how == Arithmetic::rounded) return make_rounded(*found);
  map->set_map(std::move(*found), of.transposed);
  // A gather that only copies integers must sum them as integers, which Python plans.
  const bool floats = of.dtype == Dtype::f32 || of.dtype == Dtype::f64;
  return floats || !map->gathers() || !map->sums(false).only_copies();
}

// Weights are rounded if all rows read adjacent inputs.
bool RuledAxis::make_rounded(const Sampling& of) {
  if (n_in_ + n_out_ > longest_rounded) return false;
  Rows made;
  if (!is_periodic(of.edge())) {
    of.make(0, n_out_, made);
    return round_weights(made), use_units(*map, n_in_, std::move(made));
  }
  FoldedRows rows = fold_rows(n_in_, taps_of(of), of.edge());
  if (rows.adjacent) return round_weights(rows.rows), use_units(*map, n_in_, std::move(rows.rows));
  auto& [offset, column, weight] = rows.taps;
  // As in make: a gather that only copies.
  if (std::all_of(weight.begin(), weight.end(), [](double w) { return w == 1; })) return false;
  map->set_gather(n_in_, offset, column, std::move(weight));
  return true;
}

bool RuledAxis::make_pillow(const NamedFilter& filter, int64_t n_in, int64_t n_out, const Box* box) {
  if (n_in == n_out && !box) return true;
  const double begin = box ? box->begin : 0, end = box ? box->end : double(n_in);
  if (begin < 0 || end > double(n_in)) return false;
  const double taps = std::min(double(n_in), 2 * (filter.support * std::max(1.0, (end - begin) / double(n_out)) + 1));
  if (n_in > longest_byte_axis || taps * double(n_out) > double(tuning.table_bytes) / 16) return false;
  PillowRows rows = pillow_rows(filter, n_in, float(begin), float(end), n_out);
  if (!rows.fits_bytes) return false;
  map = std::make_unique<AxisMap>();
  map->set_units(n_in, std::move(rows));
  return true;
}

bool RuledAxis::make_copy(SourceIndex&& of, bool fills) {
  if (!of.reads_all()) {
    if (n_out_ > tuning.weight_sum_outputs) return false;
    inside.assign(size_t(n_out_), 0.0);
    std::fill(inside.begin() + of.begin, inside.begin() + of.end, 1.0);
    if (!fills) {
      map = std::make_unique<AxisMap>();
      return map->set_map(std::move(of), false), true;
    }
    of.begin = 0, of.end = n_out_;
  }
  if (!of.is_periodic() && of.repeat() == 1) return true;
  map = std::make_unique<AxisMap>();
  map->set_source_index(std::move(of));
  return true;
}

bool RuledAxis::make_indexed_sums(SourceIndex&& of) {
  if (of.is_periodic()) {
    if (double(of.n_in) + double(of.n_out) > double(tuning.table_bytes) / 64) return false;
    Taps taps{std::vector<int64_t>(size_t(of.n_out) + 1), std::vector<int64_t>(size_t(of.n_out)), {}};
    std::iota(taps.offset.begin(), taps.offset.end(), int64_t(0));
    of.index(0, of.n_out, taps.column.data());
    const Taps sums = transposed(taps, of.n_in);
    map = std::make_unique<AxisMap>();
    map->set_gather(of.n_out, sums.offset, sums.column, {});
    return true;
  }
  const int64_t repeat = of.repeat();
  if (repeat == 1) return true;
  map = std::make_unique<AxisMap>();
  if (repeat > 1) map->set_equal_sums(of.n_out, repeat);
  else map->set_map(std::move(of), true);
  return true;
}

bool RuledAxis::add_weights(const AxisRule* weight_rule, const AxisNumbers& by) {
  if (n_out_ > tuning.weight_sum_outputs) return false;
  if (!weight_rule && !map) return inside.assign(size_t(n_out_), 1.0), true;
  std::optional<Sampling> other;
  const Sampling* rows_of = weight_rule ? nullptr : map->sampling();
  if (!rows_of) {
    if (!(other = ascending(weight_rule ? *weight_rule : *rule_, n_in_, n_out_, by))) return false;
    rows_of = &*other;
  }
  const int64_t together = std::max<int64_t>(1, (1 << 20) / (rows_of->taps_each() + 1));
  Rows made;
  inside.reserve(size_t(n_out_));
  for (int64_t lo = 0; lo < n_out_; lo += together) {
    rows_of->make(lo, std::min(lo + together, n_out_), made);
    for (size_t o = 0; o < made.start.size(); ++o) {
      double sum = 0;
      for (int64_t k = made.offset[o]; k < made.offset[o + 1]; ++k) sum += made.weight[size_t(k)];
      inside.push_back(sum);
    }
  }
  return true;
}

}  // namespace tenter
