#include "new_map.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace tenter {

// Tables of longer rows and axes have other rules.
constexpr int64_t most_taps = 1 << 16, longest_byte_axis = 1 << 24, longest_rounded = 1 << 16;

bool NewMap::make(const Family& family, const Family::Axis& a, int64_t n_in, int64_t n_out, const Boxes::Each* part,
                  const Scale* scale) {
  this->n_in = family.transposed ? n_out : n_in, this->n_out = family.transposed ? n_in : n_out;
  if (part && n_out > most_part_outputs) return false;
  if (!a.rule) return make_pillow(a, n_in, n_out, part);
  if (part || scale || a.rule->rule == Rule::overlapped || is_onnx(a.rule->align))
    sampling = a.rule->sampling(n_in, n_out, part ? part->part : AxisPart{0, n_in, 1}, scale);
  else sampling.emplace(a.rule->sampling(n_in, n_out));
  if (!sampling || sampling->taps_each() > most_taps) return false;
  is_identity = n_in == n_out && OwnedMap(nb::object(), *sampling, false, false).is_identity();
  if (is_identity) return true;  // whose transpose is one
  if (family.in_bytes) return round_weights();
  map.emplace(nb::object(), *sampling, family.transposed, false);
  return true;
}

bool NewMap::make_pillow(const Family::Axis& a, int64_t n_in, int64_t n_out, const Boxes::Each* part) {
  is_identity = n_in == n_out && !part;
  if (is_identity) return true;
  const double begin = part ? part->begin : 0, end = part ? part->end : double(n_in);
  if (begin < 0 || end > double(n_in)) return false;
  const double taps = std::min(double(n_in), 2 * (a.support * std::max(1.0, (end - begin) / double(n_out)) + 1));
  if (n_in > longest_byte_axis || taps * double(n_out) > double(most_bytes) / 16) return false;
  rows = pillow_rows(PillowFilter(a.filter), n_in, float(begin), float(end), n_out);
  return rows.fits_bytes;
}

// tenter._specs.eight_bits.rounded
bool NewMap::round_weights() {
  constexpr double unit = 1 << 22;
  if (sampling->n_in() + sampling->n_out() > longest_rounded) return false;
  Rows made;
  sampling->make(0, sampling->n_out(), made);
  std::vector<int32_t> units(made.weight.size());
  for (size_t k = 0; k < units.size(); ++k) {
    double& w = made.weight[k];
    w = w * unit + (w < 0 ? -0.5 : 0.5);
    if (!(std::fabs(w) < 0x1p31)) return false;
    w = double(units[k] = int32_t(w)) / unit;
  }
  if (!fits_bytes(sampling->n_out(), made.offset.data(), made.weight.data())) return false;
  rows = {std::move(made.start), std::move(made.offset), std::move(units), {}, true};
  return true;
}

void NewMap::make_copy(Picking&& of) {
  n_in = of.n_in, n_out = of.n_out;
  is_identity = picking.emplace(std::move(of)).repeat() == 1;
}

CopyAxis NewMap::copy_axis(int64_t stride, bool alone) {
  if (n_in == 1) return {CopyAxis::affine, n_out, n_out, 0, 1, nullptr};
  const int64_t repeat = picking->repeat();
  if (repeat >= 0) return {CopyAxis::every, n_in, n_out, stride, repeat, nullptr};
  if (alone) return {CopyAxis::computed, n_in, n_out, stride, 1, nullptr};
  const bool runs = n_out > 2 * n_in;  // which take a step per input, indices a step per output
  table_.resize(size_t(runs ? n_in + 1 : n_out));
  if (runs) picking->offsets(0, n_in, table_.data());
  else picking->index(0, n_out, table_.data());
  return {runs ? CopyAxis::runs : CopyAxis::index, n_in, n_out, stride, 1, table_.data()};
}

void NewMap::make_sums(Picking&& of) {
  n_in = of.n_out, n_out = of.n_in;
  const int64_t repeat = picking.emplace(std::move(of)).repeat();
  is_identity = repeat == 1;
  if (repeat > 1) map.emplace(picking->n_out, picking->n_in, repeat, std::nullopt, std::nullopt, std::nullopt);
  else if (!is_identity) map.emplace(nb::object(), *picking, true);
}

bool NewMap::make_tables() {
  if (!map->is_computed()) return map->make_tables(), true;
  if (picking) return false;
  if (double(map->n_taps()) + 2.0 * double(map->map.n_out) > double(most_bytes) / 16) return false;
  map.emplace(nb::object(), *sampling, bool(map->transposed), true);
  is_long = true;
  return true;
}

std::pair<int64_t, int64_t> NewMap::crop(int64_t n) {
  if (map && (is_long || !map->map.start)) return {0, n};
  std::vector<int64_t>& start = map ? map->rows.start : rows.start;
  const std::vector<int64_t>& offset = map ? map->rows.offset : rows.offset;
  const size_t last = start.size() - 1;
  const int64_t lo = start[0], hi = start[last] + offset[last + 1] - offset[last];
  if (!crops(n, lo, hi)) return {0, n};
  for (int64_t& at : start) at = std::clamp<int64_t>(at - lo, 0, hi - lo);
  if (map) map->map.n_in = hi - lo, map->sampling = nullptr;
  return {lo, hi - lo};
}

}  // namespace tenter
