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
  kind = Kind::sums, n_in = n, n_out = int64_t(rows.start.size()), units_ = std::move(rows);
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
  lay_out(std::move(made.order), {std::move(made.start), offset, std::move(weight)}, ones);
}

void AxisMap::set_counts(int64_t n, int64_t made, bool sums) {
  kind = sums ? Kind::count_sums : Kind::counts, n_in = n, n_out = made;
}

bool AxisMap::ones() const {
  if (kind == Kind::count_sums) return true;
  if (units_) return false;
  if (gathers()) return !map_ && (laid_out_ ? laid_out_->sums->ones() : !weight_);
  return map_->source_index || (!map_->sampling && !map_->map.weight64);
}

int64_t AxisMap::positions() const {
  const bool tables =
      copies() ? offsets_ || index_ || !table_.empty() : !map_ || map_->map.start || map_->inside || tables_;
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
  if (table_.empty() && made) {
    table_.resize(size_t(runs ? n + 1 : made));
    if (runs) source_index_->offsets(0, n, table_.data());
    else if (source_index_) source_index_->index(0, made, table_.data());
    else indices_of_runs(offsets_->data(), n, table_.data());
  }
  return {runs ? CopyAxis::runs : CopyAxis::index, n, made, stride, 1, table_.data()};
}

void AxisMap::lay_out(std::vector<int64_t>&& order, Rows&& rows, bool ones) {
  LaidOut& made = laid_out_.emplace();
  made.sums = std::make_unique<AxisMap>(), made.order = std::make_unique<AxisMap>();
  made.sums->set_rows(int64_t(order.size()), std::move(rows), ones);
  made.order->n_in = n_in, made.order->n_out = int64_t(order.size()), made.order->table_ = std::move(order);
  made.sums->of = made.order->of = this, made.sums->part = Part::sums, made.order->part = Part::order;
}

const AxisMap::LaidOut& AxisMap::laid_out() {
  if (laid_out_) return *laid_out_;
  if (map_) {
    std::vector<int64_t> order;
    Rows rows = map_->gathered(order);
    lay_out(std::move(order), std::move(rows), false);
  } else {
    tenter::LaidOut made = tenter::laid_out(n_out, offsets_->data(), index_->data());
    const int64_t* const offset = offsets_->data();
    Rows rows{std::move(made.start), {offset, offset + n_out + 1}, {}};
    if (weight_) rows.weight.assign(weight_->data(), weight_->data() + weight_->size());
    lay_out(std::move(made.order), std::move(rows), !weight_);
  }
  return *laid_out_;
}

OwnedMap& AxisMap::sums(bool several) {
  // Sums of adjacent inputs. Those of a gather are in laid_out(), except that the kernel of one axis can compute them.
  if (gathers() && (several || !map_)) throw std::logic_error("sums of a gather whose inputs are not in order");
  if (!map_) {
    std::vector<double> weight(units_->units.begin(), units_->units.end());
    for (double& w : weight) w /= 1 << weight_bits;
    map_ = &own_map_.emplace(n_in, Rows{units_->start, units_->offset, std::move(weight)}, false);
  }
  if (!several) return *map_;
  if (!map_->is_computed()) {
    if (map_->sampling || map_->source_index) map_->make_tables();
    return *map_;
  }
  if (!tables_) {
    if (map_->sampling) {
      tables_ = std::make_unique<OwnedMap>(map_->rule, *map_->sampling, map_->transposed, true);
    } else {
      Rows rows;
      map_->make_rows(0, n_out, rows);
      tables_ = std::make_unique<OwnedMap>(n_in, std::move(rows), true);
    }
  }
  return *tables_;
}

bool AxisMap::has_bytes() {
  if (has_bytes_) return *has_bytes_;
  bool found = units_.has_value();
  if (gathers()) {
    found = laid_out().sums->has_bytes();
  } else if (kind == Kind::sums && !units_ && !ones()) {
    const WindowMap& m = sums(true).map;
    found = m.start && fits_bytes(m.n_out, m.offset, m.weight64);
  }
  return *(has_bytes_ = found);
}

OwnedByteMap& AxisMap::bytes() {
  if (bytes_) return *bytes_;
  if (units_) {
    bytes_ = std::make_unique<OwnedByteMap>(n_in, std::move(*units_));
  } else {
    const WindowMap& m = sums(true).map;
    bytes_ = std::make_unique<OwnedByteMap>(n_in, n_out, m.start, m.offset, m.weight64);
  }
  return *bytes_;
}

int64_t AxisMap::n_spanned() {
  if (!has_long_rule() || kind != Kind::sums || ones() || !n_out) return n_in;
  if (n_spanned_) return *n_spanned_;
  Rows first, last;
  map_->make_rows(0, 1, first), map_->make_rows(n_out - 1, n_out, last);
  const int64_t lo = first.start[0], hi = last.stop(0);
  n_spanned_ = crops(n_in, lo, hi) ? hi - lo : n_in;
  return *n_spanned_;
}

// The map whose rows are cropped: weighted, and with tables now or later. Null for other maps: rows of a long axis have
// no tables.
const WindowMap* AxisMap::rows_to_crop(bool several) {
  if (kind != Kind::sums || units_ || ones() || map_->is_computed()) return nullptr;
  if (!map_->map.start && !several) return nullptr;
  return &sums(true).map;
}

std::pair<int64_t, AxisMap*> AxisMap::cropped(bool several) {
  const WindowMap* const m = rows_to_crop(several);
  if ((!m && !units_) || !n_out) return {0, this};
  if (!std::exchange(asked_for_crop_, true)) {
    const int64_t* const start = m ? m->start : units_->start.data();
    const int64_t* const offset = m ? m->offset : units_->offset.data();
    const int64_t lo = start[0], hi = start[n_out - 1] + offset[n_out] - offset[n_out - 1];
    if (crops(n_in, lo, hi)) {
      first_ = lo, cropped_ = std::make_unique<AxisMap>();
      if (linear_steps()) {
        cropped_->set_map(sampling()->part(0, n_out, lo, hi - lo), false), cropped_->of = this;
        return {first_, cropped_.get()};
      }
      std::vector<int64_t> starts(start, start + n_out), offsets(offset, offset + n_out + 1);
      for (int64_t& at : starts) at = std::clamp<int64_t>(at - lo, 0, hi - lo);
      if (m) {
        cropped_->set_rows(hi - lo, {std::move(starts), std::move(offsets), {m->weight64, m->weight64 + offset[n_out]}},
                           false);
      } else {
        cropped_->set_units(hi - lo, {std::move(starts), std::move(offsets), units_->units, {}, true});
      }
      cropped_->of = this;
    }
  }
  return {first_, cropped_ ? cropped_.get() : this};
}

}  // namespace tenter
