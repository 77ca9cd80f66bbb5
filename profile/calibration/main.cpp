// calibrate TABLES START.yaml FOLDER NAME: writes FOLDER/NAME.yaml, constants that have not seen
// the GPU, architecture or model NAME; "all" has seen everything. calibrate --names TABLES: every
// NAME.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "profile/calibration/fold.hpp"
#include "scenarios/device/constants.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::calibration {
namespace {

constexpr const char* kAll = "all";

void write(const std::string& path, const std::string& text) {
  std::ofstream file(path);
  if (!(file << text)) throw InputError({path, 1, 1}, "cannot write the file");
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() == 2 && arguments[0] == "--names") {
    for (const std::string& name : names_of_folds(read_tables(arguments[1], shipped_constants())))
      fmt::print("{}\n", name);
    fmt::print("{}\n", kAll);
    return 0;
  }
  if (arguments.size() != 4) {
    fmt::print(stderr, "calibrate: error: wrong arguments (TABLES START.yaml FOLDER NAME)\n");
    return 2;
  }
  const std::string& name = arguments[3];
  const Constants start = load_constants(arguments[1]);
  const Tables tables = read_tables(arguments[0], start);
  const std::vector<std::string> known = names_of_folds(tables);
  if (name != kAll && std::find(known.begin(), known.end(), name) == known.end()) {
    fmt::print(stderr, "calibrate: error: unknown fold '{}' (known: {}, {})\n", name,
               fmt::join(known, ", "), kAll);
    return 2;
  }
  const Constants constants = fold(tables, {name == kAll ? "" : name}, start);
  write(fmt::format("{}/{}.yaml", arguments[2], name), to_yaml(constants));
  return 0;
}

}  // namespace
}  // namespace depthcost::calibration

int main(int argc, char** argv) {
  try {
    return depthcost::calibration::run({argv + 1, argv + argc});
  } catch (const depthcost::InputError& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 2;
  }
}
