// `import`: a Hugging Face config.json becomes a model file.
#include "scenarios/import.hpp"

#include "cli/commands.hpp"
#include "cli/files.hpp"

namespace depthcost {

ExitCode run_import(const ImportOptions& options) {
  const std::string yaml = to_yaml(load_config(options.config));
  if (options.output.empty())
    write_stdout(yaml);
  else
    write_file(options.output, yaml);
  return ExitCode::good;
}

}  // namespace depthcost
