#include "new_picking.hpp"

#include <algorithm>
#include <utility>

namespace tenter {
namespace {

// The outputs at positions from 0 to the last pixel's, of ascending ones (tenter._rules.nearest).
std::pair<int64_t, int64_t> within(const Units& u, int64_t n_in, int64_t n_out) {
  const Wide last = Wide(n_in - 1) * u.unit;
  if (!u.step) return {0, 0 <= u.first && u.first <= last ? n_out : 0};
  auto before = [&](Wide to) { return to / u.step - (to % u.step < 0); };  // rounded down
  const Wide begin = std::clamp<Wide>(-before(u.first), 0, n_out);
  return {int64_t(begin), int64_t(std::clamp<Wide>(before(last - u.first) + 1, begin, n_out))};
}

}  // namespace

Picking NewPicking::by(Formula formula, double first, double step, Edge edge) const {
  return Picking(n_in, n_out, formula, first, step, {{0, 0}, {0, 0}, 1}, 0, n_out, edge);
}

std::optional<Picking> NewPicking::on_line(const Family::Axis& a, Edge edge) const {
  if (n_in > farthest_edge || n_out > most_part_outputs || (scale && by_corners(a.align))) return std::nullopt;
  const AxisPart all = part ? part->part : AxisPart{0, n_in, 1};
  if (scale && all.of > Wide(1) << finest_scaled) return std::nullopt;
  Units u = units_of(all, a.align, n_out, scale);
  std::pair<int64_t, int64_t> reads{0, n_out};
  if (a.edge == Edge::extrapolate) {
    if (u.step < 0) return std::nullopt;
    reads = within(u, n_in, n_out);
  }
  const Wide after[] = {0, 2 * u.unit - 1, u.unit - 1, u.unit};
  u = {2 * u.first + after[int(a.tie)], 2 * u.step, 2 * u.unit};
  Line line{{0, 0}, {0, 0}, 1};
  if (!line_of(u, n_out, line)) return std::nullopt;
  return Picking(n_in, n_out, Formula::line, 0, 0, line, reads.first, reads.second, edge);
}

// PyTorch's kernels that compute one formula whatever the axes (tenter._rules.torch_quirks.picking).
std::optional<Picking> NewPicking::torch_direct(bool exact) const {
  const int64_t times = n_out == n_in ? 1 : n_out == 2 * n_in ? 2 : 0;
  if (!exact && times) {
    const Line line{{0, 0}, {times == 1, times == 2}, times};
    return Picking(n_in, n_out, Formula::line, 0, 0, line, 0, n_out, Edge::replicate);
  }
  const float step = scale ? float(1.0 / scale->value) : float(n_in) / float(n_out);
  return by(Formula::floats, exact ? 0.5 : 0, double(step), Edge::replicate);
}

std::optional<Picking> NewPicking::make(const Family::Axis& a) const {
  std::optional<Picking> found = with(a, a.edge);
  const bool stays = found && found->goes_on() && !found->goes_past();
  return stays ? with(a, Edge::replicate) : found;
}

std::optional<Picking> NewPicking::with(const Family::Axis& a, Edge edge) const {
  const auto formula = Formula(a.formula);
  const double ratio = double(n_in) / double(n_out);
  switch (formula) {
    case Formula::line: return on_line(a, edge);
    case Formula::accumulated: {
      const float begin = part ? float(part->begin) : 0, end = part ? float(part->end) : float(n_in);
      const double step = double(end - begin) / double(n_out);
      return by(formula, double(begin) + step * 0.5, step, edge);
    }
    default: break;
  }
  if (part) return std::nullopt;
  switch (formula) {
    case Formula::offset:  // of SciPy by corners, else of OpenCV
      if (a.align != Align::corners)
        return by(formula, 0, 1.0 / (scale ? scale->value : double(n_out) / double(n_in)), edge);
      return by(formula, 0.5, n_out > 1 ? double(n_in - 1) / double(n_out - 1) : 1.0, edge);
    case Formula::centers:
    case Formula::float_quotients: return by(formula, 0, ratio, edge);
    default: break;
  }
  if (direct) return torch_direct(formula == Formula::float_centers || formula == Formula::double_centers);
  if (scale) return by(formula, 0, a.in_float ? double(float(1.0 / scale->value)) : 1.0 / scale->value, edge);
  return by(formula, 0, a.in_float ? double(float(n_in) / float(n_out)) : ratio, edge);
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
