// The operands of a case on the device, its chains, and the check of its results.
#pragma once

#include <fmt/format.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kernels/cuda/run.hpp"
#include "microbench/cuda/chain.hpp"
#include "microbench/cuda/device_shapes.hpp"
#include "microbench/cuda/device_under_test.hpp"
#include "microbench/cuda/rotation.hpp"
#include "microbench/harness/verification.hpp"

namespace depthcost::bench {

inline cuda::LaunchOptions launch_options(Launch launch) {
  return {device_cuda_stream(),
          launch == Launch::graph_pdl ? cuda::Overlap::programmatic : cuda::Overlap::none};
}

/// The host memory in which results are compared.
inline Arena& comparison_memory() {
  static const std::unique_ptr<Arena> host = host_arena(kComparisonBytes);
  return *host;
}

template <class Op>
struct Prepared {
  std::vector<Call<Op>> sets;
  Chain window;  // where a kernel is long
  std::size_t window_nodes = 0;
  std::map<std::string, Chains> chains;  // by launch mode and temperature
  bool is_verified = false;
  std::optional<std::string> wrong;

  LaunchNode node(Launch launch, std::size_t num_sets) const {
    return [this, launch, num_sets](std::size_t i) {
      cuda::run(sets[i % num_sets].op, launch_options(launch));
    };
  }
};

/// So many sets of operands that `num_calls` calls in a row are all cold.
template <class Op, class Make>
Prepared<Op> prepare(const Make& make, std::size_t num_tokens, std::size_t num_calls) {
  Prepared<Op> prepared;
  prepared.sets.push_back(make_call<Op>(make, device_memory(), num_tokens));
  const std::size_t cache_bytes = device_properties().cache_bytes;
  const Rotation rotation =
      cold_rotation(prepared.sets.front().operands.bytes(), cache_bytes, num_calls);
  while (prepared.sets.size() < rotation.num_sets)
    prepared.sets.push_back(make_call<Op>(make, device_memory(), num_tokens));
  // No time is better than a time from the cache.
  if (!stays_cold(rotation, num_calls, cache_bytes))
    throw std::runtime_error("operands would come from the cache");
  return prepared;
}

/// Checks the results on the timed operands. Once is enough: every repetition runs the same code.
template <class Op, class Make>
void verify_on_device(Prepared<Op>& prepared, const Make& make) {
  if (!prepared.is_verified) {
    comparison_memory().reset();
    const auto run = [](const Op& op) {
      cuda::run(op, launch_options(Launch::stream));
      synchronise();
    };
    synchronise();
    prepared.wrong = verify(prepared.sets.front(), make, run, comparison_memory());
    prepared.is_verified = true;
  }
  if (prepared.wrong) throw std::runtime_error("wrong result: " + *prepared.wrong);
}

}  // namespace depthcost::bench
