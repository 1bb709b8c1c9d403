// The structs of DLPack's exchange API that the core uses. They do not change within a major version.
#pragma once
#include <cstdint>

namespace tenter {

struct DLDevice {
  int32_t type, id;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
};
struct ManagedTensor {
  uint32_t major, minor;
  void* context;
  void (*release)(ManagedTensor*);
  uint64_t flags;
  DLTensor tensor;
};
struct ExchangeApi {
  uint32_t major, minor;
  void *older, *allocate, *from_python;
  int (*make)(ManagedTensor* from, void** y);
  int (*read)(void* x, DLTensor* out);
};

}  // namespace tenter
