// calibrate TABLES START.yaml FOLDER NAME: writes FOLDER/NAME.yaml, constants that have not seen
// the GPU, architecture or model NAME; "all" has seen everything. calibrate --names TABLES
// [NAME...]: every NAME, or those that are given where it knows them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string_view>

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

int refuse(std::string_view subject, std::string_view problem) {
  fmt::print(stderr, "{}:1:1: error: {}\n", subject, problem);
  return 2;
}

std::vector<std::string> known_names(const Tables& tables) {
  std::vector<std::string> names = names_of_folds(tables);
  names.emplace_back(kAll);
  return names;
}

/// Nothing if all are known.
std::optional<std::string> first_unknown(const std::vector<std::string>& names,
                                         const std::vector<std::string>& known) {
  for (const std::string& name : names)
    if (std::find(known.begin(), known.end(), name) == known.end()) return name;
  return std::nullopt;
}

int refuse_unknown(const std::string& name, const std::vector<std::string>& known) {
  return refuse(name, fmt::format("unknown fold (must be {})", fmt::join(known, ", ")));
}

int print_names(const std::string& tables, const std::vector<std::string>& wanted) {
  const std::vector<std::string> known = known_names(read_tables(tables, shipped_constants()));
  if (const auto unknown = first_unknown(wanted, known)) return refuse_unknown(*unknown, known);
  fmt::print("{}\n", fmt::join(wanted.empty() ? known : wanted, "\n"));
  return 0;
}

int write_fold(const std::string& table_folder, const std::string& start_file,
               const std::string& folder, const std::string& name) {
  const Constants start = load_constants(start_file);
  const Tables tables = read_tables(table_folder, start);
  const std::vector<std::string> known = known_names(tables);
  if (first_unknown({name}, known)) return refuse_unknown(name, known);
  const Constants constants = fold(tables, {name == kAll ? "" : name}, start);
  write(fmt::format("{}/{}.yaml", folder, name), to_yaml(constants));
  return 0;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments.size() >= 2 && arguments[0] == "--names")
    return print_names(arguments[1], {arguments.begin() + 2, arguments.end()});
  if (arguments.size() != 4)
    return refuse("calibrate", "missing arguments (TABLES, START.yaml, FOLDER and a NAME)");
  return write_fold(arguments[0], arguments[1], arguments[2], arguments[3]);
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
