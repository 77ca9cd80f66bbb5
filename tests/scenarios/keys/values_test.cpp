// Records are counted while they are set, since loops ask for their number at every turn.
#include "scenarios/keys/values.hpp"

#include <gtest/gtest.h>

namespace depthcost::values_test {
namespace {

Values with(const std::vector<std::string>& paths) {
  Values values{Position{}};
  for (const std::string& path : paths) values.set(path, {.texts = {path}});
  return values;
}

TEST(Records, AreCountedOnceEach) {
  const Values values = with({"mlp[0].kind", "mlp[0].width", "mlp[1].kind", "mlp[10].kind",
                              "mlp[1].kind", "name", "mlps[0].kind"});
  EXPECT_EQ(values.num_records("mlp"), 3u);
  EXPECT_EQ(values.num_records("mlps"), 1u);
  EXPECT_EQ(values.num_records("name"), 0u);
  EXPECT_FALSE(values.has_records("attention"));
}

TEST(Records, AreGoneWhenTheirListIsErased) {
  Values values = with({"mlp[0].kind", "mlp[1].kind", "mlps[0].kind"});
  values.erase_records("mlp");
  EXPECT_EQ(values.num_records("mlp"), 0u);
  EXPECT_EQ(values.num_records("mlps"), 1u);
  EXPECT_FALSE(values.has("mlp[0].kind"));
}

TEST(Records, OfABaseAreCountedWhereNoneAreWritten) {
  const Values base = with({"mlp[0].kind", "mlp[1].kind", "attention[0].kind"});
  Values values = with({"attention[0].kind", "attention[1].kind"});
  values.fill_from(base, model_keys());
  EXPECT_EQ(values.num_records("mlp"), 2u);
  EXPECT_EQ(values.num_records("attention"), 2u);
}

}  // namespace
}  // namespace depthcost::values_test
