// How one axis is resampled. With the numbers of a call, a rule gives rows of weights or source indices.
#pragma once
#include <optional>

#include "kernels/rounding.hpp"
#include "rules/axis_part.hpp"
#include "rules/source_index.hpp"
#include "rules/pillow_rows.hpp"
#include "rules/sampling.hpp"

namespace tenter {

//   nearest, nearest-exact  each output is a copy of one input
//   area                    means of all pixels that an output touches; with a box the same as overlap
//   overlap                 means weighted by how much of each pixel is inside of the output's area
//   gaussian                linear, after a Gaussian if the axis shrinks
//   filter                  weights are a function of the distance; antialias stretches it if the axis shrinks
// clang-format off
#define TENTER_KINDS(row) \
  row(nearest, "nearest") \
  row(nearest_exact, "nearest-exact") \
  row(area, "area") \
  row(overlap, "overlap") \
  row(gaussian, "gaussian") \
  row(filter, "filter")
// clang-format on
TENTER_ENUM_SPELLED(Kind, kind, TENTER_KINDS)

// Which pixel a nearest kind takes if its position is between two.
#define TENTER_TIES(row) row(floor) row(ceil) row(prefer_floor) row(prefer_ceil)
TENTER_ENUM(Tie, tie, TENTER_TIES)

// Which library's arithmetic computes positions. The flag says whether a convention can name it.
//   exact, rounded   exact positions; `rounded` also rounds weights to multiples of 2^-22
//   torch            one of PyTorch's nearest kernels, which round differently: `settled` chooses which by sizes, dtype
//                    and device
//   torch-direct     the same for the channels-last layout
//   direct, separable, separable64, cuda, cuda-image   the kernels of PyTorch
//   pillow, opencv, scipy, jax   the arithmetic of that library
//   steps, taps      8-bit values that are interpolated along two axes: in OpenCV's fixed point, and in one that rounds
//                    once (byte_taps.hpp)
// clang-format off
#define TENTER_ARITHMETICS(row) \
  row(exact, "exact", true) \
  row(torch, "torch", true) \
  row(torch_direct, "torch-direct", true) \
  row(pillow, "pillow", true) \
  row(opencv, "opencv", true) \
  row(scipy, "scipy", true) \
  row(jax, "jax", true) \
  row(direct, "direct", false) \
  row(separable, "separable", false) \
  row(separable64, "separable64", false) \
  row(cuda, "cuda", false) \
  row(cuda_image, "cuda-image", false) \
  row(rounded, "22 bits", false) \
  row(steps, "11 bits", false) \
  row(taps, "14 bits", false)
// clang-format on
TENTER_ENUM_SPELLED(Arithmetic, arithmetic, TENTER_ARITHMETICS)

// Positions, and the stretch of the filter, for numbers with more bits than the core supports. Python computes them
// (tenter._specs.axis_maps).
struct WidePositions {
  Line line;
  Stretch stretch;
};

// The numbers of a call for one axis. Pointers are borrowed.
//   scale      null if positions follow the sizes
//   box        null for the whole axis
//   positions  null if the core computes them
struct AxisNumbers {
  const Scale* scale = nullptr;
  const Box* box = nullptr;
  const WidePositions* positions = nullptr;
};

// What else of a call decides how an axis is resampled.
struct AxisCall {
  int n_axes;                  // how many axes are resized
  double sum_of_sizes;         // of the result along these axes
  bool keeps_lengths = false;  // whether no axis changes its length
  bool channels_last = false;  // whether an interpolated tensor has the channels-last layout
  bool doubles = false;        // whether values are float64
  bool on_device = false;
  Rounding rounding = Rounding::once;
  bool bytes = false;  // whether values are unsigned 8-bit integers
};

struct AxisRule {
  Kind kind;
  Align align;
  Tie tie;
  Arithmetic arithmetic;
  Edge edge;
  bool antialias;
  // The filter, for Kind::filter and Kind::gaussian.
  Sampling::Weights weights = nullptr;
  std::optional<Filter> filter = std::nullopt;  // the core's filter with these weights; nullopt if Python computes them
  double support = 0;                           // in pixels
  bool sums_to_one = false;                     // whether the weights sum to one without normalizing

  bool is_nearest() const { return kind == Kind::nearest || kind == Kind::nearest_exact; }
  bool is_area() const { return kind == Kind::area || kind == Kind::overlap; }
  // The alignment that is used: areas have edges, so they cannot be aligned by corners.
  Align lined_up_by() const { return is_area() && by_corners(align) ? Align::half_pixel : align; }
  // The filter, if it is one of Pillow's.
  const NamedFilter* of_pillow() const { return kind == Kind::filter && filter ? tenter::of_pillow(*filter) : nullptr; }
  // The arithmetic to use: chooses PyTorch's kernel for `torch`, and one for 8-bit values. Sets by.scale to null if the
  // scale has no effect.
  Arithmetic settled(int64_t n_in, int64_t n_out, const AxisCall& call, AxisNumbers& by) const;
  // The rows of a kind that is not nearest; nullopt if numbers have more bits than the core supports.
  std::optional<Sampling> sampling(int64_t n_in, int64_t n_out, const AxisNumbers& by) const;
  // Sets linear_steps or fixed_taps of the rows, for Arithmetic::steps and Arithmetic::taps.
  static void mark(Sampling& rows, Arithmetic how, const AxisNumbers& by);
  // The source indices of a nearest kind, by a settled arithmetic; nullopt as above, and if indices descend.
  std::optional<SourceIndex> source_index(int64_t n_in, int64_t n_out, const AxisNumbers& by, Arithmetic how) const;
  // How many inputs there are per output. Returns false if numbers have more bits than the core supports.
  bool pitch(int64_t n_in, int64_t n_out, const AxisNumbers& by, Stretch& to) const;

 private:
  std::optional<SourceIndex> source_index_at(Edge padding, int64_t n_in, int64_t n_out, const AxisNumbers& by,
                                             Arithmetic how) const;
  std::optional<SourceIndex> on_line(Edge padding, int64_t n_in, int64_t n_out, const AxisNumbers& by) const;
  bool inside(int64_t n_in, int64_t n_out, const AxisNumbers& by, int64_t& begin, int64_t& end) const;
  bool exact_units(int64_t n_in, int64_t n_out, const AxisNumbers& by, Units& to) const;
};

}  // namespace tenter
