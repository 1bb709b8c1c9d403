// A map along an axis, in the forms that kernels read.
#pragma once
#include <nanobind/nanobind.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "axis_rule.hpp"
#include "byte_step.hpp"
#include "kernels.hpp"
#include "owned_map.hpp"
#include "pillow_rows.hpp"

namespace tenter {

// A map of single positions: of one in blocks, the block is a dim of its own. A form is made when a plan first asks for
// it, with Python's lock.
class AxisMap {
 public:
  // copies: outputs are inputs. counts, count_sums: repeats by counts on a device, and their transpose, whose offsets
  // come with the call. sums: of adjacent inputs. gathered: of inputs that are put in another order first.
  enum class Kind { copies, counts, sums, gathered, count_sums };
  // What another map was made into.
  enum class Part { whole, order, sums };

  // What the sums of a gather read, and the sums of that.
  struct LaidOut {
    std::unique_ptr<AxisMap> order, sums;
  };

  AxisMap() = default;
  AxisMap(const AxisMap&) = delete;
  AxisMap& operator=(const AxisMap&) = delete;

  // ---- how a map is made, once

  void set_repeat(int64_t n_in, int64_t times);  // each input so many times in a row
  void set_runs(int64_t n_in, int64_t n_out, Int64s offsets);
  void set_index(int64_t n_in, Int64s index);
  void set_picking(nb::object held, const Picking& of);
  void set_picking(Picking&& of);
  void set_equal_sums(int64_t n_in, int64_t width);  // the transpose of set_repeat
  void set_map(nb::object held, OwnedMap& of);       // sums or gathered
  void set_map(Sampling&& of, bool transposed);
  void set_map(Picking&& of, bool transposed);
  void set_rows(int64_t n_in, Rows&& rows, bool ones);
  void set_units(int64_t n_in, PillowRows&& rows);  // of 8-bit values: multiples of 2^-22
  // weight: null where all are ones.
  void set_gather(int64_t n_in, Int64s offset, Int64s index, std::optional<Doubles> weight);
  void set_gather(int64_t n_in, const std::vector<int64_t>& offset, const std::vector<int64_t>& index,
                  std::vector<double>&& weight);
  void set_counts(int64_t n_in, int64_t n_out, bool sums);

  // ---- what it is

  int64_t n_in = 0, n_out = 0;
  Kind kind = Kind::copies;
  const AxisMap* of = nullptr;  // the map that this is a part of, if it is one
  Part part = Part::whole;

  bool copies() const { return kind == Kind::copies || kind == Kind::counts; }
  bool gathers() const { return kind == Kind::gathered; }
  bool ones() const;  // whether all weights are
  bool has_long_rule() const { return map_ && map_->is_computed(); }
  bool is_filtered_signal() const { return map_ && map_->sampling && map_->sampling->is_filtered_signal(); }
  // Whether the kernel of one axis computes a gather's rows, without an order of inputs.
  bool computes_gather() const { return gathers() && map_; }
  int64_t positions() const;  // in its tables, about
  // Bytes of the tables that the kernel of several axes needs.
  double table_bytes();

  // ---- forms

  // alone: whether no other axis is copied by a map.
  CopyAxis copy_axis(int64_t stride, bool alone);
  const Picking* picking() const { return picking_; }
  const Sampling* sampling() const { return map_ ? map_->sampling : nullptr; }
  const LaidOut& laid_out();
  // The inputs that sums read: of a gather in their order.
  int64_t n_read() { return gathers() ? laid_out().sums->n_in : n_in; }
  AxisMap& as_sums() { return gathers() ? *laid_out().sums : *this; }
  // several: with tables, for kernels of several axes.
  OwnedMap& sums(bool several);
  bool has_bytes();  // whether weights are such multiples, and their sums of bytes not too large
  OwnedByteMap& bytes();
  int64_t most_taps();
  // Without the inputs at its ends that nothing reads, if these are many: the first that is left, and the map from
  // there on. several: as above.
  std::pair<int64_t, AxisMap*> cropped(bool several);

 private:
  const WindowMap* rows_to_crop(bool several);
  void lay_out(std::vector<int64_t>&& order, Rows&& rows, bool ones);

  std::vector<nb::object> held_;  // what the pointers are into, of Python's
  int64_t repeat_ = -1;           // of a copy: output o is input o / repeat
  const Picking* picking_ = nullptr;
  std::optional<Int64s> offsets_, index_;
  std::optional<Doubles> weight_;
  std::vector<int64_t> table_;
  int64_t width_ = 0;
  OwnedMap* map_ = nullptr;
  std::optional<PillowRows> units_;
  std::optional<Picking> own_picking_;
  std::optional<Sampling> own_sampling_;
  std::optional<OwnedMap> own_map_;
  std::unique_ptr<OwnedMap> tables_;  // of a long axis
  std::unique_ptr<OwnedByteMap> bytes_;
  std::optional<bool> has_bytes_;
  bool asked_for_crop_ = false;
  std::optional<LaidOut> laid_out_;
  int64_t first_ = 0;
  std::unique_ptr<AxisMap> cropped_;
};

}  // namespace tenter
