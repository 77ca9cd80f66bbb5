// `presets`: lists, shows and checks what is built in.
#include "scenarios/presets/presets.hpp"

#include <fmt/format.h>

#include <map>

#include "cli/commands/commands.hpp"
#include "cli/output/console.hpp"
#include "cli/output/stdout.hpp"
#include "reports/formats/text_table.hpp"
#include "scenarios/keys/schema.hpp"
#include "scenarios/presets/lint.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/text/input_error.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
ExitCode run_presets_list() {
  Table table{{"kind", "preset", "name"}};
  for (const Preset& preset : presets())
    table.rows.push_back({std::string(preset.kind), std::string(preset.id),
                          preset_values(preset.id, reference_of_folder(preset.kind)).text("name")});
  show(plain_text(table));
  return ExitCode::good;
}

ExitCode run_presets_show(const std::string& id) {
  std::vector<std::string> ids;
  for (const Preset& preset : presets()) {
    if (preset.id == id) {
      write_stdout(std::string(preset.text));
      return ExitCode::good;
    }
    ids.emplace_back(preset.id);
  }
  const std::string hint = did_you_mean(id, ids);
  throw InputError({"presets", 1, 1},
                   fmt::format("unknown preset '{}'{}", printable(id),
                               hint.empty() ? " ('depthcost presets list' shows them)" : hint));
}

ExitCode run_presets_lint() {
  std::string text;
  for (const Preset& preset : presets())
    for (const std::string& finding : lint_preset(preset.id, reference_of_folder(preset.kind)))
      text += finding + "\n";
  const bool clean = text.empty();
  write_stdout(clean ? fmt::format("{} presets, nothing to mend\n", presets().size()) : text);
  return clean ? ExitCode::good : ExitCode::gate_said_no;
}

ExitCode run_presets_schema() {
  write_stdout(json_schema());
  return ExitCode::good;
}

ExitCode run_presets_keys() {
  write_stdout(key_documentation());
  return ExitCode::good;
}

}  // namespace depthcost
