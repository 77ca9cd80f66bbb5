// `profile fit`: samples become a machine profile.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/output/files.hpp"
#include "profile/profile.hpp"
#include "profile/profile_file.hpp"
#include "reports/profile/profile_tables.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

void require_profile_name(const std::string& output) {
  if (!profile::is_profile_path(output))
    throw InputError({"--output", 1, 1},
                     fmt::format("invalid value '{}' (must end in .yaml or .yml, by which "
                                 "compare knows a profile)",
                                 printable(output)));
}

ExitCode run_profile_fit(const ProfileFitOptions& options) {
  require_profile_name(options.output);
  const profile::Samples samples = profile::read_samples(
      options.samples, options.cpu ? profile::Backend::cpu : profile::Backend::device_if_any);
  profile::Profile profile = profile::fit(samples, options.part);
  profile.samples_file = path_beside(options.samples, options.output);
  const std::string text = profile::to_yaml(profile);
  profile::require_readable(text, options.samples);
  write_file(options.output, text);
  const std::string left_out = samples.left_out();
  show(accuracy_text(profile) + (left_out.empty() ? "" : left_out + "\n"));
  return ExitCode::good;
}

}  // namespace depthcost
