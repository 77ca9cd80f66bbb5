// Turns error codes of CUDA into exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include <source_location>
#include <stdexcept>
#include <string>

namespace depthcost::cuda {

inline void check(cudaError_t status,
                  const std::source_location& where = std::source_location::current()) {
  if (status == cudaSuccess) return;
  throw std::runtime_error(std::string(where.file_name()) + ":" + std::to_string(where.line()) +
                           ": " + cudaGetErrorName(status) + ": " + cudaGetErrorString(status));
}

}  // namespace depthcost::cuda
