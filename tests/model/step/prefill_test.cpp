// Prefill memory: the golden cases, the paper's three sizes, and properties that follow from
// definitions.
#include "model/step/prefill.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <stdexcept>
#include <string>

namespace depthcost::prefill_test {
namespace {

using Json = nlohmann::json;

const Json& golden_cases() {
  static const Json file = [] {
    const std::string path = DEPTHCOST_GOLDEN_DIR "/prefill_memory.json";
    std::ifstream in(path);
    if (!in) throw std::runtime_error("cannot open " + path);
    return Json::parse(in);
  }();
  const Json& cases = file.at("cases");
  if (cases.empty()) throw std::runtime_error("prefill_memory.json has no cases");
  return cases;
}

Dtype dtype_of(Count num_bytes) {
  switch (num_bytes) {
    case 1:
      return Dtype::fp8;
    case 2:
      return Dtype::bf16;
    case 4:
      return Dtype::f32;
  }
  throw std::runtime_error("no dtype of " + std::to_string(num_bytes) + " bytes");
}

PrefillShape shape_of(const Json& golden) {
  PrefillShape shape{.num_tokens = golden.at("T").get<Count>(),
                     .chunk = std::nullopt,
                     .sequence_shards = golden.at("P").get<Count>(),
                     .hidden_size = golden.at("d").get<Count>()};
  if (!golden.at("chunk").is_null()) shape.chunk = golden.at("chunk").get<Count>();
  return shape;
}

TEST(PrefillMemory, MatchesEveryGoldenCase) {
  ASSERT_EQ(golden_cases().size(), 40u);
  for (const Json& golden : golden_cases()) {
    SCOPED_TRACE(golden.dump());
    const PrefillShape shape = shape_of(golden);
    const Dtype dtype = dtype_of(golden.at("bytes").get<Count>());
    const Count embeddings = golden.at("embedding").get<bool>() ? 1 : 0;
    EXPECT_EQ(bank_bytes(shape, golden.at("N").get<Count>() + embeddings, dtype).value,
              golden.at("bytes_per_device").get<double>());
    EXPECT_EQ(phase1_bytes(shape, golden.at("S").get<Count>(), dtype).value,
              golden.at("phase1_buffer_bytes").get<double>());
  }
}

struct PaperCase {
  const char* name;
  PrefillShape shape;
  double expected_bytes;
};

void PrintTo(const PaperCase& c, std::ostream* out) { *out << c.name; }

class PrefillOfThePaper : public testing::TestWithParam<PaperCase> {};

TEST_P(PrefillOfThePaper, TakesThisManyBytes) {
  EXPECT_EQ(bank_bytes(GetParam().shape, 8, Dtype::bf16).value, GetParam().expected_bytes);
}

// [attnres] Sec. 4.2: "15 GB", "1.9 GB", "under 0.3 GB". The paper names neither d nor the type;
// 7168 in bf16 fits all three in decimal GB.
INSTANTIATE_TEST_SUITE_P(
    AttnRes, PrefillOfThePaper,
    testing::Values(PaperCase{"Whole", {131072, std::nullopt, 1, 7168}, 15032385536.0},
                    PaperCase{"Sharded", {131072, std::nullopt, 8, 7168}, 1879048192.0},
                    PaperCase{"ShardedAndChunked", {131072, 16384, 8, 7168}, 234881024.0}),
    [](const auto& row) { return std::string(row.param.name); });

TEST(PrefillMemory, OfPhase1IsTwiceTheBankForSixteenQueriesAndEightBlocks) {
  const PrefillShape shape{131072, std::nullopt, 1, 7168};
  const Bytes bank = bank_bytes(shape, 8, Dtype::bf16);
  const Bytes statistics{16.0 * 131072 * 2 * kBytesPerScalar};
  EXPECT_EQ(phase1_bytes(shape, 16, Dtype::bf16), 2 * bank + statistics);
  EXPECT_EQ(phase1_bytes(shape, 16, Dtype::f32), 4 * bank + statistics);
}

TEST(PrefillMemory, RoundsUpToTheFullestDevice) {
  EXPECT_EQ(tokens_per_device({10, std::nullopt, 4, 1}), 3);
  EXPECT_EQ(tokens_per_device({10, 7, 4, 1}), 2);
  EXPECT_EQ(tokens_per_device({10, 8, 4, 1}), 2);
  EXPECT_EQ(tokens_per_device({10, 100, 4, 1}), 3);
  EXPECT_EQ(tokens_per_device({1, std::nullopt, 16, 1}), 1);
}

Count pick(Count low, Count high) { return *rc::gen::inRange<Count>(low, high + 1); }

/// Deals the tokens of the first chunk out to the devices, one at a time.
Count dealt_tokens(const PrefillShape& shape) {
  Count fullest = 0;
  for (Count token = 0; token < shape.num_tokens; ++token) {
    if (shape.chunk && token == *shape.chunk) break;
    if (token % shape.sequence_shards == 0) ++fullest;
  }
  return fullest;
}

RC_GTEST_PROP(PrefillMemory, EqualsDealingTokensToDevices, ()) {
  PrefillShape shape{pick(1, 300), std::nullopt, pick(1, 20), pick(1, 9000)};
  if (pick(0, 1) == 1) shape.chunk = pick(1, 400);
  const Count num_vectors = pick(1, 32);
  const Count tokens = dealt_tokens(shape);
  RC_ASSERT(tokens_per_device(shape) == tokens);
  const auto elements = static_cast<double>(num_vectors * tokens * shape.hidden_size);
  const auto scalars = static_cast<double>(2 * num_vectors * tokens);
  RC_ASSERT(bank_bytes(shape, num_vectors, Dtype::bf16).value == 2 * elements);
  RC_ASSERT(phase1_bytes(shape, num_vectors, Dtype::f32).value == 4 * elements + 4 * scalars);
}

}  // namespace
}  // namespace depthcost::prefill_test
