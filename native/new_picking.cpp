#include "new_picking.hpp"

namespace tenter {

Picking NewPicking::by(Formula formula, double first, double step) const {
  return Picking(n_in, n_out, formula, first, step, {{0, 0}, {0, 0}, 1}, 0, n_out, false, false);
}

std::optional<Picking> NewPicking::on_line(const Family::Axis& a) const {
  if (n_in > farthest_edge || n_out > most_part_outputs || (scale && by_corners(a.align))) return std::nullopt;
  const AxisPart all = part ? part->part : AxisPart{0, n_in, 1};
  if (scale && all.of > Wide(1) << finest_scaled) return std::nullopt;
  Units u = units_of(all, a.align, n_out, scale);
  const Wide after[] = {0, 2 * u.unit - 1, u.unit - 1, u.unit};
  u = {2 * u.first + after[int(a.tie)], 2 * u.step, 2 * u.unit};
  Line line{{0, 0}, {0, 0}, 1};
  if (!line_of(u, n_out, line)) return std::nullopt;
  return Picking(n_in, n_out, Formula::line, 0, 0, line, 0, n_out, false, false);
}

// PyTorch's kernels that compute one formula whatever the axes (tenter._rules.torch_quirks.picking).
std::optional<Picking> NewPicking::torch_direct(bool exact) const {
  const int64_t times = n_out == n_in ? 1 : n_out == 2 * n_in ? 2 : 0;
  if (!exact && times) {
    const Line line{{0, 0}, {times == 1, times == 2}, times};
    return Picking(n_in, n_out, Formula::line, 0, 0, line, 0, n_out, false, false);
  }
  const float step = scale ? float(1.0 / scale->value) : float(n_in) / float(n_out);
  return by(Formula::floats, exact ? 0.5 : 0, double(step));
}

std::optional<Picking> NewPicking::make(const Family::Axis& a) const {
  const auto formula = Formula(a.formula);
  const double ratio = double(n_in) / double(n_out);
  switch (formula) {
    case Formula::line: return on_line(a);
    case Formula::accumulated: {
      const float begin = part ? float(part->begin) : 0, end = part ? float(part->end) : float(n_in);
      const double step = double(end - begin) / double(n_out);
      return by(formula, double(begin) + step * 0.5, step);
    }
    default: break;
  }
  if (part) return std::nullopt;
  switch (formula) {
    case Formula::offset:  // of SciPy by corners, else of OpenCV
      if (a.align != Align::corners) return by(formula, 0, 1.0 / (scale ? scale->value : double(n_out) / double(n_in)));
      return by(formula, 0.5, n_out > 1 ? double(n_in - 1) / double(n_out - 1) : 1.0);
    case Formula::centers:
    case Formula::float_quotients: return by(formula, 0, ratio);
    default: break;
  }
  if (direct) return torch_direct(formula == Formula::float_centers || formula == Formula::double_centers);
  if (scale) return by(formula, 0, a.in_float ? double(float(1.0 / scale->value)) : 1.0 / scale->value);
  return by(formula, 0, a.in_float ? double(float(n_in) / float(n_out)) : ratio);
}

}  // namespace tenter
