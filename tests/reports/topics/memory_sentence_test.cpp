// What fills a device, in a sentence.
#include "reports/topics/memory/memory_sentence.hpp"

#include <gtest/gtest.h>

#include "scenarios/read/scenario_options.hpp"

namespace depthcost::memory_sentence_test {
namespace {

ScenarioOptions llama() {
  ScenarioOptions options;
  options.model = "llama_3_1_70b";
  options.hardware = "h100_sxm";
  options.tensor = "4";
  options.decode = "1,8";
  return options;
}

std::string sentence(const ScenarioOptions& options) {
  return memory_sentence(evaluate(asked_scenario("", options).study));
}

// 80 layers keep 2 x 8 heads of 128 bf16 a token: 327,680 B, of which a rank has a quarter. A
// prefill of 131,072 tokens: 10.74 GB; 8 sequences of 8,192 tokens are half of it. 70.55 G weights
// of two bytes on four ranks are 35.28 GB. A rank holds a quarter of the prefill's chunk of 16,384
// tokens of 8,192 bf16, which is 67.11 MB.
TEST(MemorySentence, NamesTheFullestWorkloadAndItsParts) {
  EXPECT_EQ(sentence(llama()),
            "Memory: 46.08 GB of the 85.52 GB of a device (53.9 %), at prefill: weights "
            "35.28 GB, KV cache 10.74 GB, residual path 67.11 MB.");
}

// 70.55 GB of weights on two ranks, and 11 sequences of 1.342 GB. A tenth of 85.52 GB is left for
// what is not counted.
TEST(MemorySentence, WarnsWhereLittleIsLeft) {
  ScenarioOptions options = llama();
  options.tensor = "2";
  options.decode = "11";
  options.prefill = "8192";
  options.scheme = "standard";
  EXPECT_EQ(sentence(options),
            "Memory: 85.32 GB of the 85.52 GB of a device (99.8 %), at decode/11: "
            "weights 70.55 GB, KV cache 14.77 GB, residual path 180.2 kB. Less than a tenth is "
            "left, so that it may not fit.");
}

TEST(MemorySentence, LeavesToTheVerdictWhatDoesNotFit) {
  ScenarioOptions options = llama();
  options.tensor = "1";
  EXPECT_EQ(sentence(options), "");
}

TEST(MemorySentence, NeedsADevice) {
  ScenarioOptions options = llama();
  options.hardware = "";
  EXPECT_EQ(sentence(options), "");
}

}  // namespace
}  // namespace depthcost::memory_sentence_test
