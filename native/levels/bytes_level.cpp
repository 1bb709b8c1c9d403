// The kernels of pictures for one instruction set. Compiled once per set, with its name as TENTER_LEVEL.
#include "levels/bytes-inl.hpp"
#include "levels/byte-taps-inl.hpp"
#include "levels/pillow-weights-inl.hpp"
#include "levels/premultiply-inl.hpp"

#define TENTER_JOIN2(a, b) a##b
#define TENTER_JOIN(a, b) TENTER_JOIN2(a, b)

namespace tenter {

extern const ByteKernels TENTER_JOIN(byte_kernels_, TENTER_LEVEL);
const ByteKernels TENTER_JOIN(byte_kernels_, TENTER_LEVEL){
    weight_form, bytes, byte_taps, premultiply, is_alpha, pillow_weights, make_groups, normalize, store_rows};

}  // namespace tenter
