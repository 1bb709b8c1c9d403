// One long axis, a band of outputs at a time: the rows of its map are made while they are used, and never all together.
#pragma once
#include "owned_map.hpp"

namespace tenter {

// t: a task of one axis, whose map is `map`, without tables.
void window_in_bands(const WindowTask& t, OwnedMap& map, int threads);

}  // namespace tenter
