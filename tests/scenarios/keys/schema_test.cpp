// The committed schema and key table are what the program generates; and the schema admits what the
// reader admits. UPDATE_GOLDEN=1 rewrites the two files.
#include "scenarios/keys/schema.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <regex.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

#include "scenarios/read/scenario.hpp"
#include "scenarios/text/document.hpp"
#include "scenarios/text/input_error.hpp"
#include "tests/parsed_json.hpp"
#include "tests/scenarios/read/parsed.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::schema_test {
namespace {

using Json = nlohmann::json;

const std::filesystem::path kScenarios = std::string(DEPTHCOST_SOURCE_DIR) + "/scenarios";

void expect_committed(const std::string& name, const std::string& generated) {
  const auto path = kScenarios / name;
  if (std::getenv("UPDATE_GOLDEN") != nullptr) std::ofstream(path, std::ios::binary) << generated;
  EXPECT_EQ(test::content_of(path), generated) << "UPDATE_GOLDEN=1 rewrites " << path;
}

TEST(Schema, IsCommittedAsGenerated) { expect_committed("scenario.schema.json", json_schema()); }

TEST(Schema, KeysAreCommittedAsGenerated) { expect_committed("KEYS.md", key_documentation()); }

// --- a validator of what json_schema() uses of JSON Schema; another word is an error ---

/// By POSIX extended expressions, which read our patterns as JSON Schema does. std::regex of GCC 12
/// does not compile under -Werror with sanitizers.
bool matches(const std::string& text, const std::string& pattern) {
  regex_t compiled;
  if (::regcomp(&compiled, pattern.c_str(), REG_EXTENDED | REG_NOSUB) != 0)
    throw std::runtime_error("bad pattern " + pattern);
  const bool found = ::regexec(&compiled, text.c_str(), 0, nullptr, 0) == 0;
  ::regfree(&compiled);
  return found;
}

/// A scalar as YAML 1.2 readers of editors take it.
Json json_of(const ScalarNode& scalar) {
  if (scalar.quoted) return scalar.text;
  if (scalar.is_null()) return nullptr;
  if (scalar.text == "true" || scalar.text == "false") return scalar.text == "true";
  if (matches(scalar.text, "^[-+]?[0-9]+$")) return std::stoll(scalar.text);
  if (matches(scalar.text, "^[-+]?([.][0-9]+|[0-9]+([.][0-9]*)?)([eE][-+]?[0-9]+)?$"))
    return std::stod(scalar.text);
  return scalar.text;
}

Json json_of(const Node& node) {
  if (const auto* scalar = std::get_if<ScalarNode>(&node.content)) return json_of(*scalar);
  if (const auto* list = std::get_if<List>(&node.content)) {
    Json items = Json::array();
    for (const Node& item : list->items) items.push_back(json_of(item));
    return items;
  }
  Json members = Json::object();
  for (const Member& member : std::get<Map>(node.content).members)
    members[member.key] = json_of(member.value);
  return members;
}

class Validator {
 public:
  explicit Validator(Json root) : root_(std::move(root)) {}

  bool admits(const Json& schema, const Json& value) const {
    return std::all_of(schema.items().begin(), schema.items().end(), [&](const auto& word) {
      return obeys(word.key(), word.value(), schema, value);
    });
  }

  bool admits(const Json& value) const { return admits(root_, value); }

  /// As $defs/NAME.
  bool admits(const std::string& name, const Json& value) const {
    return admits(root_["$defs"][name], value);
  }

 private:
  bool obeys(const std::string& word, const Json& argument, const Json& schema,
             const Json& value) const {
    if (word == "$schema" || word == "$defs" || word == "title" || word == "description" ||
        word == "default")
      return true;
    if (word == "$ref")
      return admits(root_[Json::json_pointer(argument.get<std::string>().substr(1))], value);
    if (word == "type") return is_of_type(argument, value);
    if (word == "const") return value == argument;
    if (word == "enum") return std::find(argument.begin(), argument.end(), value) != argument.end();
    if (word == "not") return !admits(argument, value);
    if (word == "anyOf")
      return std::any_of(argument.begin(), argument.end(),
                         [&](const Json& option) { return admits(option, value); });
    if (value.is_number()) return obeys_as_number(word, argument, value);
    if (value.is_string() && word == "pattern")
      return matches(value.get<std::string>(), argument.get<std::string>());
    if (value.is_array()) return obeys_as_array(word, argument, value);
    if (value.is_object()) return obeys_as_object(word, argument, schema, value);
    return true;
  }

  static bool is_of_type(const Json& types, const Json& value) {
    if (types.is_array())
      return std::any_of(types.begin(), types.end(),
                         [&](const Json& type) { return is_of_type(type, value); });
    if (types == "integer") return value.is_number_integer();
    return types == (value.is_number() ? "number" : value.type_name());
  }

