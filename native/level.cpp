// The kernels for one instruction set: this file is compiled once per level, TENTER_LEVEL being its name.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <utility>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels.hpp"
#include "permutes.hpp"
#include "threads.hpp"
#include "tuning.hpp"
#include "workspace.hpp"

#define TENTER_STRING2(x) #x
#define TENTER_STRING(x) TENTER_STRING2(x)
#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)

namespace tenter {
// Everything lives in an unnamed namespace: were two levels to share an inline function, the linker would keep one of
// them, perhaps with instructions that this machine lacks.
namespace {

#include "vector.hpp"

#include "stream.hpp"

#include "copy.hpp"
#include "runs.hpp"

#include "rows.hpp"

#include "permuted.hpp"
#include "tile.hpp"

#include "window.hpp"

}  // namespace

extern const Kernels TENTER_JOIN(kernels_, TENTER_LEVEL);
const Kernels TENTER_JOIN(kernels_, TENTER_LEVEL){TENTER_STRING(TENTER_LEVEL),
                                                  permutable<float> ? lanes<float> : 0,
                                                  permutable<double> ? lanes<double> : 0,
                                                  copy,
                                                  window,
                                                  runs};

}  // namespace tenter
