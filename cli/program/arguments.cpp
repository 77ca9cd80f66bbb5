// Has one function for each command.
#include "cli/program/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <memory>
#include <type_traits>

#include "cli/commands/commands.hpp"
#include "cli/output/stdout.hpp"
#include "cli/program/completion.hpp"
#include "cli/program/scenario_source.hpp"
#include "model/plan/placement.hpp"
#include "scenarios/keys/limits.hpp"

namespace depthcost {
namespace {

/// A command whose help ends with examples.
CLI::App* add_command(CLI::App& app, const std::string& name, const std::string& meaning,
                      std::initializer_list<const char*> examples) {
  CLI::App* command = app.add_subcommand(name, meaning);
  command->footer(fmt::format("For example:\n  {}", fmt::join(examples, "\n  ")));
  return command;
}

/// Parsing `command` chooses `run`, with or without a console.
template <class Options, class Run>
void on_call(CLI::App& command, Command& chosen, const std::shared_ptr<Options>& options, Run run) {
  command.callback([&chosen, options, run] {
    chosen = [options, run](Console& console) {
      if constexpr (std::is_invocable_v<Run, const Options&, Console&>)
        return run(*options, console);
      else
        return run(*options);
    };
  });
}

void add_format(CLI::App& command, Format& format, const char* meaning,
                std::initializer_list<Format> formats) {
  std::vector<std::string> names;
  for (const Format one : formats) names.emplace_back(name(one));
  command
      .add_option_function<std::string>(
          "--format", [&format](const std::string& text) { format = named<Format>(text).value(); },
          meaning)
      ->check(CLI::IsMember(names))
      ->default_str(std::string(name(format)));
}

/// The option --`name`, which the command has. CLI11's own search ends the program where memory is
/// short: it allocates, but must not throw.
CLI::Option& option_of(CLI::App& command, std::string_view name) {
  const std::vector<CLI::Option*> options = command.get_options();
  const auto found = std::find_if(options.begin(), options.end(), [&](const CLI::Option* option) {
    const auto& names = option->get_lnames();
    return std::find(names.begin(), names.end(), name) != names.end();
  });
  return **found;
}

void add_constants(CLI::App& command, std::string& constants) {
  command
      .add_option("--constants", constants,
                  "file of fitted constants, such as one that was fitted without a GPU")
      ->type_name(completed::kFile);
}

/// Adds SCENARIO, one file or several, and --model, which replaces it.
template <class Files>
void add_scenario(CLI::App& command, Files& files, const char* meaning, ScenarioOptions& question) {
  CLI::Option* scenario = command.add_option("SCENARIO", files, meaning);
  add_scenario_options(command, *scenario->type_name(completed::kFile), question);
}

void add_report(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ReportOptions>();
  auto* command =
      add_command(app, "report", "Markdown and SVG plots for each scenario",
                  {"depthcost report scenarios/kimi_k3_8xb300.yaml",
                   "depthcost report --model config.json --hardware b300_sxm --tensor 8"});
  add_scenario(*command, options->scenarios, "scenario files", options->question);
  command->add_option("-o,--output", options->directory, "folder to write to")
      ->type_name(completed::kFolder)
      ->capture_default_str();
  on_call(*command, chosen, options, run_report);
}

void add_evaluate(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<EvaluateOptions>();
  auto* command = add_command(app, "evaluate", "verdict, added time and memory of one scenario",
                              {"depthcost evaluate scenarios/kimi_k3_8xb300.yaml --format json"});
  add_scenario(*command, options->scenario, "scenario file", options->question);
  add_format(*command, options->format, "table, json, csv, or plan: what bench_pipeline runs",
             {Format::table, Format::json, Format::csv, Format::plan});
  command->add_flag("--details", options->details, "every table: bytes, memory, schedules, terms");
  command->add_flag("--layers", options->layers, "and one row for each layer and operation");
  add_constants(*command, options->constants);
  on_call(*command, chosen, options, run_evaluate);
}

void add_family(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<FamilyOptions>();
  auto* command = add_command(app, "family",
                              "every residual connection on one model, fewest bytes a token first",
                              {"depthcost family scenarios/kimi_k3_8xb300.yaml"});
  add_scenario(*command, options->scenario, "scenario file", options->question);
  add_format(*command, options->format, "table or json", {Format::table, Format::json});
  on_call(*command, chosen, options, run_family);
}

void add_check(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<CheckOptions>();
  auto* command = add_command(app, "check", "budgets and fits: exit code 1 if one is surely broken",
                              {"depthcost check scenarios/kimi_k3_8xb300.yaml",
                               "depthcost check scenarios/*.yaml --junit budgets.xml --github",
                               "depthcost check --model config.json --hardware b300_sxm --tensor 8 "
                               "--residual block_attnres --block-size 8 --budget "
                               "decode_overhead=2%"});
  add_scenario(*command, options->scenarios, "scenario files", options->question);
  add_format(*command, options->format, "table or json", {Format::table, Format::json});
  command->add_flag("--strict", options->strict,
                    "fail also where the limit lies inside the 90 % interval");
  command->add_option("--junit", options->junit, "JUnit file to write")
      ->type_name(completed::kFile);
  command->add_flag("--github", options->github,
                    "annotations for GitHub behind the tables, and a table in "
                    "$GITHUB_STEP_SUMMARY");
  on_call(*command, chosen, options, run_check);
}

void add_sweep(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<SweepOptions>();
  auto* command =
      add_command(app, "sweep", "which block size, why, and the runner-up",
                  {"depthcost sweep scenarios/kimi_k3_8xb300.yaml",
                   "depthcost sweep scenarios/kimi_k3_8xb300.yaml --axis block_size=12,24,48 "
                   "--axis hardware=h100_sxm,h200_sxm --axis workload.decode.sequences=1..1024:x2",
                   "depthcost sweep --model config.json --hardware b300_sxm --tensor 8 "
                   "--residual block_attnres",
                   "depthcost sweep scenarios/kimi_k3_8xb300.yaml --shard 1/2 -o shards",
                   "depthcost sweep scenarios/kimi_k3_8xb300.yaml --shard 2/2 -o shards",
                   "depthcost sweep scenarios/kimi_k3_8xb300.yaml --merge shards/*.shard"});
  add_scenario(*command, options->scenario, "scenario file", options->question);
  command
      ->add_option(
          "--axis", options->axes,
          "KEY=VALUES, any value of the scenario: 8,16,24 or 1..L or 1..1024:x2 or "
          "0..64:+8; if absent block_size=1..L, or the schedules of a scheme without blocks. residual.scheme, block_size, "
          "num_blocks, num_streams and schedule compete for the best value")
      ->allow_extra_args(false)
      ->take_all();
  add_format(*command, options->format, "table, json, csv or markdown",
             {Format::table, Format::json, Format::csv, Format::markdown});
  command->add_option("-o,--output", options->directory, "folder for the document and its plots")
      ->type_name(completed::kFolder);
  command->add_option("--max-points", options->max_points, "the most points that a sweep may have")
      ->check(CLI::Range(Count{1}, kMostPoints))
      ->capture_default_str();
  command->add_option("--compute", options->compute, "compute of the break-even in PFLOP/s-days")
      ->capture_default_str();
  CLI::Option* shard = command->add_option(
      "--shard", options->shard,
      "I/N: writes the times of share I of N into the folder of -o, for --merge");
  command
      ->add_option("--merge", options->shards,
                   "the files of all shares: the answer that one run would have given")
      ->excludes(shard)
      ->type_name(completed::kFile);
  shard->excludes(&option_of(*command, "format"));
  on_call(*command, chosen, options, run_sweep);
}

void add_plan(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<PlanOptions>();
  auto* command = add_command(
      app, "plan",
      "the best parallelism, schedule and blocks on N devices: 0 some keep the limits, 1 none",
      {"depthcost plan --model llama_3_1_70b --hardware h100_sxm --devices 8 --max-overhead 4%",
       "depthcost plan --model qwen3_32b --hardware b200_sxm --devices 8 "
       "--residual block_attnres,mhc --format json"});
  add_scenario(*command, options->scenario, "scenario file", options->question);
  // A plan looks for these. It refuses them with its reason.
  for (const char* found : {"tensor", "data", "expert", "pipeline"})
    option_of(*command, found).group("");
  option_of(*command, "decode")
      .description(
          "batch sizes of a decode step over all replicas, such as 64 or 1,64; default: 64");
  command->add_option("--devices", options->devices, "number of devices in all")
      ->required()
      ->check(CLI::Range(Count{1}, kMostPlannedDevices));
  command->add_option("--max-overhead", options->max_overhead,
                      "such as 2%: the limit of every workload; the scenario's, or the paper's, if "
                      "absent");
  add_format(*command, options->format, "text or json", {Format::text, Format::json});
  on_call(*command, chosen, options, run_plan);
}

void add_mixing(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<MixingOptions>();
  auto* command = add_command(
      app, "mixing",
      "depth mixing matrices, their semiseparable ranks, and magnitudes through depth",
      {"depthcost mixing scenarios/kimi_linear_48b.yaml --scheme all -o mixing",
       "depthcost mixing scenarios/kimi_linear_48b.yaml --weights alpha.json --magnitude"});
  command->add_option("SCENARIO", options->question.scenario, "scenario file")
      ->required()
      ->type_name(completed::kFile);
  command
      ->add_option("--scheme", options->question.schemes,
                   "beside the scenario's own: a name, or all")
      ->allow_extra_args(false)
      ->take_all();
  command
      ->add_option("--weights", options->question.weights, "JSON file of weights; random if absent")
      ->type_name(completed::kFile);
  command->add_option("--seed", options->question.seed, "seed of the random numbers")
      ->check(CLI::Range(Count{0}, kMaxExactCount))
      ->capture_default_str();
  command->add_option("--streams", options->question.num_streams, "m of mhc and hc_static");
  command->add_option("--block-size", options->question.block_size, "layers of an AttnRes block");
  command->add_option("--window", options->question.window,
                      "layer outputs of attnres_sliding_window");
  command->add_option("--dilation", options->question.dilation, "of denseformer");
  command->add_option("--period", options->question.period, "of denseformer");
  command->add_flag("--magnitude", options->magnitude, "magnitudes of random networks");
  add_format(*command, options->format, "table, json or csv",
             {Format::table, Format::json, Format::csv});
  command->add_option("-o,--output", options->directory, "folder for the document and its plots")
      ->type_name(completed::kFolder);
  on_call(*command, chosen, options, run_mixing);
}

void add_diff(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<DiffOptions>();
  auto* command = add_command(
      app, "diff",
      "what changed between two results: 0 nothing for the worse, 1 something, 2 bad input",
      {"depthcost evaluate scenarios/kimi_k3_8xb300.yaml --format json > old.json",
       "depthcost evaluate scenarios/kimi_k3_8xh200.yaml --format json > new.json",
       "depthcost diff old.json new.json --tolerance 1%"});
  command->add_option("OLD", options->before, "a result of evaluate --format json")
      ->required()
      ->type_name(completed::kFile);
  command
      ->add_option("NEW", options->after, "a later result of the same command, compared with OLD")
      ->required()
      ->type_name(completed::kFile);
  command->add_option("--tolerance", options->tolerance,
                      "such as 1%: smaller moves are no difference; 0 if absent");
  command->add_flag("--strict", options->strict, "what became better is a difference too");
  command->add_flag("--details", options->details, "every section that moved, not steps alone");
  add_format(*command, options->format, "table, json or markdown",
             {Format::table, Format::json, Format::markdown});
  on_call(*command, chosen, options, run_diff);
}

void add_compare(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<CompareOptions>();
  auto* command = add_command(
      app, "compare",
      "predicted against measured; exit code 1 if a gate does not hold, 77 if the samples are "
      "of another machine",
      {"depthcost compare scenarios/profiles/xeon_granite_rapids_vm.yaml",
       "depthcost compare kernels.csv --hardware h200_sxm", "depthcost compare --published",
       "depthcost compare trace.json --scenario scenarios/kimi_k3_8xh200.yaml"});
  command
      ->add_option(
          "MEASUREMENTS", options->measurements,
          "profile, samples, a CSV table of measured kernels, or with --scenario a trace; depthcost-measurements/profile.yaml if absent")
      ->type_name(completed::kFile);
  command->add_flag("--published", options->published, "compares published measurements");
  command
      ->add_option("--hardware", options->hardware, "what the kernels ran on: a preset or a path")
      ->type_name(completed::kHardware);
  command->add_option("--tolerances", options->tolerances, "file of rules")
      ->type_name(completed::kFile);
  add_constants(*command, options->constants);
  add_format(*command, options->format, "table, markdown or json",
             {Format::table, Format::markdown, Format::json});
  command->add_option("--junit", options->junit, "JUnit file to write")
      ->type_name(completed::kFile);
  command->add_flag("--github", options->github, "annotations for GitHub behind the report");
  command->add_flag("--strict", options->strict, "ambiguous cases fail if their rule blocks");
  command->add_flag("--template", options->writes_template,
                    "writes an empty table, its columns explained");
  command->add_flag("--operations", options->lists_operations,
                    "lists the operations that a table can name");
  command
      ->add_option("--scenario", options->scenario,
                   "scenario of the traced step: its residual path stands beside the prediction")
      ->type_name(completed::kFile);
  command
      ->add_option("--kernel-names", options->kernel_names,
                   "file that says which operation a kernel of a trace is, in place of ours")
      ->type_name(completed::kFile);
  command
      ->add_option("-o,--output", options->directory,
                   "folder for the document and a roofline of its kernels")
      ->type_name(completed::kFolder);
  command->add_option("--steps", options->steps, "steps that the trace holds")
      ->check(CLI::Range(Count{1}, kMaxExactCount));
  command->add_option("--workload", options->workload,
                      "which workload of the scenario the trace is a step of, such as decode/64");
  command
      ->add_option("--set", options->settings,
                   "KEY=VALUE in place of the scenario's own, as workload.decode.sequences=64")
      ->allow_extra_args(false)
      ->take_all();
  on_call(*command, chosen, options, run_compare);
}

void add_profile(CLI::App& app, Command& chosen) {
  auto* command = add_command(app, "profile", "machine profiles, made by scripts/measure",
                              {"depthcost profile verify scenarios/profiles/*.yaml"});
  command->require_subcommand(1);
  auto options = std::make_shared<ProfileFitOptions>();
  auto* fit = add_command(
      *command, "fit", "samples -> profile",
      {"depthcost profile fit scenarios/profiles/xeon_granite_rapids_vm.samples.json -o "
       "profile.yaml"});
  fit->add_option("SAMPLES", options->samples, "the samples that scripts/measure has written")
      ->required()
      ->type_name(completed::kFile);
  fit->add_option("-o,--output", options->output, "profile to write")
      ->required()
      ->type_name(completed::kFile);
  fit->add_option("--part", options->part, "hardware preset: a GPU's capacity and arithmetic")
      ->type_name(completed::kHardware);
  fit->add_flag("--cpu", options->cpu, "the CPU's profile if a GPU was measured too");
  on_call(*fit, chosen, options, run_profile_fit);
  auto merged = std::make_shared<ProfileMergeOptions>();
  auto* merge = add_command(
      *command, "merge",
      "profiles of nodes with one part -> profile of a fleet: 0 merged, 1 merged without nodes that "
      "are missing or stand outside",
      {"depthcost profile merge fleet/node1.yaml fleet/node2.yaml fleet/node3.yaml -o fleet.yaml"});
  merge->add_option("PROFILE", merged->profiles, "the profiles of all nodes")
      ->required()
      ->type_name(completed::kFile);
  merge->add_option("-o,--output", merged->output, "profile to write")
      ->required()
      ->type_name(completed::kFile);
  on_call(*merge, chosen, merged, run_profile_merge);
  auto paths = std::make_shared<std::vector<std::string>>();
  auto* verify = add_command(
      *command, "verify",
      "refit profiles and predict again; exit code 1 if they differ, 3 if the samples are no "
      "valid measurement, 77 if they are of another machine",
      {"depthcost profile verify scenarios/profiles/*.yaml"});
  verify->add_option("PROFILE", *paths, "profiles, their samples beside them")
      ->required()
      ->type_name(completed::kFile);
  on_call(*verify, chosen, paths, run_profile_verify);
  auto shown = std::make_shared<ProfileShowOptions>();
  auto* show =
      add_command(*command, "show", "how well it predicts, ceilings and rates",
                  {"depthcost profile show scenarios/profiles/xeon_granite_rapids_vm.yaml"});
  show->add_option("PROFILE", shown->profile, "profile, its samples beside it")
      ->required()
      ->type_name(completed::kFile);
  show->add_option("-o,--output", shown->directory, "folder for plots: roofs, errors, transition")
      ->type_name(completed::kFolder);
  on_call(*show, chosen, shown, run_profile_show);
}

void add_explain(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ExplainOptions>();
  auto* command =
      add_command(app, "explain", "a number's formula, source and function",
                  {"depthcost explain scenarios/kimi_k3_8xb300.yaml",
                   "depthcost explain scenarios/kimi_k3_8xb300.yaml "
                   "ledger.block_attnres.two_phase.kernel",
                   "depthcost explain --model kimi_k3 ledger.block_attnres.two_phase.kernel"});
  command->add_option("SCENARIO", options->scenario, "scenario file")->type_name(completed::kFile);
  command->add_option(
      "METRIC", options->metric,
      "path of a number; its beginning lists what is below it, and without METRIC all are listed");
  const CLI::Option& model = add_model_options(*command, options->question);
  // With --model the only word is the metric.
  command->parse_complete_callback([options, &model] {
    if (model.count() == 0) {
      if (options->scenario.empty()) throw no_scenario();
    } else if (options->metric.empty()) {
      std::swap(options->metric, options->scenario);
    } else {
      throw CLI::ExcludesError("SCENARIO", "--model");
    }
  });
  on_call(*command, chosen, options, run_explain);
}

void add_import(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ImportOptions>();
  auto* command = add_command(app, "import", "Hugging Face config.json -> model file",
                              {"depthcost import config.json -o my_model.yaml",
                               "depthcost import config.json --as kimi_linear"});
  command->add_option("CONFIG_JSON", options->config, "config.json of a model")
      ->required()
      ->type_name(completed::kFile);
  command->add_option("-o,--output", options->output, "model file to write; stdout if absent")
      ->type_name(completed::kFile);
  command
      ->add_option("--as", options->family,
                   "known model_type to read the config as, such as llama; for one that is not "
                   "known but built alike")
      ->type_name("FAMILY");
  on_call(*command, chosen, options, run_import);
}

void add_presets(CLI::App& app, Command& chosen) {
  auto* command = add_command(app, "presets", "models and hardware that are built in",
                              {"depthcost presets", "depthcost presets show h200_sxm"});
  command->require_subcommand(0, 1);
  const auto choose = [&chosen](ExitCode (*run)()) { chosen = [run](Console&) { return run(); }; };
  command->callback([&chosen, choose] {
    if (!chosen) choose(run_presets_list);
  });
  const auto add = [&](const char* name, const char* meaning, ExitCode (*run)()) {
    add_command(*command, name, meaning, {fmt::format("depthcost presets {}", name).c_str()})
        ->callback([choose, run] { choose(run); });
  };
  add("list", "ids and names", run_presets_list);
  add("lint", "sources and plausibility: 0 clean, 1 findings", run_presets_lint);
  add("schema", "JSON Schema of scenario files", run_presets_schema);
  add("keys", "every key, as Markdown", run_presets_keys);
  auto id = std::make_shared<std::string>();
  auto* show =
      add_command(*command, "show", "one preset, as its file", {"depthcost presets show h200_sxm"});
  show->add_option("ID", *id, "preset")->required()->type_name(completed::kPreset);
  on_call(*show, chosen, id, run_presets_show);
}

void add_completion(CLI::App& app, Command& chosen) {
  auto shell = std::make_shared<std::string>();
  auto* command =
      add_command(app, "completion", "a script that completes commands, options and presets",
                  {"depthcost completion bash"});
  command->add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&chosen, shell] {
    chosen = [shell](Console&) {
      write_stdout(completion_script(*shell));
      return ExitCode::good;
    };
  });
}

/// Adds the option to each command, so that it can stand anywhere.
void add_quiet(CLI::App& command, Verbosity& verbosity) {
  for (CLI::App* sub : command.get_subcommands([](CLI::App*) { return true; }))
    add_quiet(*sub, verbosity);
  command.add_flag_callback(
      "-q,--quiet", [&verbosity] { verbosity = Verbosity::quiet; },
      "no progress and no warnings; the answer stays");
}

}  // namespace

void add_commands(CLI::App& app, Command& chosen, Verbosity& verbosity) {
  for (const auto& add :
       {add_report, add_evaluate, add_family, add_check, add_sweep, add_plan, add_mixing,
        add_compare, add_diff, add_explain, add_import, add_presets, add_profile, add_completion})
    add(app, chosen);
  add_quiet(app, verbosity);
}

}  // namespace depthcost
