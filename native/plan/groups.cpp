#include "plan/groups.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "kernels/long_sums.hpp"
#include "kernels/window_kernels.hpp"
#include "rules/bytes.hpp"
#include "system/tuning.hpp"

namespace tenter {
namespace {

typedef std::vector<MappedDim> Dims;

std::pair<double, int> cost(const std::vector<int>& axes, const Dims& dims) {
  std::vector<int64_t> n, n_out;
  for (const int k : axes) {
    const MappedDim& d = dims[size_t(k)];
    n.push_back(d.map ? d.n_deciding() : d.n), n_out.push_back(d.map ? d.deciding()->n_out : d.n);
  }
  return pass_cost(n.data(), n_out.data(), int(axes.size()));
}

std::pair<double, int> cost(const Group& g, const Dims& dims) {
  std::vector<int> axes(size_t(g.count));
  std::iota(axes.begin(), axes.end(), g.first);
  return cost(axes, dims);
}

// Whether a pass of several axes would copy more than twice as many inputs into order as it has inputs or outputs.
bool swells(const Dims& dims, int first, int count) {
  double given = 1, made = 1, read = 1;
  bool gathers = false;
  for (int k = first; k < first + count; ++k) {
    const MappedDim& d = dims[size_t(k)];
    if (!d.map) continue;
    AxisMap& m = *d.deciding();
    gathers = gathers || m.gathers();
    given *= double(d.n_deciding()), made *= double(m.n_out);
    read *= double(m.gathers() ? m.n_read() : d.n_deciding());
  }
  return gathers && read > 2 * std::max(given, made);
}

bool bytes_apart(const Dims& dims, int first, const Grouping& by) {
  const MappedDim &row = dims[size_t(first)], &column = dims[size_t(first + 1)];
  int64_t inner = 1;
  for (size_t k = size_t(first + 2); k < dims.size(); ++k) inner *= dims[k].n;
  const int64_t between = (by.rows_first ? column.n : column.n_out()) * inner;
  const int64_t image = std::max(row.n, row.n_out()) * std::max(column.n, column.n_out()) * inner;
  return separates_bytes(between <= max_byte_inner, image);
}

// Whether neighboring axes are summed in separate passes: 8-bit rows that are narrow in between; on a device, also if
// values are clamped in between, for runs of counts, and for long windows.
bool apart(const Dims& dims, int first, int count, const Grouping& by) {
  if (by.device.chunks && by_axis(by.rounding) && count == 2) return bytes_apart(dims, first, by);
  if (!by.device.most_joint_taps) return false;
  double taps = 1;
  for (int k = first; k < first + count; ++k) {
    if (!dims[size_t(k)].map) continue;
    AxisMap& m = *dims[size_t(k)].deciding();
    if (m.kind == AxisMap::Kind::count_sums) return true;
    taps *= double(most_taps(m.as_sums().sums(true).map));
    if (k < first + count - 2) taps *= by.device.planes_apart;
  }
  return by_axis(by.rounding) || taps > double(by.device.most_joint_taps);
}

// The share of an axis's inputs that rows read, at most.
double share_read(AxisMap& m) {
  const double taps = double(m.sums(!m.has_long_rule()).n_taps());
  return std::min(1.0, taps / double(std::max<int64_t>(1, m.n_in)));
}

// Whether the passes of several axes may be separate: they give the same bits, and no axis gathers.
bool may_separate(const Dims& dims, int first, int count, const Grouping& by) {
  if (!by.device.chunks || !rounds_last(by.rounding)) return false;
  for (int k = first; k < first + count; ++k)
    if (dims[size_t(k)].deciding()->gathers()) return false;
  return true;
}

// The rows of the images of a pass of several axes.
ImageRows image_rows(const Dims& dims, int first, int count, const Grouping& by) {
  const size_t last = size_t(first + count - 1);
  int64_t inner = 1, n = 1, made = 1;
  for (size_t k = last + 1; k < dims.size(); ++k) inner *= dims[k].n;
  for (size_t k = size_t(first); k <= last; ++k) n *= dims[k].n, made *= dims[k].n_out();
  const int64_t each = inner * by.size_of_sums;
  const MappedDim& column = dims[last];
  const bool strided = column.n > 1 && column.stride != inner * size_of(Dtype(by.dtype));
  int64_t rows = 1;
  for (size_t k = 0; k < last; ++k) rows *= std::min(dims[k].n, dims[k].n_out());
  const int64_t row = std::max(column.n, column.n_out() / 2) * each;
  return {std::max(n, made) * each, row, rows, !strided, count == most_together};
}

// Whether a long last axis is better summed alone. A pass of several axes needs a table of the whole axis, which takes
// longer than the sums of so few rows. A pass of one axis makes rows a chunk at a time.
bool long_and_few(const Dims& dims, int first, int count) {
  const int last = first + count - 1;
  int64_t made = 1;
  for (int k = first; k < last; ++k) made *= dims[size_t(k)].n_out();
  return made <= min_chunk_rows && dims[size_t(last)].deciding()->has_long_rule();
}

// Whether axes that one pass could sum get a pass each. The share of the rows that are read takes tables of their maps.
bool separate_passes(const Dims& dims, int first, int count, const Grouping& by) {
  if (!may_separate(dims, first, count, by)) return false;
  const double least = least_read(image_rows(dims, first, count, by));
  double read = least <= 1;
  for (int k = first; k < first + count - 1 && read; ++k) read *= share_read(*dims[size_t(k)].deciding());
  return separates(read, least, long_and_few(dims, first, count));
}

// The length of an axis whose inputs, if they are gathered, are in order already.
int64_t length_of(const MappedDim& d) { return d.deciding()->gathers() ? d.deciding()->n_read() : d.n_deciding(); }

Deciding known(const MappedDim& d) { return {length_of(d), d.deciding()->as_sums().sums(true)}; }

// How many inputs of an axis are read, as far as that is known without a table of a long axis: the costs are linear
// between these numbers.
std::vector<Deciding> readings(const MappedDim& d) {
  AxisMap& m = *d.deciding();
  const int64_t n = d.n_deciding();
  if (m.gathers() || !m.has_long_rule()) return {known(d)};
  return {{n, m.n_out, 0}, {n, m.n_out, std::min(n, m.n_out)}, {n, m.n_out, n}};
}

// Whether rows cost less if they are summed before columns. A table of a long axis takes longer than the sums of few
// rows: it is made only if the answer depends on it.
bool rows_first(const MappedDim& row, const MappedDim& column) {
  int less = 0, n = 0;
  for (const Deciding& rows : readings(row))
    for (const Deciding& columns : readings(column)) less += rows_cost_less(rows, columns), ++n;
  if (less == 0 || less == n) return less == n;
  return rows_cost_less(known(row), known(column));
}

// Whether sums along some axis are long (long_sums.hpp). Each pass of one axis makes these in parts.
bool any_long_sums(const Dims& dims, int first, int count, const Grouping& by) {
  const auto begin = dims.begin() + first;
  return !by_axis(by.rounding) && std::any_of(begin, begin + count, [](const MappedDim& d) {
    if (!d.map || d.deciding()->n_read() <= sum_part) return false;
    AxisMap& m = d.deciding()->as_sums();
    return (m.has_long_rule() && m.sums(false).taps_each() > sum_part) || has_long_sums(m.sums(true).map);
  });
}

// Whether one call of the kernel over three axes would sum the first one before the others.
bool sums_planes_first(const MappedDim& plane) {
  return planes_cost_less({length_of(plane), plane.deciding()->n_out, length_of(plane)});
}

// Groups of one axis each, in the order in which one call of the kernel would sum them: another order would change the
// last bits. axes: two or three, ascending.
void in_joint_order(const Dims& dims, const std::vector<int>& axes, std::vector<Group>& groups,
                    std::vector<Group>::iterator at) {
  std::vector<Group> to;
  const int first = axes[0], row = axes[axes.size() - 2], column = axes.back();
  const MappedDim& plane = dims[size_t(first)];
  const bool planes = axes.size() == 3, planes_first = planes && sums_planes_first(plane);
  if (planes_first) to.push_back({false, first, 1});
  const bool swaps = !rows_first(dims[size_t(row)], dims[size_t(column)]);
  to.push_back({false, swaps ? column : row, 1}), to.push_back({false, swaps ? row : column, 1});
  if (planes && !planes_first) to.push_back({false, first, 1});
  groups.insert(at, to.begin(), to.end());
}

// Whether axes are summed in one order wherever they lie: what is between them in memory, and in a part of an array may
// be left out, then changes no bits. Unweighted sums, which are gradients of copies, first sum what shrinks most.
bool keeps_order(const Dims& dims, const std::vector<int>& axes, const Grouping& by) {
  if (axes.size() < 2 || !by.device.chunks || by_axis(by.rounding)) return false;
  return !std::all_of(axes.begin(), axes.end(), [&](int k) { return dims[size_t(k)].deciding()->ones(); });
}

// Adds groups in the order in which neighbors would be summed. together: how many of the last axes share a pass, across
// `span` dims.
void in_one_order(const Dims& dims, const std::vector<int>& axes, int together, int span, std::vector<Group>& groups) {
  const auto last = axes.end() - std::min<ptrdiff_t>(axes.end() - axes.begin(), most_together);
  const std::vector<int> joint(last, axes.end());
  std::vector<Group> of_joint;
  if (together == 1) in_joint_order(dims, joint, of_joint, of_joint.end());
  else {
    of_joint.push_back({false, *(axes.end() - together), span});
    if (size_t(together) < joint.size())
      of_joint.insert(of_joint.begin() + !sums_planes_first(dims[size_t(joint[0])]), {false, joint[0], 1});
  }
  std::vector<Group> alone;
  for (auto k = axes.begin(); k != last; ++k) alone.push_back({false, *k, 1});
  std::stable_sort(alone.begin(), alone.end(),
                   [&](const Group& a, const Group& b) { return cost(a, dims) < cost(b, dims); });
  const auto cheaper = [&, costs = cost(joint, dims)](const Group& g) { return cost(g, dims) <= costs; };
  const auto at = std::find_if_not(alone.begin(), alone.end(), cheaper);
  groups.insert(groups.end(), alone.begin(), at);
  groups.insert(groups.end(), of_joint.begin(), of_joint.end());
  groups.insert(groups.end(), at, alone.end());
}

// How many of the last windows share a pass, and how many dims they lie across.
std::pair<int, int> shared_pass(const std::vector<MappedDim>& dims, const std::vector<int>& windows,
                                const Grouping& by) {
  const int n = int(windows.size());
  int together = 1, span = 1;
  for (int some = 2; some <= std::min(n, most_together); ++some) {
    const int first = windows[size_t(n - some)], across = windows.back() - first + 1;
    if (across > (by.device.spans ? most_together : some)) continue;
    if (!swells(dims, first, across) && !apart(dims, first, across, by)) together = some, span = across;
  }
  return {together, span};
}

}  // namespace

std::vector<Group> grouped(const std::vector<MappedDim>& dims, const Grouping& by) {
  std::vector<int> windows;
  bool copies = false;
  for (size_t k = 0; k < dims.size(); ++k) {
    if (!dims[k].map) continue;
    if (dims[k].map->copies()) copies = true;
    else windows.push_back(int(k));
  }
  const int n = int(windows.size());
  const auto [together, span] = shared_pass(dims, windows, by);
  std::vector<Group> found;
  if (copies) found.push_back({true, 0, int(dims.size())});
  const bool each_alone = together > 1 && together == n && separate_passes(dims, windows[0], n, by);
  if (each_alone || keeps_order(dims, windows, by)) {
    in_one_order(dims, windows, each_alone ? 1 : together, span, found);
    return found;
  }
  for (int k = 0; k < n - together; ++k) found.push_back({false, windows[size_t(k)], 1});
  found.push_back({false, windows[size_t(n - together)], span});
  const auto begin = found.begin() + copies;
  if (found.end() - begin > 1)
    std::stable_sort(begin, found.end(), [&](const Group& a, const Group& b) { return cost(a, dims) < cost(b, dims); });
  if (by_axis(by.rounding) && found.end() - begin == 2)  // in Pillow's order of axes
    std::sort(begin, found.end(),
              [&](const Group& a, const Group& b) { return by.rows_first ? a.first < b.first : a.first > b.first; });
  return found;
}

void separate_long_sums(const std::vector<MappedDim>& dims, const Grouping& by, std::vector<Group>& groups) {
  const auto joint =
      std::find_if(groups.begin(), groups.end(), [](const Group& g) { return g.count > 1 && !g.copies; });
  if (!by.device.chunks || joint == groups.end()) return;
  if (!any_long_sums(dims, joint->first, joint->count, by)) return;
  std::vector<int> axes;
  for (int k = 0; k < joint->count; ++k) axes.push_back(joint->first + k);
  in_joint_order(dims, axes, groups, groups.erase(joint));
}

}  // namespace tenter
