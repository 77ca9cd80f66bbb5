// Where a token's experts lie, by counting all choices.
#include "model/step/collectives.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "tests/studies.hpp"

namespace depthcost::collectives_test {
namespace {

/// Nodes of a token in the mean, by a loop: every choice of groups is as likely, and each of the
/// token's experts lies in any of the nodes that these reach.
double counted_nodes(Count nodes, Count groups, Count chosen, Count active) {
  double reached = 0;
  Count choices = 0;
  for (std::uint32_t set = 0; set < (1U << groups); ++set) {
    if (std::popcount(set) != chosen) continue;
    ++choices;
    std::uint32_t in_nodes = 0;
    for (Count group = 0; group < groups; ++group)
      if ((set >> group) % 2 == 1) {
        const Count first = group * nodes / groups;
        const Count last = std::max(first + 1, (group + 1) * nodes / groups);
        for (Count node = first; node < last; ++node) in_nodes |= 1U << node;
      }
    reached += std::popcount(in_nodes);
  }
  reached /= as_double(choices);
  return reached * (1 - std::pow(1 - 1 / reached, as_double(active)));
}

Study study_of(Count nodes) {
  Study study = test::kimi_k3_study();
  study.machine->devices_per_node = 8;
  study.expert_parallel_size = 8 * nodes;
  return study;
}

TEST(NodesOfToken, AreThoseThatItsGroupsReach) {
  for (const Count nodes : {1, 2, 4, 8, 16})
    for (const Count groups : {1, 2, 4, 8})
      for (Count chosen = 1; chosen <= groups; ++chosen) {
        const ExpertMlp experts{.num_experts = 256,
                                .num_active = 8,
                                .width = 1,
                                .latent_width = {},
                                .router_width = {},
                                .num_groups = groups,
                                .groups_of_token = chosen};
        EXPECT_NEAR(nodes_of_token(study_of(nodes), experts),
                    counted_nodes(nodes, groups, chosen, 8), 1e-12)
            << nodes << " " << groups << " " << chosen;
      }
}

/// DeepSeek-V3: no token is sent to more than four of eight nodes.
TEST(NodesOfToken, OfDeepSeekAreFourAtMost) {
  ExpertMlp experts{
      .num_experts = 256, .num_active = 8, .width = 2048, .latent_width = {}, .router_width = {}};
  EXPECT_NEAR(nodes_of_token(study_of(8), experts), 8 * (1 - std::pow(7.0 / 8, 8)), 1e-12);
  experts.num_groups = 8;
  experts.groups_of_token = 4;
  EXPECT_NEAR(nodes_of_token(study_of(8), experts), 4 * (1 - std::pow(3.0 / 4, 8)), 1e-12);
}

}  // namespace
}  // namespace depthcost::collectives_test
