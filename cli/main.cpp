// The program: command line in, exit code out. The only catch of the project is here.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <functional>

#include "cli/commands.hpp"
#include "cli/version.hpp"
#include "scenarios/input_error.hpp"

namespace depthcost {
namespace {

using Command = std::function<ExitCode()>;

void add_report(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ReportOptions>();
  auto* command = app.add_subcommand("report",
                                     "Markdown and SVG plots for each scenario\n"
                                     "  depthcost report scenarios/kimi_k3_8xb300.yaml");
  command->add_option("SCENARIO", options->scenarios, "scenario files")->required();
  command->add_option("-o,--output", options->directory, "folder to write to")
      ->capture_default_str();
  command->callback([&chosen, options] { chosen = [options] { return run_report(*options); }; });
}

void add_evaluate(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<EvaluateOptions>();
  auto* command =
      app.add_subcommand("evaluate",
                         "the numbers only\n"
                         "  depthcost evaluate scenarios/kimi_k3_8xb300.yaml --format json");
  command->add_option("SCENARIO", options->scenario, "scenario file")->required();
  command->add_option("--format", options->format, "table, json or csv")
      ->check(CLI::IsMember({"table", "json", "csv"}))
      ->capture_default_str();
  command->add_flag("--layers", options->layers, "one row for each layer and operation too");
  command->callback([&chosen, options] { chosen = [options] { return run_evaluate(*options); }; });
}

void add_check(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<CheckOptions>();
  auto* command = app.add_subcommand("check",
                                     "budgets and fits: 0 hold, 1 broken, 2 bad input\n"
                                     "  depthcost check scenarios/*.yaml --strict");
  command->add_option("SCENARIO", options->scenarios, "scenario files")->required();
  command->add_flag("--strict", options->strict, "what is unknown fails");
  command->callback([&chosen, options] { chosen = [options] { return run_check(*options); }; });
}

void add_explain(CLI::App& app, Command& chosen) {
  auto options = std::make_shared<ExplainOptions>();
  auto* command =
      app.add_subcommand("explain",
                         "a number's formula, source and function\n"
                         "  depthcost explain SCENARIO ledger.block_attnres.two_phase.kernel");
  command->add_option("SCENARIO", options->scenario, "scenario file")->required();
  command->add_option("METRIC", options->metric, "path of the number; all are listed without it");
  command->callback([&chosen, options] { chosen = [options] { return run_explain(*options); }; });
}

void add_presets(CLI::App& app, Command& chosen) {
  auto* command = app.add_subcommand("presets",
                                     "models and hardware that are built in\n"
                                     "  depthcost presets show h200_sxm");
  command->require_subcommand(0, 1);
  command->callback([&chosen] {
    if (!chosen) chosen = run_presets_list;
  });
  command->add_subcommand("list", "ids and names")->callback([&chosen] {
    chosen = run_presets_list;
  });
  command->add_subcommand("lint", "sources and plausibility: 0 clean, 1 findings")
      ->callback([&chosen] { chosen = run_presets_lint; });
  command->add_subcommand("schema", "JSON Schema of scenario files")->callback([&chosen] {
    chosen = run_presets_schema;
  });
  command->add_subcommand("keys", "every key, as Markdown")->callback([&chosen] {
    chosen = run_presets_keys;
  });
  auto id = std::make_shared<std::string>();
  auto* show = command->add_subcommand("show", "one preset, as its file");
  show->add_option("ID", *id, "preset")->required();
  show->callback([&chosen, id] { chosen = [id] { return run_presets_show(*id); }; });
}

int run(int argc, char** argv) {
  CLI::App app{"What a transformer pays for the way it carries its residual stream through depth.",
               "depthcost"};
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  Command chosen;
  for (const auto& add : {add_report, add_evaluate, add_check, add_explain, add_presets})
    add(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& error) {
    fmt::print(stderr, "depthcost: error: {} (see depthcost --help)\n",
               printable(error.what(), 200));
    return static_cast<int>(ExitCode::bad_input);
  }
  return static_cast<int>(chosen());
}

}  // namespace
}  // namespace depthcost

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is an error of stdout, not the end of us
  try {
    return depthcost::run(argc, argv);
  } catch (const depthcost::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
  } catch (const std::exception& error) {
    fmt::print(stderr, "depthcost: error: {} (internal; please report it)\n", error.what());
  }
  return static_cast<int>(depthcost::ExitCode::bad_input);
}
