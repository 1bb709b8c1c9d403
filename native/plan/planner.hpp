// The planner, for any device: it turns maps on some axes of a layout into passes, each a call of the kernel that
// copies or of a kernel that sums. The result is contiguous in the order of the dims.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/kernels.hpp"
#include "kernels/rounding.hpp"
#include "maps/axis_map.hpp"
#include "plan/passes.hpp"

namespace tenter {

// What a pass reads or writes. A memory is the call's input or output, or a temporary. Passes alternate between two
// pairs of temporaries: one for the output of a pass, one for its input made contiguous.
struct Buffer {
  enum Memory : int { input, output, temporary, reordered = temporary + 8, gathered, packed, widened, sums, filtered };
  int memory;
  int64_t at;  // bytes from the begin of the memory
  int dtype;   // of values that are summed; -1 if they are only copied
  int64_t itemsize;
};

// A dim of an array with its map. Maps are borrowed.
//   map     null if the dim does not change
//   whole   if `map` has only some rows of a map, that map, else null: it decides the order of sums, so that the result
//           of a chunk is bit-identical to that chunk of the full result
//   number  of the map among those of the call; -1 without a map
struct MappedDim {
  int64_t n, stride;
  AxisMap* map = nullptr;
  AxisMap* whole = nullptr;
  int number = -1;

  int64_t n_out() const { return map ? map->n_out : n; }
  AxisMap* deciding() const { return whole ? whole : map; }
  // The length by which the order of axes is decided.
  int64_t n_deciding() const { return whole || (map && map->has_long_rule()) ? deciding()->n_spanned() : n; }
};

// A pass that copies by all maps of its dims, or sums along the dims [first, first + count). spare: the temporary in
// which the input is made contiguous if necessary.
struct PlannedPass {
  bool copies;
  Buffer source, target;
  std::vector<MappedDim> dims;
  int first = 0, count = 0, spare = 0;
  bool packs = false;  // whether the input is made contiguous although the kernel could read it as it is
};

// How the leading dims without maps are cut into chunks, so that temporaries between passes stay in cache. One dim is
// cut; the dims outside of it are looped over one position at a time.
struct Chunks {
  struct Loop {
    int64_t n, source_step, target_step;
  };
  std::vector<Loop> loops;                   // from the outermost dim
  int64_t n = 1, each = 1;                   // length of the dim that is cut, and of a chunk
  int64_t source_step = 0, target_step = 0;  // bytes from a position of that dim to the next
  int source = 0, target = 0;                // the memories that are cut
};

// Reserves bytes of a temporary. temporaries: the size of each: as large as its largest use.
void use_temporary(std::vector<int64_t>& temporaries, int memory, int64_t bytes, int64_t alignment);

struct Passes {
  std::vector<PlannedPass> passes;  // on each chunk
  std::vector<PlannedPass> last;    // on the last chunk, if it is smaller
  std::vector<PlannedPass> after;   // on the whole array, after all chunks
  Chunks chunks;
  std::vector<int64_t> temporaries;  // bytes of each
  Accumulate acc = Accumulate::f32;
  Rounding rounding = Rounding::once;  // settled
  bool rows_first = false;
  bool is_filtered_signal = false;

  void use(int memory, int64_t bytes, int64_t alignment) { use_temporary(temporaries, memory, bytes, alignment); }
};

// What the kernels of a device can do.
//   chunks            whether arrays are cut into chunks
//   crops             whether inputs that no row reads are left out
//   sums_bytes        whether 8-bit values can be summed in integers
//   computes_gathers  whether gathers along one axis need no copy of their inputs
//   spans             whether a pass sums axes that are not neighbors
//   wide_channels     whether channels that are adjacent in memory are resampled together even if they fill vectors
//   most_joint_taps   the most taps of an output of several axes that are summed in one pass; 0 for any number
//   planes_apart      by how much more a tap of an axis before the last two counts: outputs do not share its inputs
//   alignment         of temporaries, in bytes
struct Device {
  bool chunks, crops, sums_bytes, computes_gathers, spans, wide_channels;
  int64_t most_joint_taps, planes_apart, alignment;
};
constexpr Device host{true, true, true, true, false, true, 0, 1, 64},
    triton{false, false, true, false, true, false, 256, 3, 256};

// An array with maps on its dims.
//   dtype       of the values; of complex numbers, of their parts
//   itemsize    bytes of an element
//   is_complex  whether elements are complex numbers
//   rounding    of the result, as the call says
//   has_sums    whether the array has it, as an earlier plan of the call kept its sums
struct PlannedArray {
  std::vector<MappedDim> dims;
  int dtype;
  int64_t itemsize;
  bool is_complex;
  Rounding rounding;
  bool has_sums = false;
  // The array before other maps are applied to its sums.
  PlannedArray before() const;
  Buffer as_given(int memory) const { return {memory, 0, dtype, itemsize}; }
  // The same with the dtype of the sums.
  Buffer as_sums(int memory) const;
};
// Called before the tables of a long axis are made, with their bytes. Throws if there is no room for them.
typedef std::function<void(double bytes)> AskRoom;
// Plans passes. from, to: the memories of the array and the result. Throws what `room` throws.
Passes plan_passes(PlannedArray&& x, const Device& device, int from, int to, const AskRoom& room);

}  // namespace tenter
