// Window tasks along one long axis, whose map has no tables: its rows are computed one chunk of outputs at a time,
// where they are used.
#pragma once
#include "maps/owned_map.hpp"

namespace tenter {

// t: a task of one axis. map: the map of that axis.
void window_in_chunks(const WindowTask& t, OwnedMap& map, int threads);

}  // namespace tenter
