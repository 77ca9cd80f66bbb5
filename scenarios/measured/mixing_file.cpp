// Reads the shape, then each table.
#include "scenarios/measured/mixing_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "model/base/decimal.hpp"
#include "model/base/infeasible.hpp"
#include "model/schemes/list.hpp"
#include "scenarios/text/input_text.hpp"
#include "scenarios/text/json_document.hpp"
#include "scenarios/text/quantity.hpp"
#include "scenarios/text/suggest.hpp"

namespace depthcost {
namespace {

constexpr std::string_view kSchema = "depthcost-mixing/1";

/// A number of JSON. The table checks its range.
double number_of(const Node& node, std::string_view table) {
  const ScalarNode& scalar = as_scalar(node, table);
  const std::optional<double> value = decimal_value(scalar.text);
  if (scalar.quoted || !value)
    throw InputError(node.position, fmt::format("invalid {} '{}' (must be a finite number)", table,
                                                printable(scalar.text)));
  return *value;
}

[[noreturn]] void fail_size(const Node& node, std::string_view what, std::size_t size,
                            std::size_t needed) {
  throw InputError(node.position,
                   fmt::format("invalid {} (holds {}, needs {})", what, size, needed));
}

const std::vector<Node>& items_of(const Node& node, std::string_view what, std::size_t needed) {
  const std::vector<Node>& items = as_list(node, what).items;
  if (items.size() != needed) fail_size(node, what, items.size(), needed);
  return items;
}

WeightRow numbers_of(const Node& node, const std::string& what, std::size_t needed) {
  WeightRow row;
  for (const Node& item : items_of(node, what, needed)) row.push_back(number_of(item, what));
  return row;
}

/// A square matrix as a list of its rows.
WeightRow matrix_of(const Node& node, const std::string& what, std::size_t num_elements) {
  const auto m = static_cast<std::size_t>(std::lround(std::sqrt(num_elements)));
  WeightRow matrix;
  for (const Node& item : items_of(node, what, m)) {
    const WeightRow row = numbers_of(item, "row of " + what, m);
    matrix.insert(matrix.end(), row.begin(), row.end());
  }
  return matrix;
}

WeightRow row_of(const Node& node, const WeightTable& table, std::size_t index) {
  const auto size = static_cast<std::size_t>(table.row_sizes[index]);
  const std::string what = table.layout == WeightLayout::list
                               ? std::string(table.name)
                               : fmt::format("{}[{}]", table.name, index);
  WeightRow row = table.layout == WeightLayout::matrices ? matrix_of(node, what, size)
                                                         : numbers_of(node, what, size);
  const std::string problem = row_problem(table, row);
  if (!problem.empty())
    throw InputError(node.position, fmt::format("invalid {} ({})", what, problem));
  return row;
}

WeightRows rows_of(const Node& node, const WeightTable& table) {
  if (table.layout == WeightLayout::list) return {row_of(node, table, 0)};
  WeightRows rows;
  for (const Node& item : items_of(node, table.name, table.row_sizes.size()))
    rows.push_back(row_of(item, table, rows.size()));
  return rows;
}

/// Whether there is a table of rows for each token, which is one level deeper.
bool is_per_token(const Node& node, const WeightTable& table) {
  if (!table.per_token) return false;
  const List* tokens = std::get_if<List>(&node.content);
  const List* first = tokens == nullptr || tokens->items.empty()
                          ? nullptr
                          : std::get_if<List>(&tokens->items.front().content);
  return first != nullptr && !first->items.empty() &&
         std::holds_alternative<List>(first->items.front().content);
}

/// M is linear in the weights of attention, so the mean of the weights gives the mean of the
/// matrices.
WeightRows mean_over_tokens(const Node& node, const WeightTable& table) {
  const std::vector<Node>& tokens = as_list(node, table.name).items;
  WeightRows mean;
  for (const Node& token : tokens) {
    const WeightRows rows = rows_of(token, table);
    mean.resize(rows.size());
    for (std::size_t l = 0; l < rows.size(); ++l) {
      mean[l].resize(rows[l].size());
      for (std::size_t i = 0; i < rows[l].size(); ++i)
        mean[l][i] += rows[l][i] / as_double(std::ssize(tokens));
    }
  }
  return mean;
}

class MixingReader {
 public:
  MixingReader(const Node& document, const ExpectedShape& expected)
      : document_(document), map_(root_map(document, "weights file")), expected_(expected) {}