  static bool obeys_as_number(const std::string& word, const Json& argument, const Json& value) {
    if (word == "minimum") return value >= argument;
    if (word == "maximum") return value <= argument;
    if (word == "exclusiveMinimum") return value > argument;
    return is_known(word);
  }

  bool obeys_as_array(const std::string& word, const Json& argument, const Json& value) const {
    if (word == "minItems") return value.size() >= argument.get<std::size_t>();
    if (word == "items")
      return std::all_of(value.begin(), value.end(),
                         [&](const Json& item) { return admits(argument, item); });
    return is_known(word);
  }

  bool obeys_as_object(const std::string& word, const Json& argument, const Json& schema,
                       const Json& value) const {
    if (word == "required")
      return std::all_of(argument.begin(), argument.end(),
                         [&](const Json& name) { return value.contains(name.get<std::string>()); });
    const auto all_members = [&](const auto& is_good) {
      return std::all_of(value.items().begin(), value.items().end(), is_good);
    };
    if (word == "properties")
      return all_members([&](const auto& member) {
        return !argument.contains(member.key()) || admits(argument[member.key()], member.value());
      });
    if (word == "additionalProperties")
      return all_members(
          [&](const auto& member) { return schema["properties"].contains(member.key()); });
    return is_known(word);
  }

  /// Words about values of another type say nothing; one that nobody checks would pass in silence.
  static bool is_known(const std::string& word) {
    for (const std::string known : {"minimum", "maximum", "exclusiveMinimum", "pattern", "minItems",
                                    "items", "required", "properties", "additionalProperties"})
      if (word == known) return true;
    throw std::runtime_error("the test does not know the word " + word);
  }

  Json root_;
};

const Validator& validator() {
  static const Validator of_program(test::parsed_json(json_schema()));
  return of_program;
}

// --- what is shipped ---

void expect_all_admitted(const std::string& folder, const std::string& definition) {
  int num_files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kScenarios / folder)) {
    if (entry.path().extension() != ".yaml") continue;
    const Json value = json_of(load_document(entry.path().string()));
    const bool admitted =
        definition.empty() ? validator().admits(value) : validator().admits(definition, value);
    EXPECT_TRUE(admitted) << entry.path();
    ++num_files;
  }
  EXPECT_GE(num_files, 10) << folder;
}

TEST(Schema, AdmitsEveryShippedScenario) { expect_all_admitted("", ""); }
TEST(Schema, AdmitsEveryShippedModel) { expect_all_admitted("models", "model"); }
TEST(Schema, AdmitsEveryShippedHardware) { expect_all_admitted("hardware", "hardware"); }

TEST(Schema, GivesDefaultsThatItAdmits) {
  const Json schema = test::parsed_json(json_schema());
  EXPECT_EQ(schema["properties"]["residual"]["properties"]["num_streams"]["default"], 4);
  EXPECT_EQ(schema["properties"]["residual"]["properties"]["remainder"]["default"], "paper");
}

// --- the schema and the reader agree ---

struct AgreementCase {
  std::string name;
  std::string body;  // after the schema line
};

std::ostream& operator<<(std::ostream& out, const AgreementCase& row) { return out << row.name; }

class Admitted : public testing::TestWithParam<AgreementCase> {};
class Refused : public testing::TestWithParam<AgreementCase> {};

std::string text_of(const AgreementCase& row) { return "schema: depthcost/1\n" + row.body; }

bool schema_admits(const AgreementCase& row) {
  return validator().admits(json_of(parse_document(text_of(row), "it.yaml")));
}

TEST_P(Admitted, BySchemaAndReader) {
  EXPECT_TRUE(schema_admits(GetParam()));
  EXPECT_NO_THROW(test::parse_scenario(text_of(GetParam()), "it.yaml"));
}

TEST_P(Refused, BySchemaAndReader) {
  EXPECT_FALSE(schema_admits(GetParam()));
  EXPECT_THROW(test::parse_scenario(text_of(GetParam()), "it.yaml"), InputError);
}

AgreementCase kimi(const std::string& name, const std::string& rest) {
  return {name, "model: kimi_k3\n" + rest};
}

AgreementCase model(const std::string& name, const std::string& map) {
  return {name, "model: " + map + "\nresidual: {scheme: standard}\n"};
}

AgreementCase hardware(const std::string& name, const std::string& keys) {
  return kimi(name, "hardware: {kind: gpu, memory_bandwidth: " + keys + "}\n");
}

