// What kernels of new calls read, where that is not the array as it lies.
#pragma once
#include <cstdint>
#include <vector>

#include "kernels.hpp"
#include "passes.hpp"

namespace tenter {

// Dims of an array, made contiguous in their order. orders: for each dim the inputs that are taken of it, in that
// order; null for all of them as they are, and null where all dims have none.
void pack(const Dim* dims, int n, int64_t itemsize, const std::vector<int64_t>* const* orders, const char* src,
          char* dst, int threads);
void set_contiguous(Dim* dims, int n, int64_t itemsize);

// Integers of up to 32 bits as float64, which holds their sums exactly.
bool widens(Dtype d);
void widen(Dtype d, const char* src, double* dst, int64_t n);

}  // namespace tenter
