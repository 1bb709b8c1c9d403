#include "rules/axis_rule.hpp"

#include <algorithm>
#include <numeric>

namespace tenter {
namespace {

const AxisPart& part_of(const AxisNumbers& by, const AxisPart& all) { return by.box ? by.box->part : all; }

// The source indices of PyTorch's nearest kernels. nearest takes the pixel at an output's corner, nearest-exact the one
// at its center.
SourceIndex of_torch(int64_t n_in, int64_t n_out, const Scale* scale, bool exact, Arithmetic how) {
  const bool direct = how == Arithmetic::direct, images = how == Arithmetic::cuda_image;
  const bool keeps = n_out == n_in ? images || (direct && !exact) : direct && !exact && n_out == 2 * n_in;
  if (keeps) {  // these kernels ignore the scale
    const Line line{{0, 0}, {n_out == n_in, n_out != n_in}, n_out / n_in};
    return SourceIndex({.n_in = n_in, .n_out = n_out, .formula = Formula::line, .line = line});
  }
  if (how == Arithmetic::separable64) {
    const double step = scale ? 1.0 / scale->value : double(n_in) / double(n_out);
    const Formula formula = exact ? Formula::double_centers : Formula::doubles;
    return SourceIndex({.n_in = n_in, .n_out = n_out, .formula = formula, .step = step});
  }
  const auto step = double(scale ? float(1.0 / scale->value) : float(n_in) / float(n_out));
  if (how == Arithmetic::separable) {
    const Formula formula = exact ? Formula::float_centers : Formula::floats;
    return SourceIndex({.n_in = n_in, .n_out = n_out, .formula = formula, .step = step});
  }
  return SourceIndex(
      {.n_in = n_in, .n_out = n_out, .formula = Formula::floats, .first = exact ? 0.5 : 0, .step = step});
}

constexpr double small_image = 128;                   // sum of the output's rows and columns
constexpr int64_t longest_pillow = int64_t(1) << 24;  // float32 has every pixel number up to this

bool has_filter(const AxisRule& rule, FilterKind kind) {
  return rule.kind == Kind::filter && rule.filter && rule.filter->kind == kind;
}

// PyTorch's arithmetic: the kernel that takes nearest pixels; `exact` for sums, which perhaps ignore the scale.
Arithmetic settled_as_torch(const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisCall& call, AxisNumbers& by) {
  if (by.box) return Arithmetic::exact;
  if (rule.is_nearest()) {
    const bool last = rule.arithmetic == Arithmetic::torch_direct || call.channels_last;
    const bool direct = (call.n_axes > 1 && last) || (call.n_axes == 2 && call.sum_of_sizes <= small_image);
    if (call.on_device) return call.n_axes == 2 ? Arithmetic::cuda_image : Arithmetic::cuda;
    if (direct) return Arithmetic::direct;
    return call.doubles ? Arithmetic::separable64 : Arithmetic::separable;
  }
  // Linear interpolation, and filters with antialias, do not change an axis that keeps its length. On devices that is
  // so only if all axes keep their lengths, or if bytes are summed in integers: these have the same bits everywhere.
  const bool linear = has_filter(rule, FilterKind::triangle);
  const bool copies = call.on_device && !by_axis(call.rounding) ? call.keeps_lengths && !rule.antialias
                                                                : n_in == n_out && (linear || rule.antialias);
  if (copies) by.scale = nullptr;
  return Arithmetic::exact;
}

// Whether 8-bit values are interpolated along two axes, which has kernels of its own.
bool interpolates_bytes(const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisCall& call,
                        const AxisNumbers& by) {
  const bool copies = call.keeps_lengths && !by.scale && !by.box;
  if (!call.bytes || call.n_axes != 2 || call.on_device || copies || !n_in || !n_out) return false;
  if (rule.antialias || !(rule.edge == Edge::replicate || (rule.edge == Edge::renormalize && !by.box))) return false;
  return has_filter(rule, FilterKind::triangle) || has_filter(rule, FilterKind::cubic);
}

// Whether antialiased 8-bit values get Pillow's weights.
bool has_pillow_weights(const AxisRule& rule, int64_t n_in, const AxisNumbers& by) {
  const bool within = !by.box || (by.box->begin >= 0 && by.box->end <= double(n_in));
  return rule.antialias && rule.align == Align::half_pixel && !by.scale && rule.edge == Edge::renormalize && within &&
         n_in <= longest_pillow && rule.of_pillow();
}

// The stretch of a filter. Returns false if it has more bits than the core supports.
bool stretch_in(const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisNumbers& by, const Units& u, Stretch& to) {
  to = {1, 1, 1};
  if (!rule.antialias || rule.kind != Kind::filter) return true;
  const bool from_corners = rule.align == Align::corner_areas;
  const bool found = from_corners && !by.positions ? stretch_of(u.step, u.unit, to) : rule.pitch(n_in, n_out, by, to);
  if (!found) return false;
  // For a whole axis the ratio of the lengths, which need not be in lowest terms.
  const bool stretched = to.numerator && to.numerator != to.denominator;
  if (stretched && !from_corners && !by.box && !by.scale && !is_onnx(rule.align))
    to.numerator = n_in, to.denominator = n_out;
  return true;
}

}  // namespace

Arithmetic AxisRule::settled(int64_t n_in, int64_t n_out, const AxisCall& call, AxisNumbers& by) const {
  Arithmetic how = arithmetic;
  if (how == Arithmetic::torch || how == Arithmetic::torch_direct) {
    how = settled_as_torch(*this, n_in, n_out, call, by);
    if (how != Arithmetic::exact) return how;
  }
  const bool interpolates = interpolates_bytes(*this, n_in, n_out, call, by);
  if (how == Arithmetic::opencv && !is_nearest()) {
    const bool steps = interpolates && has_filter(*this, FilterKind::triangle) && align == Align::half_pixel &&
                       !by.box && n_in < longest_pillow && n_out < longest_pillow;
    return steps ? Arithmetic::steps : interpolates ? Arithmetic::taps : Arithmetic::exact;
  }
  if (interpolates && how == Arithmetic::exact) return Arithmetic::taps;
  if (!by_axis(call.rounding) || is_nearest() || !n_in || !n_out) return how;
  return has_pillow_weights(*this, n_in, by) ? Arithmetic::pillow : Arithmetic::rounded;
}

void AxisRule::mark(Sampling& rows, Arithmetic how, const AxisNumbers& by) {
  rows.fixed_taps = how == Arithmetic::taps;
  if (how != Arithmetic::steps) return;
  const double scale = by.scale ? by.scale->value : double(rows.n_out()) / double(rows.n_in());
  rows.linear_steps = {1 / scale, rows.n_in()};
}

bool AxisRule::pitch(int64_t n_in, int64_t n_out, const AxisNumbers& by, Stretch& to) const {
  if (by.positions) return to = by.positions->stretch, true;
  const AxisPart all{0, n_in, 1}, &p = part_of(by, all);
  Wide outputs;
  if (by.scale) return stretch_of(by.scale->denominator, by.scale->numerator, to);
  if (!n_out) return to = {1, 1, 1}, true;
  return multiply(p.of, n_out, outputs) && stretch_of(p.extent, outputs, to);
}

std::optional<Sampling> AxisRule::sampling(int64_t n_in, int64_t n_out, const AxisNumbers& by) const {
  const AxisPart all{0, n_in, 1}, &p = part_of(by, all);
  Line line;
  if (kind == Kind::area && !by.box && n_in && n_out) {
    if (!line_of({0, n_in, n_out}, n_out, line)) return std::nullopt;
    return Sampling(
        {.n_in = n_in, .n_out = n_out, .weighting = Weighting::touched, .line = line, .edge = Edge::renormalize});
  }
  Units u;
  if (by.positions) line = by.positions->line;
  else if (!units_of(p, lined_up_by(), n_out, by.scale, u) || !line_of(u, n_out, line)) return std::nullopt;
  if (is_area())
    return Sampling({.n_in = n_in, .n_out = n_out, .weighting = Weighting::overlapped, .line = line, .edge = edge});
  Stretch s;
  if (!stretch_in(*this, n_in, n_out, by, u, s)) return std::nullopt;
  const bool stretched = s.numerator != s.denominator || !s.numerator;
  return Sampling({.n_in = n_in,
                   .n_out = n_out,
                   .weighting = Weighting::filtered,
                   .line = line,
                   .edge = edge,
                   .support = support,
                   .weights = weights,
                   .stretch = s,
                   .normalize = !sums_to_one || stretched,
                   .filter = filter});
}

bool AxisRule::exact_units(int64_t n_in, int64_t n_out, const AxisNumbers& by, Units& to) const {
  const AxisPart all{0, n_in, 1};
  return !by.positions && units_of(part_of(by, all), align, n_out, by.scale, to) && to.step >= 0;
}

// The outputs [begin, end) whose positions are between the first and the last pixel. Positions ascend.
bool AxisRule::inside(int64_t n_in, int64_t n_out, const AxisNumbers& by, int64_t& begin, int64_t& end) const {
  Units u;
  Wide last;
  if (!exact_units(n_in, n_out, by, u) || !multiply(n_in - 1, u.unit, last)) return false;
  if (!u.step) return begin = 0, end = 0 <= u.first && u.first <= last ? n_out : 0, true;
  auto before = [&](Wide to) { return to / u.step - (to % u.step < 0); };  // rounded down
  begin = int64_t(std::clamp<Wide>(-before(u.first), 0, n_out));
  end = int64_t(std::clamp<Wide>(before(last - u.first) + 1, begin, n_out));
  return true;
}

std::optional<SourceIndex> AxisRule::on_line(Edge padding, int64_t n_in, int64_t n_out, const AxisNumbers& by) const {
  Units u;
  Line line;
  int64_t begin = 0, end = n_out;
  if (!exact_units(n_in, n_out, by, u)) return std::nullopt;
  if (edge == Edge::extrapolate && !inside(n_in, n_out, by, begin, end)) return std::nullopt;
  const Wide after[] = {0, 2 * u.unit - 1, u.unit - 1, u.unit};  // what each Tie adds before rounding down
  if (!line_of({2 * u.first + after[int(tie)], 2 * u.step, 2 * u.unit}, n_out, line)) return std::nullopt;
  return SourceIndex({.n_in = n_in,
                      .n_out = n_out,
                      .formula = Formula::line,
                      .line = line,
                      .edge = padding,
                      .begin = begin,
                      .end = end});
}

std::optional<SourceIndex> AxisRule::source_index(int64_t n_in, int64_t n_out, const AxisNumbers& by,
                                                  Arithmetic how) const {
  std::optional<SourceIndex> found = source_index_at(edge, n_in, n_out, by, how);
  const bool stays = found && found->is_periodic() && !found->reads_padding();
  return stays ? source_index_at(Edge::replicate, n_in, n_out, by, how) : found;
}

std::optional<SourceIndex> AxisRule::source_index_at(Edge padding, int64_t n_in, int64_t n_out, const AxisNumbers& by,
                                                     Arithmetic how) const {
  const Scale* const scale = by.scale;
  Formula formula = Formula::line;
  double first = 0, step = double(n_in) / double(n_out);
  switch (how) {
    case Arithmetic::pillow: {  // adds step to step, from a float32 box; so does OpenCV's INTER_NEAREST_EXACT
      if (n_in > longest_pillow) break;
      const float begin = by.box ? float(by.box->begin) : 0, end = by.box ? float(by.box->end) : float(n_in);
      step = double(end - begin) / double(n_out), first = double(begin) + step * 0.5;
      formula = Formula::accumulated;
      break;
    }
    case Arithmetic::opencv:
      step = 1.0 / (scale ? scale->value : double(n_out) / double(n_in)), formula = Formula::offset;
      break;
    case Arithmetic::scipy:
      formula = align == Align::align_corners ? Formula::offset : Formula::centers;
      if (align == Align::align_corners) first = 0.5, step = n_out > 1 ? double(n_in - 1) / double(n_out - 1) : 1.0;
      break;
    case Arithmetic::jax: formula = Formula::float_quotients; break;
    case Arithmetic::exact: break;
    default:
      if (!by.box) return of_torch(n_in, n_out, scale, kind == Kind::nearest_exact, how);
  }
  if (formula == Formula::line || (by.box && how != Arithmetic::pillow)) return on_line(padding, n_in, n_out, by);
  SourceIndex made({.n_in = n_in, .n_out = n_out, .formula = formula, .first = first, .step = step, .edge = padding});
  if (edge == Edge::extrapolate && !inside(n_in, n_out, by, made.begin, made.end)) return std::nullopt;
  return made;
}

}  // namespace tenter
