// Which kernels run one after the other, on any device: maps on some axes of an array's layout become passes, each of
// the kernel that copies or of the one that sums. The result is contiguous in the order of the dims.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "axis_map.hpp"
#include "kernels.hpp"
#include "passes.hpp"

namespace tenter {

// What passes read and write: the call's input and output, then temporaries. Passes use four of these by turns, two
// each: what a pass makes, and its input made contiguous.
struct Buffer {
  enum Memory : int { input, output, temporary, reordered = temporary + 8, gathered, packed, widened, sums };
  int memory;
  int64_t at;  // bytes
  int dtype;   // that sums read or write; -1 of values that are copied
  int64_t itemsize;
};

// A dim of an array, with the map along it. whole: of a map of some rows, the map of all of them, which says in which
// order sums are taken, as the bits of a part are those of the whole.
struct MappedDim {
  int64_t n, stride;
  AxisMap* map = nullptr;
  AxisMap* whole = nullptr;
  int number = -1;  // of the map among those of the call

  int64_t n_out() const { return map ? map->n_out : n; }
  AxisMap* deciding() const { return whole ? whole : map; }
  int64_t n_deciding() const { return whole ? whole->n_in : n; }
};

// Dims [first, first + count) are summed along, or all that have maps are copied. spare: the temporary that the input
// is made contiguous in, if it must be.
struct PlannedPass {
  bool copies;
  Buffer source, target;
  std::vector<MappedDim> dims;
  int first = 0, count = 0, spare = 0;
};

// Leading dims that no map changes are independent, so that they go a slice at a time and what is between the passes
// stays in cache: `passes` are those of one slice, `last` those of what is left over.
struct Slices {
  struct Loop {
    int64_t n, source_step, target_step;
  };
  std::vector<Loop> loops;                   // over single positions of dims outside of the one that is cut
  int64_t n = 1, each = 1;                   // of that dim
  int64_t source_step = 0, target_step = 0;  // of a slice
  int source = 0, target = 0;                // what the slices are of
};

// temporaries: the bytes of each, as large as its largest use.
void use_temporary(std::vector<int64_t>& temporaries, int memory, int64_t bytes, int64_t alignment);

struct Passes {
  std::vector<PlannedPass> passes, last;
  std::vector<PlannedPass> after;  // on the whole
  Slices slices;
  std::vector<int64_t> temporaries;  // bytes of each
  Accumulate acc = Accumulate::f32;
  bool in_bytes = false, saturate = false, rows_first = false;
  bool is_filtered_signal = false;

  void use(int memory, int64_t bytes, int64_t alignment) { use_temporary(temporaries, memory, bytes, alignment); }
};

// What a device's kernels can do. most_joint_taps: of an output of several axes that are summed in one pass; 0: any.
struct Device {
  bool slices, crops, sums_bytes, computes_gathers;
  int64_t most_joint_taps, alignment;
};
constexpr Device host{true, true, true, true, 0, 64}, triton{false, false, false, false, 64, 256};

// An array that maps are applied to. saturate: 8-bit values are cut to their range after each axis too, as Pillow does.
// parts: whether elements are complex numbers, whose parts are of the dtype.
struct PlannedArray {
  std::vector<MappedDim> dims;
  int dtype;
  int64_t itemsize;
  bool in_parts, saturate;
};
// Throws what `room` throws: it is asked before tables of a long axis are made, of so many bytes. from, to: the
// memories of the array and the result.
typedef std::function<void(double bytes)> AskRoom;
Passes plan_passes(PlannedArray&& x, const Device& device, int from, int to, const AskRoom& room);

}  // namespace tenter
