// Many short rows, some of which are summed as one row. So vectors are filled with outputs of several rows, and loops
// are long.
#pragma once
#include <memory>

#include "maps/owned_map.hpp"
#include "plan/passes.hpp"

namespace tenter {

struct JoinedRows {
  OwnedMap map;             // the map of a row, as blocks on a diagonal: one for each row that is joined
  WindowTask joined, rest;  // tasks without addresses: of joined rows, and of the rows left over, if there are any
  int64_t source, target;   // bytes from the first row to the rest

  JoinedRows(int64_t n_in, Rows&& rows, bool ones) : map(n_in, std::move(rows), ones) {}
};

// t: a task of columns, whose n_rows rows are its outer dims. Returns null for other tasks, and if rows are not short,
// not many, or not evenly spaced.
std::unique_ptr<JoinedRows> join_rows(const WindowTask& t, int64_t n_rows);

// Whether the input of a pass along one axis is made contiguous first: because columns are far apart, so that
// neighboring rows share cache lines, because more rows are then joined, or because values of a column fill vectors.
// map: of the axis. Its tables are made if the answer depends on them.
bool packs_rows(const Pass& p, OwnedMap& map, Dtype in, Accumulate acc);

}  // namespace tenter
