// A map along one axis, in the forms that kernels read.
#pragma once
#include <nanobind/nanobind.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/kernels.hpp"
#include "maps/owned_byte_map.hpp"
#include "maps/owned_map.hpp"
#include "rules/axis_rule.hpp"
#include "rules/pillow_rows.hpp"
#include "system/once.hpp"

namespace tenter {

// It maps single positions. A map of blocks is a map of single positions on a dim outside of the block's own dim. Each
// form of the map is made when a plan first asks for it, and threads share it.
class AxisMap {
 public:
  //   copies      each output is a copy of one input
  //   counts      repeats by counts on a device, whose offsets are given with each call
  //   sums        weighted sums of adjacent inputs
  //   gathered    weighted sums of any inputs, which are first copied into the order in which rows read them
  //   count_sums  the transpose of `counts`
  enum class Kind { copies, counts, sums, gathered, count_sums };
  // Whether a map is complete, or one of the two maps into which a gather is split: its copy or its sums.
  enum class Part { whole, order, sums };

  // A gather as two maps: `order` copies inputs into the order in which rows read them, `sums` sums adjacent values.
  struct LaidOut {
    std::unique_ptr<AxisMap> order, sums;
  };

  AxisMap() = default;
  AxisMap(const AxisMap&) = delete;
  AxisMap& operator=(const AxisMap&) = delete;

  // ---- making a map: one of these is called once

  // `owner` is a Python object that owns what `of` refers to; the AxisMap keeps it alive.

  void set_repeat(int64_t n_in, int64_t times);  // each input `times` times in a row
  void set_runs(int64_t n_in, int64_t n_out, Int64s offsets);
  void set_index(int64_t n_in, Int64s index);
  void set_source_index(nb::object owner, const SourceIndex& of);
  void set_source_index(SourceIndex&& of);
  void set_equal_sums(int64_t n_in, int64_t width);  // the transpose of set_repeat
  void set_map(nb::object owner, OwnedMap& of);      // sums or a gather
  void set_map(Sampling&& of, bool transposed);
  void set_map(SourceIndex&& of, bool transposed);
  void set_rows(int64_t n_in, Rows&& rows, bool ones);
  void set_units(int64_t n_in, PillowRows&& rows);  // sums of 8-bit values, with weights that are multiples of 2^-22
  // weight: nullopt or empty if all weights are 1.
  void set_gather(int64_t n_in, Int64s offset, Int64s index, std::optional<Doubles> weight);
  void set_gather(int64_t n_in, const std::vector<int64_t>& offset, const std::vector<int64_t>& index,
                  std::vector<double>&& weight);
  void set_counts(int64_t n_in, int64_t n_out, bool sums);

  // ---- what the map is

  int64_t n_in = 0, n_out = 0;
  Kind kind = Kind::copies;
  const AxisMap* of = nullptr;  // the map from which this one was made by splitting or cropping; null for others
  Part part = Part::whole;

  bool copies() const { return kind == Kind::copies || kind == Kind::counts; }
  bool gathers() const { return kind == Kind::gathered; }
  bool ones() const;  // whether all weights are 1
  bool has_long_rule() const { return map_ && map_->is_computed(); }
  bool is_filtered_signal() const { return map_ && map_->sampling && map_->sampling->is_filtered_signal(); }
  // Whether the kernel of one axis computes a gather's rows itself, without first copying all inputs.
  bool computes_gather() const { return gathers() && map_; }
  int64_t positions() const;  // about how many positions its tables have
  // Bytes of the tables that the kernel of several axes needs.
  double table_bytes();

  // ---- forms of the map

  // alone: whether no other axis is copied by a map. stride: of the input, in bytes.
  CopyAxis copy_axis(int64_t stride, bool alone);
  const SourceIndex* source_index() const { return source_index_; }
  const Sampling* sampling() const { return map_ ? map_->sampling : nullptr; }
  // The positions of 8-bit values that are interpolated as in OpenCV; null for other maps.
  const LinearSteps* linear_steps() const {
    const Sampling* const rows = map_ && !map_->transposed ? map_->sampling : nullptr;
    return rows && rows->linear_steps ? &*rows->linear_steps : nullptr;
  }
  // Whether 8-bit values can be summed in fixed point, if the other axis has such a map too.
  bool fixed_taps() {
    const AxisMap* m = this;
    while (m->of && !m->sampling()) m = m->of;
    if (kind != Kind::sums || !m->sampling() || !m->sampling()->fixed_taps || m->map_->transposed) return false;
    return TapsAxis::fits(sums(true).map);
  }
  const LaidOut& laid_out();
  // How many values the sums read; of a gather, after they were copied into order.
  int64_t n_read() { return gathers() ? laid_out().sums->n_in : n_in; }
  // The inputs that rows read, from the first to the last, if the others are left out where an axis has tables; else
  // n_in. It decides the order of axes, so it does not depend on whether there are tables.
  int64_t n_spanned();
  AxisMap& as_sums() { return gathers() ? *laid_out().sums : *this; }
  // several: whether the kernel sums several axes at once, which needs tables.
  OwnedMap& sums(bool several);
  bool has_bytes();  // whether weights are multiples of 2^-22 and sums of 8-bit values by them fit 32 bits
  OwnedByteMap& bytes();
  // Crops the inputs at both ends that no row reads, if there are many. Returns {first input, map from there on}; {0,
  // this map} if that would save little. several: as above.
  std::pair<int64_t, AxisMap*> cropped(bool several);

 private:
  struct Cropped {
    int64_t first = 0;
    std::unique_ptr<AxisMap> map;  // null if little would be saved
  };
  const WindowMap* rows_to_crop(bool several);
  std::unique_ptr<Cropped> crop(const WindowMap* rows);
  std::unique_ptr<LaidOut> lay_out(std::vector<int64_t>&& order, Rows&& rows, bool ones) const;

  std::vector<nb::object> owners_;  // Python objects that own what the pointers below refer to
  int64_t repeat_ = -1;             // output o is input o / repeat_; -1 for other maps
  const SourceIndex* source_index_ = nullptr;
  std::optional<Int64s> offsets_, index_;
  std::optional<Doubles> weight_;
  Once<std::vector<int64_t>> table_;
  OwnedMap* map_ = nullptr;
  const ByteMap* units_ = nullptr;  // the rows of `bytes_`, if the map was made of them
  std::optional<SourceIndex> own_index_;
  std::optional<Sampling> own_sampling_;
  std::optional<OwnedMap> own_map_;
  Once<OwnedMap> tables_;  // the same map with tables, for a long axis or units
  Once<OwnedByteMap> bytes_;
  std::atomic<int> has_bytes_{-1};  // -1 here and below: not known yet
  std::atomic<int64_t> n_spanned_{-1};
  Once<LaidOut> laid_out_;
  Once<Cropped> cropped_;
};

}  // namespace tenter
