// Mistakes in presets are found, each with its line.
#include "scenarios/presets/lint.hpp"

#include <gtest/gtest.h>

#include "scenarios/presets/presets.hpp"
#include "scenarios/text/document.hpp"

namespace depthcost::lint_test {
namespace {

using Lines = std::vector<std::string>;

/// What is wrong with an H200 that has these keys instead of its own.
Lines found_in_keys(const std::string& keys) {
  const Node part = parse_document("base: h200_sxm\n" + keys, "it.yaml");
  return lint(resolve_reference(part, hardware_reference(), "it.yaml"), hardware_reference(),
              "it.yaml");
}

/// The same with a source for each line, whose map is left open.
Lines found_in(const std::string& lines) {
  std::string keys;
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    keys += lines.substr(begin, end - begin) + ", source: datasheet, date: 2026-01-01}\n";
    begin = end + 1;
  }
  return found_in_keys(keys);
}

TEST(Lint, FindsNothingInAPartThatAgreesWithItself) {
  EXPECT_EQ(found_in("memory_capacity: {value: 142 GB\n"), Lines{});
  EXPECT_EQ(found_in("bf16_rate: {value: 989 TFLOP/s\n"), Lines{});
}

TEST(Lint, FindsNothingInWhatIsShipped) {
  for (const Preset& preset : presets())
    EXPECT_EQ(lint_preset(preset.id, reference_of_folder(preset.kind)), Lines{}) << preset.id;
}

TEST(Lint, FindsARateWithSparsity) {
  EXPECT_EQ(found_in("bf16_rate: {value: 3001 TFLOP/s\nfp8_rate: {value: 6000 TFLOP/s\n"),
            Lines{"it.yaml: bf16_rate looks like a sparse rate"});
  EXPECT_EQ(found_in("bf16_rate: {value: 3000 TFLOP/s\nfp8_rate: {value: 6000 TFLOP/s\n"), Lines{});
}

TEST(Lint, FindsRatesInTheWrongOrder) {
  EXPECT_EQ(found_in("bf16_rate: {value: 500 TFLOP/s\nfp8_rate: {value: 400 TFLOP/s\n"),
            Lines{"it.yaml: bf16_rate exceeds fp8_rate"});
  EXPECT_EQ(found_in("f32_rate: {value: 1000 TFLOP/s\nbf16_rate: {value: 900 TFLOP/s\n"),
            Lines{"it.yaml: f32_rate exceeds bf16_rate"});
}

// 100 GB that is sold may be 107.4 GB that the driver shows, where it is 100 GiB.
TEST(Lint, FindsUnitsThatAreMixedUp) {
  const std::string sold = "memory_capacity: {value: 100 GB\n";
  EXPECT_EQ(found_in(sold + "visible_memory: {value: 107 GB\n"), Lines{});
  EXPECT_EQ(found_in(sold + "visible_memory: {value: 108 GB\n"),
            Lines{"it.yaml: visible_memory exceeds memory_capacity even in binary units"});
}

TEST(Lint, FindsValuesWithoutASource) {
  EXPECT_EQ(found_in_keys("memory_capacity: 142 GB\n"),
            Lines{"it.yaml: memory_capacity has no source"});
}

TEST(Lint, FindsMoreBandwidthThanTheDatasheetHas) {
  const auto sustained = [](const std::string& value) {
    return found_in_keys("sustained_bandwidth: [{reads: 1, writes: 0, value: " + value +
                         ", source: bench, date: 2026-01-01}]\n");
  };
  EXPECT_EQ(sustained("4.8 TB/s"), Lines{});
  EXPECT_EQ(sustained("4.81 TB/s"),
            Lines{"it.yaml: sustained_bandwidth[0].value exceeds memory_bandwidth"});
}

}  // namespace
}  // namespace depthcost::lint_test
