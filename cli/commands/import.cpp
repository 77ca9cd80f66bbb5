// `import`: a Hugging Face config.json becomes a model file.
#include "scenarios/import/import.hpp"

#include <fmt/format.h>

#include "cli/commands/commands.hpp"
#include "cli/output/files.hpp"
#include "cli/output/stdout.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost {

ExitCode run_import(const ImportOptions& options, Console& console) {
  const std::string yaml = to_yaml(load_config(options.config, options.family));
  if (options.output.empty()) {
    write_stdout(yaml);
    return ExitCode::good;
  }
  write_file(options.output, yaml);
  console.suggest(fmt::format("depthcost report --model {} --hardware h200_sxm --tensor 8",
                              printable(options.output)));
  return ExitCode::good;
}

}  // namespace depthcost
