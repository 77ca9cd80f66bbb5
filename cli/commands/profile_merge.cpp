// `profile merge`: profiles of nodes become one of their fleet.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/output/files.hpp"
#include "profile/merge.hpp"
#include "profile/profile_file.hpp"
#include "reports/profile/profile_tables.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

namespace fs = std::filesystem;

/// Whether nothing is there. A path that cannot be looked at is not absent: reading it says why.
bool is_absent(const std::string& path) {
  std::error_code ignored;
  return fs::status(path, ignored).type() == fs::file_type::not_found;
}

void refuse_twice(const std::vector<std::string>& paths) {
  std::vector<std::string> seen;
  for (const std::string& path : paths) {
    std::error_code none;
    const std::string real = fs::weakly_canonical(path, none).string();
    if (std::find(seen.begin(), seen.end(), real) != seen.end())
      throw InputError({path, 1, 1}, "this profile is given twice (a node counts once)");
    seen.push_back(real);
  }
}

}  // namespace

ExitCode run_profile_merge(const ProfileMergeOptions& options) {
  require_profile_name(options.output);
  refuse_twice(options.profiles);
  std::vector<profile::NodeProfile> nodes;
  std::vector<std::string> missing;
  for (const std::string& path : options.profiles) {
    // A task that was killed has left none. What is there and is no profile is a mistake.
    if (is_absent(path)) {
      missing.push_back(path_beside(path, options.output));
      continue;
    }
    nodes.push_back(profile::read_node(path));
    nodes.back().written_as = path_beside(path, options.output);
  }
  profile::Fleet fleet = profile::merge(nodes);
  const fs::path samples = fs::path(nodes[fleet.typical].path).parent_path();
  fleet.profile.samples_file =
      path_beside((samples / fleet.profile.samples_file).string(), options.output);
  const std::string text = profile::to_yaml(fleet.profile);
  profile::require_readable(text, options.output);
  write_file(options.output, text);
  show(profile::fleet_text(fleet, missing));
  bool is_whole = missing.empty();
  for (const profile::NodeFinding& finding : fleet.findings)
    is_whole = is_whole && finding.outside.empty();
  return is_whole ? ExitCode::good : ExitCode::gate_said_no;
}

}  // namespace depthcost
