// Window tasks along one long axis, whose map has no tables: its rows are computed one chunk of outputs at a time,
// where they are used.
#pragma once
#include "kernels/rates.hpp"
#include "maps/owned_map.hpp"

namespace tenter {

// The kernel of a task of one axis. map: of that axis.
Kernel chunked_kernel(const WindowTask& t, OwnedMap& map);

// What it does beside its sums.
Work chunked_work(const WindowTask& t, OwnedMap& map);

// Computes a task by it.
void window_in_chunks(const WindowTask& t, OwnedMap& map, int threads);

}  // namespace tenter
