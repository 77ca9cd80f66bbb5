// Orders, stores and distances, and what each mix allows of them.
#include "microbench/cpu/bandwidth_variants.hpp"

#include <fmt/format.h>

namespace depthcost::bench {
namespace {

using Order = BandwidthVariant::Order;
using Stores = BandwidthVariant::Stores;

}  // namespace

std::string name(BandwidthVariant variant) {
  const std::string stores = variant.stores == Stores::cached ? "/cached" : "/streaming";
  if (variant.order == Order::by_row) return "by_row" + stores;
  const std::string_view order = variant.order == Order::by_line    ? "by_line"
                                 : variant.order == Order::by_lines ? "by_lines"
                                                                    : "one_by_one";
  return fmt::format("{}/ahead:{}{}", order, variant.ahead, stores);
}

std::vector<BandwidthVariant> variants_of(const Mix& mix, ArrayPlace place) {
  std::vector<BandwidthVariant> variants;
  const bool is_in_memory = place == ArrayPlace::memory;
  for (const Stores stores : {Stores::cached, Stores::streaming}) {
    const bool has_choice = is_in_memory && mix.writes > mix.in_place;
    if (!has_choice && stores == Stores::streaming) continue;
    for (const std::size_t ahead : {std::size_t{1024}, kUsualAhead, std::size_t{8192}})
      if (is_in_memory || ahead == 1024) variants.push_back({Order::by_lines, stores, ahead});
    for (const std::size_t ahead : {std::size_t{1024}, kUsualAhead})
      if (is_in_memory) variants.push_back({Order::by_line, stores, ahead});
    variants.push_back({Order::by_row, stores});
    for (const std::size_t ahead : {std::size_t{1024}, kUsualAhead})
      if (is_in_memory && num_arrays(mix) > 1)
        variants.push_back({Order::one_by_one, stores, ahead});
  }
  return variants;
}

BandwidthCall arrays_at(std::byte* first, std::size_t size, const Mix& mix,
                        BandwidthVariant variant) {
  const auto next = [&] {
    auto* array = reinterpret_cast<std::uint64_t*>(first);
    first += size;
    return array;
  };
  BandwidthCall call{
      .size = size, .inputs = {}, .outputs = {}, .in_place = mix.in_place, .variant = variant};
  for (unsigned i = 0; i < mix.in_place; ++i) call.outputs.push_back(next());
  call.inputs.assign(call.outputs.begin(), call.outputs.end());
  while (call.inputs.size() < mix.reads) call.inputs.push_back(next());
  while (call.outputs.size() < mix.writes) call.outputs.push_back(next());
  return call;
}

}  // namespace depthcost::bench
