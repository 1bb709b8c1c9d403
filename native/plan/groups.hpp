// Which axes one pass handles, and the order of the passes.
#pragma once
#include <cstdint>
#include <vector>

#include "plan/planner.hpp"

namespace tenter {

// The axes of one pass. A copy does all axes with copying maps; sums do `count` neighbors from `first` on. On a
// device that spans others, the axis between two with sums may have no map.
struct Group {
  bool copies;
  int first, count;
  bool has(int k, const MappedDim& d) const {
    return copies ? d.map && d.map->copies() : first <= k && k < first + count;
  }
};

// What else decides on the groups. size_of_sums: bytes of a sum. dtype: of the values. The other members are as in
// Passes.
struct Grouping {
  int dtype;
  int64_t size_of_sums;
  Rounding rounding;
  bool rows_first;
  const Device& device;
};

// Copies come first, then the axes that shrink most. The last two or three windows are one pass if they are neighbors
// (or if the device spans what is between them), unless rows are narrow.
std::vector<Group> grouped(const std::vector<MappedDim>& dims, const Grouping& by);

// Replaces a pass of several axes by passes of one axis each, in the same order, if some sums are long (long_sums.hpp).
void separate_long_sums(const std::vector<MappedDim>& dims, const Grouping& by, std::vector<Group>& groups);

}  // namespace tenter
