// Values stay texts here. The reader of scenarios checks them.
#include "cli/program/scenario_source.hpp"

#include <fmt/format.h>

#include "cli/program/completion.hpp"
#include "scenarios/read/usual_workload.hpp"

namespace depthcost {

CLI::Option& add_model_options(CLI::App& command, ScenarioOptions& options) {
  CLI::Option* model = command.add_option(
      "--model", options.model, "preset, model file or config.json, instead of a scenario");
  model->type_name(completed::kModel);
  const auto add = [&](const char* name, std::string& value, const std::string& meaning) {
    return command.add_option(name, value, meaning)->needs(model);
  };
  add("--hardware", options.hardware, "preset or path; without it no time is predicted")
      ->type_name(completed::kHardware);
  add("--tensor", options.tensor, "tensor-parallel devices; default: 1");
  add("--data", options.data, "data-parallel replicas; default: 1");
  add("--expert", options.expert,
      "devices that whole experts are dealt out to; default: 1, tensor ranks share each expert");
  add("--pipeline", options.pipeline, "pipeline stages");
  add("--residual", options.scheme, "residual scheme; default: the model's own");
  add("--block-size", options.block_size, "layers (sublayers) of an AttnRes block");
  add("--compare", options.compare, "schemes to compare with, such as standard,mhc");
  add("--decode", options.decode,
      fmt::format(
          "batch sizes of a decode step on each replica, or none; default: those of {} that "
          "fit, all of them with a budget of device_memory",
          kUsualBatches));
  add("--context", options.context, "tokens of each sequence; default: 8192");
  add("--prefill", options.prefill,
      fmt::format("tokens of a prefill, or none; default: {}", kUsualPrompt));
  add("--training", options.training,
      "tokens of a sequence of a training step; then decode and prefill only where asked");
  command
      .add_option("--budget", options.budgets,
                  "NAME=LIMIT, as decode_overhead=2%, prefill_bank=2.5GB or device_memory=fits")
      ->needs(model)
      ->allow_extra_args(false)
      ->take_all();
  command
      .add_option("--set", options.settings,
                  "KEY=VALUE overrides a key of the scenario, such as residual.attach=standalone")
      ->allow_extra_args(false)
      ->take_all();
  return *model;
}

void add_scenario_options(CLI::App& command, CLI::Option& scenario, ScenarioOptions& options) {
  CLI::Option& model = add_model_options(command, options);
  model.excludes(&scenario);
  command.parse_complete_callback([&scenario, &model] {
    if (scenario.count() == 0 && model.count() == 0) throw no_scenario();
  });
}

CLI::RequiredError no_scenario() { return CLI::RequiredError("SCENARIO or --model"); }

}  // namespace depthcost
