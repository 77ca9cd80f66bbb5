// Every kernel on operands from memory has a ceiling of its mix and size.
#include "microbench/cuda/device_shapes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "microbench/cuda/bandwidth_variants.hpp"
#include "microbench/harness/traffic_label.hpp"
#include "microbench/harness/verification.hpp"

namespace depthcost::bench::shapes_test {
namespace {

TEST(DeviceShapes, CanAllBeStreamed) {
  std::set<std::string> names;
  each_large_case<Bf16>([&](const Shape& shape, std::string_view name, const Operation& model,
                            auto) {
    names.insert(std::string(name));
    const Mix mix = mix_of(model);
    EXPECT_NE(std::find(kArrayReads.begin(), kArrayReads.end(), mix.reads), kArrayReads.end())
        << name;
    EXPECT_LE(mix.writes, kMostArrayWrites) << name;
    EXPECT_LE(mix.in_place, std::min(mix.reads, mix.writes)) << name;
    EXPECT_EQ(shape.num_tokens * shape.hidden_size * sizeof(Bf16) % kArrayPieceBytes, 0U) << name;
  });
  EXPECT_EQ(names.size(), 35U);
}

/// Has no memory, and counts what is asked of it.
class CountingArena : public Arena {
 public:
  std::byte* allocate(std::size_t bytes) override {
    bytes_ += bytes;
    return nullptr;
  }
  void copy_in(std::byte*, const void*, std::size_t) override {}
  void copy_out(void*, const std::byte*, std::size_t) override {}
  void reset() override { bytes_ = 0; }
  std::size_t bytes() const { return bytes_; }

 private:
  std::size_t bytes_ = 0;
};

/// The H200 refused three backward passes, since their slices did not fit.
TEST(DeviceShapes, CanAllBeVerified) {
  CountingArena arena;
  std::size_t most = 0;
  each_large_case<Bf16>(
      [&](const Shape& shape, std::string_view name, const Operation&, auto make) {
        arena.reset();
        Operands operands(arena, kVerifiedTokens);
        make(shape, operands);
        EXPECT_LE(2 * arena.bytes(), kComparisonBytes) << name;
        most = std::max(most, arena.bytes());
      });
  EXPECT_GT(most, std::size_t{256} << 20);
}

TEST(DeviceShapes, ClosingABlockMovesAsManyVectorsAsInsideIt) {
  each_device_case<Bf16>({.num_tokens = 1, .hidden_size = 8},
                         [](std::string_view name, const Operation& model, auto) {
                           if (name != "attnres_single_pass/closing") return;
                           EXPECT_EQ(mix_of(model), (Mix{10, 2, 0}));
                           EXPECT_EQ(model.sources, 9);
                         });
}

TEST(BandwidthVariants, HaveNamesOfTheirOwn) {
  for (const unsigned reads : kArrayReads) {
    std::set<std::string> names;
    const auto variants = variants_for({reads, 1, 0});
    for (const DeviceBandwidthVariant& variant : variants) names.insert(name(variant));
    EXPECT_EQ(names.size(), variants.size());
    EXPECT_EQ(variants.size(), reads <= kFewReads ? 53U : reads <= kManyReads ? 33U : 12U);
  }
}

}  // namespace
}  // namespace depthcost::bench::shapes_test
