// The commands. Each takes options, writes text to stdout and files, and returns an exit code. They
// throw InputError for the user's mistakes, and main() catches it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/output/console.hpp"
#include "cli/output/exit_code.hpp"
#include "cli/output/format.hpp"
#include "model/decision/scaling.hpp"
#include "scenarios/measured/mixing_question.hpp"
#include "scenarios/read/scenario_options.hpp"
#include "scenarios/read/sweep_plan.hpp"

namespace depthcost {

struct ReportOptions {
  std::vector<std::string> scenarios;
  ScenarioOptions question;  // replaces them if it has a model
  std::string directory = "depthcost-report";
};
ExitCode run_report(const ReportOptions& options, Console& console);

struct EvaluateOptions {
  std::string scenario;
  ScenarioOptions question;       // replaces it if it has a model
  Format format = Format::table;  // table | json | csv | plan
  bool details = false;           // every table
  bool layers = false;            // and one row for each layer
  std::string constants;          // a file of fitted constants; those that ship if empty
};
ExitCode run_evaluate(const EvaluateOptions& options, Console& console);

struct FamilyOptions {
  std::string scenario;
  ScenarioOptions question;       // replaces it if it has a model
  Format format = Format::table;  // table | json
};
ExitCode run_family(const FamilyOptions& options);

struct CheckOptions {
  std::vector<std::string> scenarios;
  ScenarioOptions question;       // replaces them if it has a model
  Format format = Format::table;  // table | json
  bool strict = false;            // `unknown` fails
  std::string junit;              // file to write
  bool github = false;            // annotations behind the tables, and the summary of the step
};
ExitCode run_check(const CheckOptions& options, Console& console);

struct DiffOptions {
  std::string before;  // results of `evaluate --format json`
  std::string after;
  std::string tolerance;          // "1 %"; nothing may move if empty
  Format format = Format::table;  // table | json | markdown
  bool strict = false;            // an improvement is a difference too
  bool details = false;           // every section that moved
};
ExitCode run_diff(const DiffOptions& options);

struct ExplainOptions {
  std::string scenario;
  ScenarioOptions question;  // replaces it if it has a model
  std::string metric;
};
ExitCode run_explain(const ExplainOptions& options);

struct ImportOptions {
  std::string config;  // a Hugging Face config.json
  std::string output;  // the model file; stdout if empty
  std::string family;  // the model type to read it as; its own if empty
};
ExitCode run_import(const ImportOptions& options, Console& console);

struct CompareOptions {
  std::string measurements;       // a CSV file, samples or a profile
  bool published = false;         // compares published measurements instead
  std::string hardware;           // what was measured: a preset or a path
  std::string tolerances;         // a file of rules; the built-in rules if empty
  std::string constants;          // a file of fitted constants; those that ship if empty
  Format format = Format::table;  // table | markdown | json
  std::string junit;              // file to write
  bool github = false;            // annotations behind the report
  bool strict = false;            // an ambiguous case fails if its rule blocks
  bool writes_template = false;   // writes an empty table with its columns explained
  bool lists_operations = false;
  std::string scenario;                         // what `measurements`, a trace, is a step of
  std::optional<UnreadScenario> document = {};  // in place of that file
  std::vector<std::string> settings;            // KEY=VALUE in place of the scenario's own
  std::string workload;                         // of the scenario; needed where it has several
  std::string kernel_names;                     // a file of patterns; the shipped ones if empty
  std::int64_t steps = 0;                       // in the trace; 0: those that the profiler named
  std::string directory;                        // for the document and its roofline; none if empty
};
ExitCode run_compare(const CompareOptions& options, Console& console);

struct SweepOptions {
  std::string scenario;
  ScenarioOptions question;       // replaces it if it has a model
  std::vector<std::string> axes;  // KEY=VALUES; without any as plan_sweep says
  Format format = Format::table;  // table | json | csv | markdown
  std::string directory;          // for files; stdout if empty
  Count max_points = kDefaultMaxPoints;
  double compute = kMostFittedCompute;  // PFLOP/s-days of the break-even
  std::string shard;                    // "3/8": the third share of the times, to be merged
  std::vector<std::string> shards;      // files of all shares, to be merged
};

ExitCode run_sweep(const SweepOptions& options, Console& console);

struct PlanOptions {
  std::string scenario;
  ScenarioOptions question;  // replaces it if it has a model
  std::int64_t devices = 0;
  std::string max_overhead;      // "2%"; the scenario's limits, or the paper's, if empty
  Format format = Format::text;  // text | json
};
ExitCode run_plan(const PlanOptions& options, Console& console);

struct MixingOptions {
  MixingQuestion question;
  bool magnitude = false;
  Format format = Format::table;  // table | json | csv
  std::string directory;          // for files; stdout if empty
};

ExitCode run_mixing(const MixingOptions& options, Console& console);

struct ProfileFitOptions {
  std::string samples;
  std::string output;
  std::string part;  // a hardware preset for what samples do not say
  bool cpu = false;  // takes the CPU if samples have both backends
};
ExitCode run_profile_fit(const ProfileFitOptions& options);

/// Throws InputError at `--output` for a name by which `compare` would not know a profile.
void require_profile_name(const std::string& output);

struct ProfileMergeOptions {
  std::vector<std::string> profiles;  // of the nodes; one that is not there is missing
  std::string output;
};
ExitCode run_profile_merge(const ProfileMergeOptions& options);

ExitCode run_profile_verify(const std::vector<std::string>& paths, Console& console);

struct ProfileShowOptions {
  std::string profile;
  std::string directory;  // for plots; none if empty
};
ExitCode run_profile_show(const ProfileShowOptions& options, Console& console);

ExitCode run_presets_list();
ExitCode run_presets_show(const std::string& id);
ExitCode run_presets_lint();
ExitCode run_presets_schema();
ExitCode run_presets_keys();

}  // namespace depthcost
