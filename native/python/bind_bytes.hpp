#pragma once
#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace tenter {

void bind_bytes(nb::module_& m);

}  // namespace tenter
