// Profiles use each measured shape as it is meant: for calibration, held out, or small.
#include "microbench/cases/cpu_shapes.hpp"

#include <gtest/gtest.h>

#include "profile/profile.hpp"

namespace depthcost::bench::shapes_test {
namespace {

using profile::Cases;

Cases cases_of(const Shape& shape) {
  return profile::cases_of(
      {.name = {},
       .call = {.operation = "attnres_single_pass",
                .counts = {.num_sources = static_cast<Count>(shape.num_blocks)},
                .num_tokens = static_cast<Count>(shape.num_tokens),
                .hidden_size = static_cast<Count>(shape.hidden_size)}});
}

TEST(Shapes, AreCalibrationOrHeldOut) {
  for (const std::size_t width : kWidths)
    for (const std::size_t element_bytes : {2U, 4U}) {
      const Shape usual = large_shape(width, element_bytes);
      EXPECT_EQ(cases_of(usual), Cases::calibration) << width;
      Shape other = usual;
      other.num_blocks = kHeldOutBlocks;
      EXPECT_EQ(cases_of(other), Cases::held_out) << width;
      other = usual;
      other.num_tokens = kHeldOutTokens;
      EXPECT_EQ(cases_of(other), Cases::held_out) << width;
      EXPECT_EQ(cases_of(large_shape(kHeldOutWidth, element_bytes)), Cases::held_out);
      for (const std::size_t tokens : kBatches) {
        other.num_tokens = tokens;
        EXPECT_EQ(cases_of(other), Cases::small) << tokens;
      }
    }
}

}  // namespace
}  // namespace depthcost::bench::shapes_test
