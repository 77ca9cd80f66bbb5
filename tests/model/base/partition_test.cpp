// Partitions: the golden cases, every refusal with its text, and the rules' definitions.
#include "model/base/partition.hpp"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "model/base/infeasible.hpp"
#include "tests/golden.hpp"

namespace depthcost::partition_test {
namespace {

Partition partition_of(const nlohmann::json& spec, Count num_layers) {
  static const std::map<std::string, Remainder> rules{{"paper", Remainder::paper},
                                                      {"ceil", Remainder::ceil},
                                                      {"strict", Remainder::strict},
                                                      {"literal", Remainder::literal}};
  if (spec.contains("S")) return partition_by_size(num_layers, spec.at("S").get<Count>());
  return partition_by_count(num_layers, spec.at("N").get<Count>(),
                            rules.at(spec.at("rule").get<std::string>()));
}

TEST(Partition, MatchesEveryGoldenCase) {
  const auto golden = test::load_golden("io_per_layer.json");
  ASSERT_EQ(golden.at("cases").size(), 40U);
  for (const auto& entry : golden.at("cases")) {
    const Partition partition = partition_of(entry.at("spec"), entry.at("L").get<Count>());
    EXPECT_EQ(block_sizes(partition), entry.at("block_sizes").get<std::vector<Count>>())
        << entry.at("spec");
  }
}

TEST(Partition, RefusesEveryImpossibleGoldenRequest) {
  const auto golden = test::load_golden("io_per_layer.json");
  ASSERT_EQ(golden.at("errors").size(), 6U);
  for (const auto& entry : golden.at("errors"))
    EXPECT_THROW(partition_of(entry, entry.at("L").get<Count>()), Infeasible) << entry;
}

std::string refusal(Count num_layers, Count num_blocks, Remainder rule) {
  try {
    partition_by_count(num_layers, num_blocks, rule);
  } catch (const Infeasible& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Partition, SaysWhyItRefuses) {
  EXPECT_EQ(refusal(26, 8, Remainder::strict),
            "invalid num_blocks '8' (remainder 'strict' needs a divisor of 26)");
  EXPECT_EQ(refusal(26, 8, Remainder::literal),
            "invalid num_blocks '8' (remainder 'literal' leaves 24 layers for 7 equal blocks)");
  EXPECT_EQ(refusal(3, 8, Remainder::paper),
            "invalid num_blocks '8' (the model has only 3 layers)");
  EXPECT_EQ(refusal(3, 8, Remainder::ceil), "invalid num_blocks '8' (the model has only 3 layers)");
  EXPECT_EQ(refusal(1, 2, Remainder::paper), "invalid num_blocks '2' (the model has only 1 layer)");
  EXPECT_EQ(refusal(4, 0, Remainder::paper), "invalid num_blocks '0' (must be a positive integer)");
  try {
    partition_by_size(186, 187);
    FAIL();
  } catch (const Infeasible& error) {
    EXPECT_STREQ(error.what(), "invalid block_size '187' (the model has only 186 layers)");
  }
}

TEST(Partition, CoversAllLayersOnceUnderEveryRule) {
  for (Count L = 1; L <= 40; ++L)
    for (Count N = 1; N <= L; ++N)
      for (const Remainder rule :
           {Remainder::paper, Remainder::ceil, Remainder::strict, Remainder::literal}) {
        if (refusal(L, N, rule) != "accepted") continue;
        const Partition partition = partition_by_count(L, N, rule);
        const auto sizes = block_sizes(partition);
        ASSERT_EQ(std::accumulate(sizes.begin(), sizes.end(), Count{0}), L);
        Count layer = 0;
        for (Count block = 1; block <= partition.num_blocks; ++block)
          for (Count index = 1; index <= partition.size(block); ++index) {
            const LayerPosition at = position_of_layer(partition, ++layer);
            ASSERT_EQ(at.block, block);
            ASSERT_EQ(at.index, index);
            ASSERT_EQ(at.layer, layer);
            ASSERT_EQ(at.size, sizes[static_cast<std::size_t>(block - 1)]);
            ASSERT_EQ(at.previous_size,
                      block == 1 ? 0 : sizes[static_cast<std::size_t>(block - 2)]);
          }
      }
}

}  // namespace
}  // namespace depthcost::partition_test
