// An axis's map, made for one call of a family.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "byte_step.hpp"
#include "families.hpp"
#include "owned_map.hpp"
#include "pillow_rows.hpp"

namespace tenter {

// The axis of a copy by p, of inputs that are `stride` bytes apart. alone: whether no other axis is picked. table:
// memory for one.
CopyAxis copy_axis(const Picking& p, int64_t stride, bool alone, std::vector<int64_t>& table);

struct NewMap {
  std::optional<Sampling> sampling;
  std::optional<Picking> picking;
  std::optional<OwnedMap> map;
  std::vector<int64_t> order;  // inputs in the order in which `map` reads them; empty: as they are
  PillowRows rows;             // of 8-bit values summed in integers
  std::optional<OwnedByteMap> byte_map;
  std::vector<int64_t> table;  // the same, once it is made
  std::vector<double> inside;  // by outputs the weight that inputs have, once it is found; empty: one
  int64_t n_in = 0, n_out = 0;
  bool is_identity = false, is_long = false;  // is_long: rows are computed, but for a kernel of several axes

  // False where Python's code shall make it.
  bool make(const Family& family, const AxisRule& rule, int64_t n_in, int64_t n_out, const AxisNumbers& by,
            Arithmetic how);
  // A copy, or the sums that transpose it; false where Python's code shall make them.
  bool make_copy(Picking&& of);
  bool make_sums(Picking&& of);
  bool copies() const { return picking && !map; }
  bool gathers() const { return !order.empty(); }
  int64_t n_read() const { return gathers() ? int64_t(order.size()) : n_in; }
  // Finds the weight that inputs have in each output of a sum; false where Python's code shall find it.
  // rule: what says it, where that is another.
  bool weigh(const AxisRule* rule, const AxisNumbers& by);
  // Of 8-bit values beside an axis that integers are not summed along: those weights as they are.
  void use_floats();
  // For a kernel of several axes; false as above.
  bool make_tables();
  // Leaves out inputs at the ends that nothing reads, if these are many: the first that is left, and how many are, of
  // n. As tenter.maps._part.cropped, of a map that is not long and has tables; after that it has no rule.
  std::pair<int64_t, int64_t> crop(int64_t n);

 private:
  bool make_rounded();
  void lay_out();
  void lay_out(const std::vector<int64_t>& offset, const std::vector<int64_t>& column, std::vector<double>&& weight);
  bool use_integers(Rows& made);
  bool make_pillow(const NamedFilter& filter, int64_t n_in, int64_t n_out, const Box* box);
};

}  // namespace tenter
