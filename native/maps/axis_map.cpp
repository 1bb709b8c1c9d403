#include "maps/axis_map.hpp"

#include <algorithm>
#include <stdexcept>

#include "rules/bytes.hpp"
#include "rules/folded.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

// Whether leaving out the inputs before `lo` and from `hi` on, which no window reads, saves enough.
bool crops(int64_t n_in, int64_t lo, int64_t hi) { return lo < hi && n_in - (hi - lo) > n_in / 16; }

}  // namespace

void AxisMap::set_repeat(int64_t n, int64_t times) { n_in = n, n_out = n * times, repeat_ = times; }

void AxisMap::set_runs(int64_t n, int64_t made, Int64s offsets) {
  n_in = n, n_out = made, offsets_ = std::move(offsets);
}

void AxisMap::set_index(int64_t n, Int64s index) { n_in = n, n_out = int64_t(index.size()), index_ = std::move(index); }

void AxisMap::set_source_index(nb::object owner, const SourceIndex& of) {
  owners_.push_back(std::move(owner));
  n_in = of.n_in, n_out = of.n_out, source_index_ = &of;
}

void AxisMap::set_source_index(SourceIndex&& of) {
  source_index_ = &own_index_.emplace(std::move(of)), n_in = source_index_->n_in, n_out = source_index_->n_out;
  if (!source_index_->is_periodic()) repeat_ = source_index_->repeat();
}

void AxisMap::set_equal_sums(int64_t n, int64_t width) {
  kind = Kind::sums, n_in = n, n_out = width ? n / width : 0;
  map_ = &own_map_.emplace(n_in, n_out, width, std::nullopt, std::nullopt, std::nullopt);
}

void AxisMap::set_map(nb::object owner, OwnedMap& of) {
  owners_.push_back(std::move(owner));
  kind = of.gathers() ? Kind::gathered : Kind::sums, n_in = of.map.n_in, n_out = of.map.n_out, map_ = &of;
}

void AxisMap::set_map(Sampling&& of, bool transposed) {
  own_sampling_.emplace(std::move(of));
  set_map(nb::object(), own_map_.emplace(nb::object(), *own_sampling_, transposed, false));
}

void AxisMap::set_map(SourceIndex&& of, bool transposed) {
  own_index_.emplace(std::move(of));
  set_map(nb::object(), own_map_.emplace(nb::object(), *own_index_, transposed));
}

void AxisMap::set_rows(int64_t n, Rows&& rows, bool ones) {
  set_map(nb::object(), own_map_.emplace(n, std::move(rows), ones));
}

void AxisMap::set_units(int64_t n, PillowRows&& rows) {
  units_ = &bytes_.keep(std::make_unique<OwnedByteMap>(n, std::move(rows))).map;
  kind = Kind::sums, n_in = n, n_out = units_->n_out;
}

void AxisMap::set_gather(int64_t n, Int64s offset, Int64s index, std::optional<Doubles> weight) {
  kind = Kind::gathered, n_in = n, n_out = int64_t(offset.size()) - 1;
  offsets_ = std::move(offset), index_ = std::move(index), weight_ = std::move(weight);
}

void AxisMap::set_gather(int64_t n, const std::vector<int64_t>& offset, const std::vector<int64_t>& index,
                         std::vector<double>&& weight) {
  kind = Kind::gathered, n_in = n, n_out = int64_t(offset.size()) - 1;
  tenter::LaidOut made = tenter::laid_out(n_out, offset.data(), index.data());
  const bool ones = weight.empty();
  laid_out_.keep(lay_out(std::move(made.order), {std::move(made.start), offset, std::move(weight)}, ones));
}

void AxisMap::set_counts(int64_t n, int64_t made, bool sums) {
  kind = sums ? Kind::count_sums : Kind::counts, n_in = n, n_out = made;
}

bool AxisMap::ones() const {
  if (kind == Kind::count_sums) return true;
  if (units_) return false;
  if (gathers()) {
    const LaidOut* const made = laid_out_.found();
    return !map_ && (made ? made->sums->ones() : !weight_);
  }
  return map_->source_index || (!map_->sampling && !map_->map.weight64);
}

