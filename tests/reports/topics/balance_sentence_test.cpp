// Which stage of a pipeline the others wait for.
#include <gtest/gtest.h>

#include "reports/topics/training/training_section.hpp"
#include "tests/architectures.hpp"
#include "tests/studies.hpp"

namespace depthcost::balance_sentence_test {
namespace {

/// Two stages over free links whose layers take a second each, with a head of so many seconds.
Study two_stages(double head, std::vector<Count> chunk_layers) {
  Study study = test::training_study();
  study.training->schedule = PipelineSchedule::one_forward_one_backward;
  study.machine->link_bandwidth = study.machine->network_bandwidth = BytesPerSecond{50e9};
  study.pipeline = PipelineLayout{2, 1, std::move(chunk_layers)};
  const auto write = [&](RestTerm term, double seconds) {
    study.written_terms.push_back({WorkloadKind::training, term, {Seconds{seconds}}});
  };
  write(RestTerm::attention, 186);
  write(RestTerm::mlp, 0);
  write(RestTerm::head, head);
  write(RestTerm::collectives, 0);
  return study;
}

std::string sentence(const Study& study) {
  return training_section::balance_sentence(evaluate(study));
}

TEST(BalanceSentence, NamesTheStageWithTheHead) {
  const std::string text = sentence(two_stages(93, {93, 93}));
  EXPECT_TRUE(text.starts_with("Stage 1 works ")) << text;
  EXPECT_NE(text.find(", since the last chunk has the head, and they wait for it: "), text.npos)
      << text;
}

TEST(BalanceSentence, SaysNothingOfTheHeadWhereTheLayersAreUneven) {
  const std::string text = sentence(two_stages(0, {62, 124}));
  EXPECT_TRUE(text.starts_with("Stage 1 works ")) << text;
  EXPECT_EQ(text.find("head"), text.npos) << text;
}

TEST(BalanceSentence, IsEmptyWhereStagesWorkAlike) {
  EXPECT_EQ(sentence(two_stages(0, {93, 93})), "");
  Study alone = two_stages(93, {93, 93});
  alone.pipeline.reset();
  EXPECT_EQ(sentence(alone), "");
}

}  // namespace
}  // namespace depthcost::balance_sentence_test
