// The inputs that an axis's outputs take, for one call of a family.
#pragma once
#include <optional>
#include <vector>

#include "families.hpp"
#include "picks.hpp"

namespace tenter {

// How PyTorch's formula is chosen, where the axis has one of its formulas: direct, or the axis's own.
struct NewPicking {
  int64_t n_in, n_out;
  const Boxes::Each* part;  // of the axis; null for all of it
  const Scale* scale;       // null where positions follow sizes
  bool direct;

  // tenter._rules.nearest.picking; none where Python's code shall make it.
  std::optional<Picking> make(const Family::Axis& a) const;

 private:
  // edge: of a's, or one past which indices do not go on.
  std::optional<Picking> with(const Family::Axis& a, Edge edge) const;
  Picking by(Formula formula, double first, double step, Edge edge) const;
  std::optional<Picking> on_line(const Family::Axis& a, Edge edge) const;
  std::optional<Picking> torch_direct(bool exact) const;
};

// The axis of a copy by p, of inputs that are `stride` bytes apart. alone: whether no other axis is picked. table:
// memory for one.
CopyAxis copy_axis(const Picking& p, int64_t stride, bool alone, std::vector<int64_t>& table);

}  // namespace tenter