int64_t AxisMap::positions() const {
  const bool tables = copies() ? offsets_ || index_ || table_.found() : !map_ || map_->has_tables() || tables_.found();
  return tables ? n_in + n_out : 0;
}

double AxisMap::table_bytes() {
  if (!map_ || (!map_->is_computed() && !gathers())) return 0;
  if (gathers()) return 8 * (map_->taps_each() * double(n_out) + 2.0 * double(n_in + n_out));
  return 16 * (double(map_->n_taps()) + 2.0 * double(n_out));
}

// The input of each output, from the offsets of n runs.
static void indices_of_runs(const int64_t* offsets, int64_t n, int64_t* to) {
  for (int64_t i = 0; i < n; ++i) std::fill(to + offsets[i], to + offsets[i + 1], i);
}

CopyAxis AxisMap::copy_axis(int64_t stride, bool alone) {
  const int64_t n = n_in, made = n_out;
  if (repeat_ == 1) return {CopyAxis::affine, n, n, stride, 1, nullptr};
  if (n == 1 && !index_) return {CopyAxis::affine, made, made, 0, 1, nullptr};
  if (repeat_ >= 0) return {CopyAxis::every, n, made, stride, repeat_, nullptr};
  if (alone && source_index_) return {CopyAxis::computed, n, made, stride, 1, nullptr};
  if constexpr (verifies)
    if (offsets_) verify(CopyAxis{CopyAxis::runs, n, made, stride, 1, offsets_->data()});
  // Runs take one step per input, indices one step per output.
  const bool runs = (offsets_ || (source_index_ && !source_index_->is_periodic())) && made > 2 * n;
  if (runs && offsets_) return {CopyAxis::runs, n, made, stride, 1, offsets_->data()};
  if (index_) return {CopyAxis::index, n, made, stride, 1, index_->data()};
  const std::vector<int64_t>& table = table_.get([&] {
    auto all = std::make_unique<std::vector<int64_t>>(size_t(runs ? n + 1 : made));
    if (runs) source_index_->offsets(0, n, all->data());
    else if (source_index_) source_index_->index(0, made, all->data());
    else indices_of_runs(offsets_->data(), n, all->data());
    return all;
  });
  return {runs ? CopyAxis::runs : CopyAxis::index, n, made, stride, 1, table.data()};
}

std::unique_ptr<AxisMap::LaidOut> AxisMap::lay_out(std::vector<int64_t>&& order, Rows&& rows, bool ones) const {
  auto made = std::make_unique<LaidOut>();
  made->sums = std::make_unique<AxisMap>(), made->order = std::make_unique<AxisMap>();
  made->sums->set_rows(int64_t(order.size()), std::move(rows), ones);
  made->order->n_in = n_in, made->order->n_out = int64_t(order.size());
  made->order->table_.keep(std::make_unique<std::vector<int64_t>>(std::move(order)));
  made->sums->of = made->order->of = this, made->sums->part = Part::sums, made->order->part = Part::order;
  return made;
}

const AxisMap::LaidOut& AxisMap::laid_out() {
  return laid_out_.get([&] {
    if (map_) {
      std::vector<int64_t> order;
      Rows rows = map_->gathered(order);
      return lay_out(std::move(order), std::move(rows), false);
    }
    tenter::LaidOut made = tenter::laid_out(n_out, offsets_->data(), index_->data());
    const int64_t* const offset = offsets_->data();
    Rows rows{std::move(made.start), {offset, offset + n_out + 1}, {}};
    if (weight_) rows.weight.assign(weight_->data(), weight_->data() + weight_->size());
    return lay_out(std::move(made.order), std::move(rows), !weight_);
  });
}