  MixingFile read() {
    require_schema();
    file_.scheme = &scheme();
    read_layers();
    file_.shape = shape_of_rows(*file_.scheme, expected_.shape);
    for (const MixingParameter parameter : file_.scheme->parameters) read_parameter(parameter);
    feasible(document_.position, [&] { require_shape(*file_.scheme, file_.shape); });
    const std::vector<WeightTable> tables = file_.scheme->tables(file_.shape);
    refuse_unknown(tables);
    for (const WeightTable& table : tables) read_table(table);
    return std::move(file_);
  }

 private:
  const Node& at(std::string_view key, std::string_view why) const {
    const Node* node = map_.find(key);
    if (node != nullptr) return *node;
    throw InputError(document_.position, fmt::format("missing key '{}' ({})", key, why));
  }

  template <class Attempt>
  static void feasible(const Position& position, const Attempt& attempt) {
    try {
      attempt();
    } catch (const Infeasible& error) {
      throw InputError(position, error.what());
    }
  }

  void require_schema() const {
    const Node& node = at("schema", fmt::format("must be {}", kSchema));
    const ScalarNode& written = as_scalar(node, "schema");
    if (written.text != kSchema)
      throw InputError(node.position, fmt::format("invalid schema '{}' (must be {})",
                                                  printable(written.text), kSchema));
  }

  const MixingScheme& scheme() const {
    const Node& node = at("scheme", "the scheme that the weights are of");
    const std::string& written = as_scalar(node, "scheme").text;
    const MixingScheme* found = find_mixing_scheme(written);
    if (found != nullptr) return *found;
    throw InputError(node.position, unknown_mixing_scheme(written));
  }

  void read_layers() const {
    const Node& node = at("num_layers", "layers L, attention and MLP counted apart");
    const Count written = parse_count(as_scalar(node, "num_layers"), node.position, "num_layers");
    require_equal(node, "num_layers", written, expected_.shape.num_layers);
  }

  static void require_equal(const Node& node, std::string_view key, Count written, Count decided) {
    if (written == decided) return;
    throw InputError(node.position, fmt::format("conflicting {} '{}' (the scenario has {})", key,
                                                written, decided));
  }

  void read_parameter(MixingParameter parameter) {
    const std::string_view key = name(parameter);
    const Node& node = at(key, fmt::format("{} takes it", file_.scheme->name));
    const Count written = parse_count(as_scalar(node, key), node.position, key);
    if (expected_.decided.contains(parameter))
      require_equal(node, key, written, value_of(expected_.shape, parameter));
    feasible(node.position, [&] { set_parameter(file_.shape, parameter, written); });
  }

  void refuse_unknown(const std::vector<WeightTable>& tables) const {
    std::vector<std::string> known{"schema", "scheme", "num_layers"};
    for (const MixingParameter parameter : file_.scheme->parameters)
      known.emplace_back(name(parameter));
    for (const WeightTable& table : tables) known.emplace_back(table.name);
    for (const Member& member : map_.members)
      if (std::find(known.begin(), known.end(), member.key) == known.end())
        throw InputError(member.position, fmt::format("unknown key '{}'{}", printable(member.key),
                                                      meant_or_known(member.key, known)));
  }

  void read_table(const WeightTable& table) {
    const Node& node = at(table.name, table.meaning);
    const bool for_tokens = is_per_token(node, table);
    if (for_tokens) file_.num_tokens = std::ssize(as_list(node, table.name).items);
    file_.weights.set(table.name,
                      for_tokens ? mean_over_tokens(node, table) : rows_of(node, table));
  }

  const Node& document_;
  const Map& map_;
  const ExpectedShape& expected_;
  MixingFile file_;
};

}  // namespace

std::string unknown_mixing_scheme(std::string_view written) {
  const SchemeRule* rule = find_scheme(written);
  if (rule != nullptr && !rule->unmixed.empty())
    return fmt::format("no mixing matrix for '{}' ({})", rule->id, rule->unmixed);
  std::vector<std::string> names;
  for (const MixingScheme& scheme : mixing_schemes()) names.emplace_back(scheme.name);
  return fmt::format("unknown scheme '{}'{}", printable(written), meant_or_known(written, names));
}

MixingFile parse_mixing_file(std::string_view text, const std::string& file,
                             const ExpectedShape& expected) {
  const Node document = parse_json(text, file, kMaxWeightsBytes);
  return MixingReader(document, expected).read();
}

MixingFile load_mixing_file(const std::string& path, const ExpectedShape& expected) {
  return parse_mixing_file(load_text(path, kMaxWeightsBytes), path, expected);
}

}  // namespace depthcost
