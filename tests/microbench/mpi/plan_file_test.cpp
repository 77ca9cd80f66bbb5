// Plans are read back from files, and mistakes in them are reported.
#include "microbench/mpi/plan_file.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "scenarios/text/input_error.hpp"
#include "tests/microbench/mpi/plan_json.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::bench::pipeline_plan_test {
namespace {

const std::string kFig3 = DEPTHCOST_SOURCE_DIR "/tests/microbench/mpi/fig3.json";

std::string fig3() { return test::content_of(kFig3); }

/// The message for Fig. 3 in which the first `old_text` is `new_text`.
std::string error_with(const std::string& old_text, const std::string& new_text) {
  std::string text = fig3();
  const auto at = text.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  text.replace(at, old_text.size(), new_text);
  try {
    parse_plan(text, "p.json");
    return "nothing";
  } catch (const InputError& error) {
    return error.what();
  }
}

TEST(PipelinePlan, IsReadBackAsItWasWritten) {
  PipelinePlan plan = parse_plan(fig3(), kFig3);
  EXPECT_EQ(traffic_of(plan).total, 17);
  EXPECT_EQ(vector_bytes(plan), 16 * 64 * 2);
  EXPECT_EQ(gradient_bytes(plan), 16 * 64 * 2);
  EXPECT_EQ(work_of(plan).forward_messages.front().value, 2 * 2048.0);
  plan.links[1].bandwidth.value = std::numeric_limits<double>::infinity();
  plan.chunks[2].recompute = {0.25};
  plan.activations = Activations::recomputed;
  plan.sends = Sends::blocking;
  const std::string text = to_json(plan);
  const PipelinePlan again = parse_plan(text, "again.json");
  EXPECT_EQ(to_json(again), text);
  EXPECT_EQ(again.links[1].bandwidth, plan.links[1].bandwidth);
  EXPECT_EQ(again.chunks[2].recompute, plan.chunks[2].recompute);
  EXPECT_EQ(again.activations, Activations::recomputed);
  EXPECT_EQ(again.sends, Sends::blocking);

  plan.gradient_bytes_per_element = 4;
  plan = parse_plan(to_json(plan), "gradients.json");
  EXPECT_EQ(vector_bytes(plan), 16 * 64 * 2);
  EXPECT_EQ(gradient_bytes(plan), 16 * 64 * 4);
  EXPECT_EQ(work_of(plan).forward_messages.front().value, 2 * 2048.0);
  EXPECT_EQ(work_of(plan).backward_messages.front().value, 2 * 4096.0);

  plan.payload = FixedPayload{4};
  EXPECT_EQ(traffic_of(parse_plan(to_json(plan), "fixed.json")).total, 7 * 4);
}

const std::string kKnown =
    " (known here: schema, schedule, num_stages, num_virtual_stages, chunk_layers, "
    "num_micro_batches, payload, tokens, hidden_size, bytes_per_element, chunk_seconds, link)";

TEST(PipelinePlan, SaysInOneLineWhatIsWrong) {
  EXPECT_EQ(error_with("\"num_stages\": 4", "\"num_stages\": 0"),
            "p.json:4:16: error: invalid num_stages '0' (must be a positive integer)");
  EXPECT_EQ(error_with("\"num_stages\": 4", "\"num_stages\": 4097"),
            "p.json:4:16: error: invalid num_stages '4097' (more than 4096)");
  EXPECT_EQ(error_with("\"schedule\"", "\"shedule\""),
            "p.json:1:1: error: missing key 'schedule' (this record needs it)");
  EXPECT_EQ(error_with("\"tokens\"", "\"extra\": 1, \"tokens\""),
            "p.json:9:2: error: unknown key 'extra'" + kKnown);
  EXPECT_EQ(error_with("\"link\"", "\"links\": [], \"link\""),
            "p.json:22:23: error: conflicting link (links is given)");
  EXPECT_EQ(error_with("interleaved_1f1b", "interleaved"),
            "p.json:3:14: error: unknown schedule 'interleaved'; did you mean "
            "'interleaved_1f1b'?");
  EXPECT_EQ(error_with("interleaved_1f1b", "dualpipe"),
            "p.json:3:14: error: invalid schedule 'dualpipe' (this program runs one direction)");
  EXPECT_EQ(error_with("[6, 6, 6, 6]", "[6, 6, 6]"),
            "p.json:1:1: error: invalid chunk_layers (must add up to the model's 18 layers, but "
            "add up to 24)");
  EXPECT_EQ(error_with("\"bytes_per_element\": 2", "\"bytes_per_element\": 3"),
            "p.json:11:23: error: invalid bytes_per_element '3' (must be 1, 2 or 4)");
  EXPECT_EQ(error_with("\"tokens\"", "\"gradient_bytes_per_element\": 3, \"tokens\""),
            "p.json:9:32: error: invalid gradient_bytes_per_element '3' (must be 1, 2 or 4)");
  EXPECT_EQ(error_with("\"tokens\": 16", "\"tokens\": 16000000"),
            "p.json:1:1: error: invalid tokens '16000000' (messages of up to 3 d-vectors are "
            "larger than 2147483647 bytes)");
  EXPECT_EQ(error_with("\"bytes_per_second\": 2e9", "\"bytes_per_second\": 0"),
            "p.json:22:57: error: invalid bytes_per_second '0' (must be positive)");
  EXPECT_EQ(error_with("\"forward\": 0.001", "\"forward\": -1"),
            "p.json:13:15: error: invalid forward '-1' (must not be negative)");
  EXPECT_EQ(error_with("\"forward\": 0.001", "\"forward\": 1e308"),
            "p.json:13:15: error: invalid forward '1e308' (out of range)");
  EXPECT_EQ(error_with("\"forward\": 0.001", "\"forward\": 1000").substr(0, 55),
            "p.json:1:1: error: invalid chunk_seconds or link (a ste");
  EXPECT_EQ(error_with("\"bytes_per_second\": 2e9", "\"bytes_per_second\": 1e-3").substr(0, 55),
            "p.json:1:1: error: invalid chunk_seconds or link (a ste");
  EXPECT_EQ(error_with("\"tokens\"",
                       "\"\\u001b\\n::error::" + std::string(100'000, 'x') + "\": 1, \"tokens\""),
            "p.json:9:2: error: unknown key '\\x1B\\x0A::error::" + std::string(43, 'x') + "...'" +
                kKnown);
  std::string deep = "{\"schema\": ";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  EXPECT_EQ(error_with(fig3(), deep),
            "p.json:1:75: error: nested too deeply (more than 64 levels)");
}

/// Interleaving needs a multiple of P micro-batches.
TEST(PipelinePlan, IsRefusedWhereTheScheduleDoesNotExist) {
  const std::string error = error_with("\"num_micro_batches\": 4", "\"num_micro_batches\": 5");
  EXPECT_EQ(error.find("p.json:1:1: error: invalid "), 0U) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos);
}

}  // namespace
}  // namespace depthcost::bench::pipeline_plan_test