INSTANTIATE_TEST_SUITE_P(
    Texts, Admitted,
    testing::Values(
        kimi("Least", ""), kimi("NameIsANumber", "name: 405\n"),
        kimi("NameIsATruth", "name: true\n"),
        kimi("Source", "residual: {block_size: {value: 24, source: a talk, date: 2026-03-16}}\n"),
        kimi("OneChoice", "residual: {compare: standard}\n"),
        kimi("Choices", "residual: {compare: [standard, mhc]}\n"),
        kimi("Chunks", "parallelism: {pipeline: 2, chunk_layers: [186, 0]}\n"),
        kimi("OneBatch", "workload: {decode: {sequences: 1}}\nbaseline_step: {decode: 12 ms}\n"),
        kimi(
            "Batches",
            "workload: {decode: {sequences: [1, 2]}}\nbaseline_step: {decode: [12 ms, 1.5e1us]}\n"),
        kimi("Percentage",
             "workload: {decode: {sequences: 1}, prefill: {tokens: 1024}}\n"
             "budgets: {decode_overhead: 2 %, prefill_overhead: 2.5%}\n"),
        kimi("Budgets", "budgets: {prefill_bank: 1 GiB, device_memory: fits}\n"),
        kimi("Preset", "hardware: b300_sxm\n"), kimi("Base", "hardware: {base: h200_sxm}\n"),
        hardware("Records",
                 "1 TB/s, sustained_bandwidth: [{reads: 0, writes: 1, value: 0.9 TB/s, source: a, "
                 "date: 2026}]"),
        model("ModelBase", "{base: kimi_k3, hidden_size: 7}"),
        model("ModelMap", "{num_layers: 8, hidden_size: 8, dtype: bf16}"),
        model("ModelSchema",
              "{schema: depthcost-model/1, decoder_layers: {value: 8}, hidden_size: 8, dtype: "
              "{value: f32}, total_parameters: 1.5e9, residual: {scheme: {value: mhc}}}")),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Texts, Refused,
    testing::Values(
        AgreementCase{"NoModel", "name: x\n"}, AgreementCase{"ModelIsAList", "model: [kimi_k3]\n"},
        AgreementCase{"ModelIsEmpty", "model:\n"}, kimi("HardwareIsEmpty", "hardware:\n"),
        kimi("NameIsEmpty", "name:\n"), kimi("UnknownKey", "colour: 1\n"),
        kimi("UnknownKeyInASection", "residual: {blok_size: 24}\n"),
        kimi("DottedKey", "residual.block_size: 24\n"), kimi("SectionIsAList", "residual: [1]\n"),
        kimi("Zero", "residual: {block_size: 0}\n"),
        kimi("Negative", "residual: {block_size: -1}\n"),
        kimi("Fraction", "residual: {block_size: 1.5}\n"),
        kimi("Word", "residual: {block_size: x}\n"),
        kimi("Quoted", "residual: {block_size: \"24\"}\n"),
        kimi("TooMany", "workload: {decode: {sequences: 1099511627777}}\n"),
        kimi("BothBlockKeys", "residual: {block_size: 24, num_blocks: 8}\n"),
        kimi("UnknownChoice", "residual: {scheme: hc}\n"),
        kimi("EmptyList", "residual: {compare: []}\n"),
        kimi("UnknownKeyBesideAValue", "residual: {block_size: {value: 24, sauce: x}}\n"),
        kimi("SourceWithoutAValue", "residual: {block_size: {source: x}}\n"),
        kimi("NoUnit", "budgets: {prefill_bank: 2.5}\n"),
        kimi("NoUnitOfAStep", "workload: {decode: {sequences: 1, layer_bytes: 5}}\n"),
        kimi("WrongDimension", "budgets: {prefill_bank: 2.5 GB/s}\n"),
        kimi("WrongCase", "budgets: {prefill_bank: 2.5 gb}\n"),
        kimi("Octal", "budgets: {prefill_bank: 010 GB}\n"),
        kimi("NegativeBytes", "budgets: {prefill_bank: -1 GB}\n"),
        kimi("NotANumber", "budgets: {prefill_bank: .nan GB}\n"),
        kimi("TruthForFits", "budgets: {device_memory: true}\n"),
        hardware("CapacityForABandwidth", "4.8 TB"),
        hardware("RecordWithoutAKey", "1 TB/s, sustained_bandwidth: [{reads: 1, value: 1 TB/s}]"),
        hardware("RecordWithAnUnknownKey",
                 "1 TB/s, sustained_bandwidth: [{reads: 1, writes: 1, value: 1 TB/s, x: 1}]"),
        hardware("NoRecords", "1 TB/s, sustained_bandwidth: []"),
        kimi("NoBandwidth", "hardware: {kind: gpu}\n"),
        model("NoDtype", "{num_layers: 8, hidden_size: 8}"),
        model("UnknownModelKey", "{num_layers: 8, hidden_size: 8, dtype: bf16, colour: 1}"),
        model("BothLayerKeys", "{num_layers: 8, decoder_layers: 4, hidden_size: 8, dtype: bf16}"),
        model("SchemaOfAScenario", "{base: kimi_k3, schema: depthcost/1}")),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::schema_test
