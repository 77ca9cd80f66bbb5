// All commands of a step append to one file of summaries.
#include "cli/commands/github.hpp"

#include <cstdlib>
#include <filesystem>

#include "cli/output/files.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

void require_text_for_github(const std::string& command, Format format) {
  if (format == Format::json)
    throw InputError({command, 1, 1}, "conflicting --github (stdout holds JSON and nothing else)");
}

void append_step_summary(const CheckReport& report) {
  const char* path = std::getenv("GITHUB_STEP_SUMMARY");
  if (path == nullptr || *path == '\0') return;
  std::error_code ignored;
  const auto size = std::filesystem::file_size(path, ignored);
  const std::size_t taken = ignored ? 0 : static_cast<std::size_t>(size);
  if (taken < kMostSummaryBytes)
    append_to_file(path, step_summary(report, kMostSummaryBytes - taken));
}

}  // namespace depthcost
