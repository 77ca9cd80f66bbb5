// `profile show`: how well a profile predicts, its constants, and plots of both.
#include <fmt/format.h>

#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/output/plot_files.hpp"
#include "profile/compare.hpp"
#include "profile/kernel_sources.hpp"
#include "profile/profile_file.hpp"
#include "reports/comparison/comparison_report.hpp"
#include "reports/profile/profile_tables.hpp"
#include "scenarios/measured/tolerances.hpp"

namespace depthcost {
namespace {

/// The plots of a profile.
std::vector<Plot> plots_of(const profile::Samples& samples, const Device& device) {
  const auto cases = profile::kernel_cases(samples, device, shipped_rules("samples"));
  const std::string stale = profile::stale_mark(samples);
  std::vector<Plot> plots;
  for (auto& plot : {roofs_plot(device.machine, cases, stale),
                     residuals_plot(device.machine, cases, stale), transition_plot(device.machine)})
    if (plot) plots.push_back(*plot);
  return plots;
}

}  // namespace

ExitCode run_profile_show(const ProfileShowOptions& options, Console& console) {
  Progress& progress = console.watch("profile");
  const profile::LoadedProfile stored = profile::load_profile(options.profile);
  profile::require_made_from(stored.values, stored.samples);
  const profile::Profile& profile = stored.profile;
  std::string text = heading_text(profile) + "\n" + accuracy_text(profile) + "\n" +
                     constants_text(profile, profile::measured_ceilings(stored.samples));
  std::string missing_plots;
  if (!options.directory.empty()) {
    const std::string stem = std::filesystem::path(options.profile).stem().string();
    const DrawnPlots drawn =
        draw(plots_of(stored.samples, {stem, profile.machine, {}}), stem, progress);
    write_files(options.directory, drawn.files);
    missing_plots = drawn.missing;
    if (!drawn.files.empty()) text += "\n";
    for (const NewFile& file : drawn.files)
      text += fmt::format("-> {}/{}\n", options.directory, file.name);
  }
  console.stop_watching();
  show(text);
  if (!missing_plots.empty()) console.warn(missing_plots);
  return ExitCode::good;
}

}  // namespace depthcost
