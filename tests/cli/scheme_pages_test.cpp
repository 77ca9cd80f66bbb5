// The handbook's page of each scheme that ships: what it costs at batch 1 and 512, and its rule.
#include <gtest/gtest.h>

#include "model/schemes/list.hpp"
#include "tests/cli/run_program.hpp"
#include "tests/documents.hpp"

namespace depthcost::test::scheme_pages_test {
namespace {

const std::string kRoot = DEPTHCOST_SOURCE_DIR;

struct Page {
  std::string name;
  std::string scheme;
  std::vector<std::string> options;  // of evaluate
};

std::vector<std::string> on(const std::string& model, const std::string& hardware,
                            const std::string& tensor) {
  return {"--model", model, "--hardware", hardware, "--tensor", tensor};
}

std::vector<std::string> with(std::vector<std::string> words,
                              const std::vector<std::string>& others) {
  words.insert(words.end(), others.begin(), others.end());
  return words;
}

std::vector<Page> pages() {
  const auto qwen = on("qwen3_8_flash_next", "h200_sxm", "8");
  return {{"scheme_standard", "standard",
           with(on("llama_3_1_70b", "h200_sxm", "8"), {"--compare", "rezero"})},
          {"scheme_attnres", "block_attnres",
           with(on("kimi_k3", "b300_sxm", "8"), {"--compare", "full_attnres"})},
          {"scheme_mhc", "mhc",
           with(on("deepseek_v4_pro", "b300_sxm", "8"), {"--compare", "single_pass_mhc"})},
          {"scheme_gated_residual", "gated_residual", with(qwen, {"--compare", "mhc"})},
          {"scheme_altup", "altup", on("gemma_3n_e4b", "l40s", "1")},
          {"scheme_residual_scaling", "residual_scaling", on("zaya1_8b", "h200_sxm", "1")},
          {"scheme_wide_residual", "wide_residual",
           with(on("llama_3_1_70b", "h200_sxm", "8"),
                {"--residual", "wide_residual", "--compare", "hc_identity"})}};
}

std::string block(const std::vector<std::string>& arguments) {
  return "\n```text\n" + run_program({.arguments = arguments, .folder = kRoot}).output + "```\n\n";
}

std::string cost(const Page& page) {
  std::vector<std::string> arguments{"evaluate"};
  for (std::size_t i = 0; i < 6; ++i) arguments.push_back(page.options[i]);
  arguments = with(arguments, {"--decode", "1,512", "--context", "1024"});
  arguments.insert(arguments.end(), page.options.begin() + 6, page.options.end());
  return block(arguments);
}

TEST(SchemePagesOfTheHandbook, AreWhatTheProgramPrints) {
  std::map<std::string, std::string> blocks;
  for (const Page& page : pages()) {
    ASSERT_NE(find_scheme(page.scheme), nullptr) << page.scheme;
    blocks["cost_" + page.name] = cost(page);
    blocks["rule_" + page.name] =
        block({"explain", "scenarios/kimi_k3_8xb300.yaml", "family." + page.scheme});
  }
  blocks["sharded_gated_residual"] =
      block({"evaluate", "--model", "qwen3_8_flash_next", "--hardware", "h200_sxm", "--tensor", "8",
             "--decode", "1,512", "--context", "1024", "--set", "residual.weights=sharded"});
  for (const auto& [name, text] : blocks) EXPECT_NE(text, block({"--version"})) << name;
  expect_blocks_of_documents(blocks);
}

}  // namespace
}  // namespace depthcost::test::scheme_pages_test
