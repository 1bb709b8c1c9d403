// Many short rows, some of which are summed as one row. So vectors are filled with outputs of several rows, and loops
// are long.
#pragma once
#include <memory>

#include "maps/owned_map.hpp"

namespace tenter {

struct JoinedRows {
  OwnedMap map;             // the map of a row, as blocks on a diagonal: one for each row that is joined
  WindowTask joined, rest;  // tasks without addresses: of joined rows, and of the rows left over
  int64_t source, target;   // bytes from the first row to the rest

  JoinedRows(int64_t n_in, Rows&& rows, bool ones) : map(n_in, std::move(rows), ones) {}
};

// Returns null if the rows of a task of columns are not short, not many, or not evenly spaced.
std::unique_ptr<JoinedRows> join_rows(const WindowTask& t);

}  // namespace tenter
