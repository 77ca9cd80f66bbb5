// One divisor after another.
#include "model/plan/placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "model/architecture/expert_layers.hpp"

namespace depthcost {
namespace {

std::vector<Count> divisors(Count number) {
  std::vector<Count> all;
  for (Count divisor = 1; divisor <= number; ++divisor)
    if (number % divisor == 0) all.push_back(divisor);
  return all;
}

std::vector<Count> expert_choices(const Architecture& architecture, Count all) {
  const std::optional<Count> experts = fewest_experts(architecture);
  if (!experts) return {1};
  std::vector<Count> ranks = divisors(all);
  std::erase_if(ranks, [&](Count count) { return count > *experts; });
  return ranks;
}

}  // namespace

std::string placement_text(const Placement& placement) {
  std::string text;
  const auto add = [&](const char* kind, Count ranks) {
    if (ranks > 1) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kind, ranks);
  };
  add("tensor", placement.tensor);
  add("pipeline", placement.pipeline);
  add("context", placement.context);
  add("data", placement.data);
  add("expert", placement.expert);
  return text.empty() ? "one device" : text;
}

std::vector<Placement> placements(const Study& study, Count devices) {
  const Architecture& architecture = *study.model.architecture;
  const Count heads = heads_to_share(architecture);
  const Count decoder_layers = study.model.num_layers / 2;
  std::vector<Placement> all;
  for (const Count tensor : divisors(devices)) {
    if (heads % tensor != 0) continue;
    for (const Count pipeline : divisors(devices / tensor)) {
      if (pipeline > decoder_layers) continue;
      const Count rest = devices / tensor / pipeline;
      for (const Count context : divisors(rest))
        for (const Count expert : expert_choices(architecture, tensor * rest))
          all.push_back({tensor, pipeline, context, rest / context, expert});
    }
  }
  return all;
}

}  // namespace depthcost
