// `profile verify`: whether profiles still hold.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/commands/commands.hpp"
#include "cli/output/stdout.hpp"
#include "profile/profile_file.hpp"
#include "profile/verify.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {
namespace {

/// The findings about one profile, or why it could not be verified.
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

/// A bad file does not stop the others.
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
    progress.count();
  }
  console.stop_watching();
  write_stdout(text);
  for (const std::string& refusal : refusals) show_error(refusal);
  return code;
}

}  // namespace depthcost
