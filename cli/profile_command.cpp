// `profile`: samples -> machine profile; whether it still holds; what it says.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "cli/commands.hpp"
#include "cli/files.hpp"
#include "cli/plot_files.hpp"
#include "cli/profile_text.hpp"
#include "profile/compare.hpp"
#include "profile/profile.hpp"
#include "profile/profile_file.hpp"
#include "profile/verify.hpp"
#include "scenarios/measured/tolerances.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

ExitCode run_profile_fit(const ProfileFitOptions& options) {
  namespace fs = std::filesystem;
  if (!profile::is_profile_path(options.output))
    throw InputError({"--output", 1, 1},
                     fmt::format("invalid value '{}' (must end in .yaml or .yml, by which "
                                 "compare knows a profile)",
                                 printable(options.output)));
  const profile::Samples samples = profile::read_samples(
      options.samples, options.cpu ? profile::Backend::cpu : profile::Backend::device_if_any);
  profile::Profile profile = profile::fit(samples, options.part);
  profile.samples_file =
      fs::proximate(fs::absolute(options.samples), fs::absolute(options.output).parent_path())
          .string();
  const std::string text = profile::to_yaml(profile);
  profile::require_readable(text, options.samples);
  write_file(options.output, text);
  const std::string left_out = samples.left_out();
  show(accuracy_text(profile) + (left_out.empty() ? "" : left_out + "\n"));
  return ExitCode::good;
}

namespace {

/// What there is to be drawn of a profile.
std::vector<Plot> plots_of(const profile::Samples& samples, const Device& device) {
  const auto cases = profile::kernel_cases(samples, device, shipped_rules("samples"));
  std::vector<Plot> plots;
  for (auto& plot : {roofs_plot(device.machine, cases), residuals_plot(device.machine, cases),
                     transition_plot(device.machine)})
    if (plot) plots.push_back(*plot);
  return plots;
}

}  // namespace

ExitCode run_profile_show(const ProfileShowOptions& options, Console& console) {
  Progress& progress = console.watch("profile");
  const profile::LoadedProfile loaded = profile::load_profile(options.profile);
  profile::require_made_from(loaded.values, loaded.samples);
  const profile::Profile& profile = loaded.profile;
  std::string text = heading_text(profile) + "\n" + accuracy_text(profile) + "\n" +
                     constants_text(profile, profile::measured_ceilings(loaded.samples));
  std::string missing_plots;
  if (!options.directory.empty()) {
    const std::string stem = std::filesystem::path(options.profile).stem().string();
    const DrawnPlots drawn =
        draw(plots_of(loaded.samples, {stem, profile.machine, {}}), stem, progress);
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

namespace {

/// Of one profile: what is found, or why nothing can be, as stderr says it.
struct Verified {
  std::string findings;
  std::string refusal;
  ExitCode code = ExitCode::good;
};

Verified verified(const std::string& path) {
  try {
    const std::vector<std::string> findings = profile::verify(path);
    const std::string label = printable(path, path.size() * 4);
    if (findings.empty()) return {label + ": holds\n", "", ExitCode::good};
    return {fmt::format("{}\n{}: does not hold\n", fmt::join(findings, "\n"), label), "",
            ExitCode::gate_said_no};
  } catch (const profile::ForeignSamples& reason) {
    return {"", reason.what(), ExitCode::skipped};
  } catch (const profile::MeasurementInvalid& error) {
    return {"", error.what(), ExitCode::measurement_invalid};
  } catch (const InputError& error) {
    return {"", error.what(), ExitCode::bad_input};
  }
}

}  // namespace

/// One bad file does not take the others' findings away.
ExitCode run_profile_verify(const std::vector<std::string>& paths, Console& console) {
  Progress& progress = console.watch("profile");
  progress.expected = paths.size();
  std::string text;
  std::vector<std::string> refusals;
  ExitCode code = ExitCode::good;
  for (const std::string& path : paths) {
    const Verified one = verified(path);
    text += one.findings;
    if (!one.refusal.empty()) refusals.push_back(one.refusal);
    code = worst(code, one.code);
    ++progress.done;
  }
  console.stop_watching();
  write_stdout(text);
  for (const std::string& refusal : refusals) show_error(refusal);
  return code;
}

}  // namespace depthcost
