// How one axis is resampled, and the rows or inputs that this means for a call's numbers.
#pragma once
#include <optional>

#include "axis_part.hpp"
#include "picks.hpp"
#include "pillow_rows.hpp"
#include "sampling.hpp"

namespace tenter {

// filter: by a function of distances, which is stretched where an axis shrinks with antialias. gaussian: linear, after
// a Gaussian where an axis shrinks. area: means of the pixels that an output touches, which means of a part of an axis
// are not; overlap: means by how much of each pixel lies within.
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

// Which pixel a nearest kind takes where its position lies between two.
#define TENTER_TIES(row) row(floor) row(ceil) row(prefer_floor) row(prefer_ceil)
TENTER_ENUM(Tie, tie, TENTER_TIES)

// Whose arithmetic positions have. The flag of a row says whether conventions name it. torch: PyTorch's, whose kernels
// of nearest kinds round in ways of their own: torch-direct for channels that lie last; which kernel else, sizes, dtype
// and device say. rounded: exact positions, and weights rounded to multiples of 2^-22.
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
  row(rounded, "22 bits", false)
// clang-format on
TENTER_ENUM_SPELLED(Arithmetic, arithmetic, TENTER_ARITHMETICS)

// Positions, and how many times wider than by itself a filter is, of numbers with more bits than the core keeps. Python
// computes these (tenter._specs.axis_maps).
struct WidePositions {
  Line line;
  Stretch stretch;
};

// What a call says of an axis in numbers. scale: null where positions follow sizes. box: null for all of the axis.
struct AxisNumbers {
  const Scale* scale = nullptr;
  const Box* box = nullptr;
  const WidePositions* positions = nullptr;
};

// What a call decides of an axis besides. Sizes are those of all axes that are resized.
struct AxisCall {
  int n_axes;
  double sum_of_sizes;
  bool keeps_lengths;        // of all axes
  bool channels_last;        // in memory, of an interpolation
  bool doubles;              // whether values are
  bool on_device, in_bytes;  // in_bytes: 8-bit values that are summed in integers
};

struct AxisRule {
  Kind kind;
  Align align;
  Tie tie;
  Arithmetic arithmetic;
  Edge edge;
  bool antialias;
  Sampling::Weights weights;
  std::optional<Filter> filter;  // of the core's, that has these weights
  double support;
  bool sums_to_one;  // whether the weights do so by themselves

  bool picks() const { return kind == Kind::nearest || kind == Kind::nearest_exact; }
  bool is_area() const { return kind == Kind::area || kind == Kind::overlap; }
  // What positions are lined up by: corners line up points, and areas have edges.
  Align lined_up_by() const { return is_area() && by_corners(align) ? Align::center : align; }
  // The filter, if it is one of Pillow's.
  const NamedFilter* of_pillow() const { return kind == Kind::filter && filter ? tenter::of_pillow(*filter) : nullptr; }
  // The arithmetic where `torch` leaves it open, and of 8-bit values. Drops the scale where it does not count.
  Arithmetic settled(int64_t n_in, int64_t n_out, const AxisCall& call, AxisNumbers& by) const;
  // The rows of an axis that is not picked; none, as below, where numbers have more bits than the core keeps.
  std::optional<Sampling> sampling(int64_t n_in, int64_t n_out, const AxisNumbers& by) const;
  // The inputs that outputs take, by a settled arithmetic; none where these descend too.
  std::optional<Picking> picking(int64_t n_in, int64_t n_out, const AxisNumbers& by, Arithmetic how) const;
  // Inputs for each output.
  bool pitch(int64_t n_in, int64_t n_out, const AxisNumbers& by, Stretch& to) const;

 private:
  std::optional<Picking> picking_at(Edge past, int64_t n_in, int64_t n_out, const AxisNumbers& by,
                                    Arithmetic how) const;
  std::optional<Picking> on_line(Edge past, int64_t n_in, int64_t n_out, const AxisNumbers& by) const;
  bool inside(int64_t n_in, int64_t n_out, const AxisNumbers& by, int64_t& begin, int64_t& end) const;
  bool exact_units(int64_t n_in, int64_t n_out, const AxisNumbers& by, Units& to) const;
};

}  // namespace tenter