OwnedMap& AxisMap::sums(bool several) {
  // Sums of adjacent inputs. Those of a gather are in laid_out(), except that the kernel of one axis can compute them.
  if (gathers() && (several || !map_)) throw std::logic_error("sums of a gather whose inputs are not in order");
  if (!map_) {
    return tables_.get([&] {
      std::vector<double> weight(units_->weight.begin(), units_->weight.end());
      for (double& w : weight) w /= 1 << weight_bits;
      return std::make_unique<OwnedMap>(n_in, Rows{units_->start, units_->offset, std::move(weight)}, false);
    });
  }
  if (!several) return *map_;
  if (!map_->is_computed()) {
    if (map_->sampling || map_->source_index) map_->make_tables();
    return *map_;
  }
  return tables_.get([&] {
    if (map_->sampling) return std::make_unique<OwnedMap>(map_->rule, *map_->sampling, map_->transposed, true);
    Rows rows;
    map_->make_rows(0, n_out, rows);
    return std::make_unique<OwnedMap>(n_in, std::move(rows), true);
  });
}

bool AxisMap::has_bytes() {
  if (const int known = has_bytes_.load(std::memory_order_relaxed); known >= 0) return known;
  bool found = units_;
  if (gathers()) {
    found = laid_out().sums->has_bytes();
  } else if (kind == Kind::sums && !units_ && !ones()) {
    const WindowMap& m = sums(true).map;
    found = m.start && fits_bytes(m.n_out, m.offset, m.weight64);
  }
  has_bytes_.store(found, std::memory_order_relaxed);
  return found;
}

OwnedByteMap& AxisMap::bytes() {
  return bytes_.get([&] {
    const WindowMap& m = sums(true).map;
    return std::make_unique<OwnedByteMap>(n_in, n_out, m.start, m.offset, m.weight64);
  });
}

int64_t AxisMap::n_spanned() {
  if (!has_long_rule() || kind != Kind::sums || ones() || !n_out) return n_in;
  if (const int64_t known = n_spanned_.load(std::memory_order_relaxed); known >= 0) return known;
  Rows first, last;
  map_->make_rows(0, 1, first), map_->make_rows(n_out - 1, n_out, last);
  const int64_t lo = first.start[0], hi = last.stop(0), found = crops(n_in, lo, hi) ? hi - lo : n_in;
  n_spanned_.store(found, std::memory_order_relaxed);
  return found;
}

// The map whose rows are cropped: weighted, and with tables now or later. Null for other maps: rows of a long axis have
// no tables.
const WindowMap* AxisMap::rows_to_crop(bool several) {
  if (kind != Kind::sums || units_ || ones() || map_->is_computed()) return nullptr;
  if (!map_->has_tables() && !several) return nullptr;
  return &sums(true).map;
}

// rows: those of `rows_to_crop`; null for units.
std::unique_ptr<AxisMap::Cropped> AxisMap::crop(const WindowMap* rows) {
  auto made = std::make_unique<Cropped>();
  const int64_t* const start = rows ? rows->start : units_->start.data();
  const int64_t* const offset = rows ? rows->offset : units_->offset.data();
  const int64_t lo = start[0], hi = start[n_out - 1] + offset[n_out] - offset[n_out - 1];
  if (!crops(n_in, lo, hi)) return made;
  made->first = lo, made->map = std::make_unique<AxisMap>();
  made->map->of = this;
  if (linear_steps()) {
    made->map->set_map(sampling()->part(0, n_out, lo, hi - lo), false);
    return made;
  }
  std::vector<int64_t> starts(start, start + n_out), offsets(offset, offset + n_out + 1);
  for (int64_t& at : starts) at = std::clamp<int64_t>(at - lo, 0, hi - lo);
  if (rows) {
    const double* const weight = rows->weight64;
    made->map->set_rows(hi - lo, {std::move(starts), std::move(offsets), {weight, weight + offset[n_out]}}, false);
  } else {
    made->map->set_units(hi - lo, {std::move(starts), std::move(offsets), units_->weight, {}, true});
  }
  return made;
}

std::pair<int64_t, AxisMap*> AxisMap::cropped(bool several) {
  const WindowMap* const rows = rows_to_crop(several);
  if ((!rows && !units_) || !n_out) return {0, this};
  const Cropped& made = cropped_.get([&] { return crop(rows); });
  return {made.first, made.map ? made.map.get() : this};
}

}  // namespace tenter
