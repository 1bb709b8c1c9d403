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

constexpr int64_t most_bytes = int64_t(1)
                               << 28;  // beyond these Python's code checks whether the machine has the memory

struct NewMap {
  std::optional<Sampling> sampling;
  std::optional<Picking> picking;
  std::optional<OwnedMap> map;
  PillowRows rows;  // of 8-bit values summed in integers
  std::optional<OwnedByteMap> byte_map;
  int64_t n_in = 0, n_out = 0;
  bool is_identity = false, is_long = false;  // is_long: rows are computed, but for a kernel of several axes

  // False where Python's code shall make it. part: of the axis; null for all of it. scale: null where positions follow
  // sizes.
  bool make(const Family& family, const Family::Axis& a, int64_t n_in, int64_t n_out, const Boxes::Each* part,
            const Scale* scale);
  // A copy, or the sums that transpose it.
  void make_copy(Picking&& of);
  void make_sums(Picking&& of);
  bool copies() const { return picking && !map; }
  // Of a copy. alone: of one axis. Copies of any form have the same bits.
  CopyAxis copy_axis(int64_t stride, bool alone);
  // For a kernel of several axes; false as above.
  bool make_tables();
  // Leaves out inputs at the ends that nothing reads, if these are many: the first that is left, and how many are, of
  // n. As tenter.maps._part.cropped, of a map that is not long and has tables; after that it has no rule.
  std::pair<int64_t, int64_t> crop(int64_t n);

 private:
  bool make_pillow(const Family::Axis& a, int64_t n_in, int64_t n_out, const Boxes::Each* part);
  bool round_weights();

  std::vector<int64_t> table_;  // of a copy
};

}  // namespace tenter
