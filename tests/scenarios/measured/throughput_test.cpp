// Operations of a token, held against those that NVIDIA's table of training throughput implies.
#include "model/training/throughput.hpp"

#include <gtest/gtest.h>

#include "model/training/training_step.hpp"
#include "scenarios/device/constants.hpp"
#include "scenarios/measured/trained_steps.hpp"

namespace depthcost::throughput_test {
namespace {

const std::string kHeader =
    "model,gpu,devices,precision,sequence_length,micro_batch,global_batch,tensor,context,pipeline,"
    "virtual_stages,expert,tokens_per_second,release\n";

Study study_of(const std::string& row) {
  return parse_trained_steps(kHeader + row + "\n", "it.csv", shipped_constants()).front().study;
}

struct Published {
  std::string row;
  double tokens_per_second;  // of a GPU
  double model_teraflops;    // of a GPU and second
};

// NVIDIA-NeMo/Megatron-Bridge @0a25f911, docs/performance-summary-archive.md: "Tokens / sec / GPU"
// and "Model TFLOP / sec / GPU". gpt-oss is not among them: 27.1 GFLOP of a token there, 32.7 here.
TEST(Throughput, CountsTheOperationsOfATokenAsOthersDo) {
  for (const Published& it :
       {Published{"llama_3_1_8b,gb300,8,fp8,8192,2,128,1,1,1,1,1,37556,25.11", 37556, 1933},
        Published{"llama_3_1_70b,gb300,64,fp8,8192,1,256,1,1,4,5,1,4596,26.02", 4596, 2064},
        Published{"llama_3_1_405b,gb300,256,fp8,8192,1,1536,4,1,8,4,1,988,26.02", 988, 2495},
        Published{"deepseek_v3,gb200,256,bf16,4096,1,4096,1,1,4,4,64,3139,25.11", 3139, 782},
        Published{"qwen3_235b,gb300,256,fp8,4096,2,8192,1,1,4,1,32,6583,26.02", 6583, 974}}) {
    const Study study = study_of(it.row);
    EXPECT_NEAR(
        model_flops_per_token(study).value / (it.model_teraflops * 1e12 / it.tokens_per_second), 1,
        0.01)
        << it.row;
  }
}

TEST(Throughput, IsTokensOverTimeAndDevices) {
  const Study study = study_of("llama_3_1_70b,gb300,64,fp8,8192,1,256,2,1,4,5,1,4596,26.02");
  EXPECT_EQ(num_devices(study), 64);
  const Throughput of = throughput(study, Seconds{10});
  EXPECT_DOUBLE_EQ(of.tokens_per_second, 256 * 8192 / 10.0);
  EXPECT_DOUBLE_EQ(of.tokens_per_second_and_device, 256 * 8192 / 640.0);
  EXPECT_DOUBLE_EQ(of.utilization, of.model_rate.value / study.machine->tensor_rate->value);
}

}  // namespace
}  // namespace depthcost::throughput_test
