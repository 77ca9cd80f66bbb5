// Every mistake that a scenario, a model or a hardware map can hold, with the whole message. What
// the parser refuses is in document_test.cpp, every wrong number and unit in quantity_test.cpp.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "scenarios/input_error.hpp"
#include "scenarios/scenario.hpp"
#include "tests/scenarios/scheme_choices.hpp"
#include "tests/temporary_folder.hpp"

namespace depthcost::bad_input_test {
namespace {

using namespace std::string_literals;

/// what() of the InputError that the call throws; "" if it throws none.
template <class Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

/// "1, 2, ..., count, ".
std::string numbers_up_to(int count) {
  std::string text;
  for (int i = 1; i <= count; ++i) text += std::to_string(i) + ", ";
  return text;
}

std::string repeated(const std::string& piece, int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += piece;
  return text;
}

const std::string kStart = "schema: depthcost/1\n";

/// From line 3 on, about a model that carries Block AttnRes.
std::string kimi(const std::string& rest) { return kStart + "model: kimi_k3\n" + rest; }

/// An inline model at line 2, column 8.
std::string model(const std::string& keys,
                  const std::string& rest = "residual: {scheme: standard}\n") {
  return kStart + "model: {" + keys + "}\n" + rest;
}

/// An otherwise good hardware map; `keys` starts at line 3, column 51.
std::string hardware(const std::string& keys) {
  return kimi("hardware: {kind: gpu, memory_bandwidth: 4.8 TB/s, " + keys + "}\n");
}

struct Case {
  std::string name;
  std::string text;
  std::string expected;
};

std::ostream& operator<<(std::ostream& out, const Case& row) { return out << row.name; }

class BadInput : public testing::TestWithParam<Case> {};

TEST_P(BadInput, NamesTheLineAndTheCause) {
  EXPECT_EQ(error_of([] { parse_scenario(GetParam().text, "it.yaml"); }), GetParam().expected);
}

/// The helpers make what they promise: without the mistake there is no error.
TEST(GoodInput, IsWhatTheCasesStartFrom) {
  EXPECT_EQ(error_of([] { parse_scenario(kimi(""), "it.yaml"); }), "");
  EXPECT_EQ(error_of([] { parse_scenario(hardware("memory_capacity: 1 GB"), "it.yaml"); }), "");
  EXPECT_EQ(error_of([] {
              parse_scenario(model("num_layers: 65536, hidden_size: 8, dtype: bf16"), "it.yaml");
            }),
            "");
  EXPECT_EQ(error_of([] {
              parse_scenario(kimi("workload: {decode: {sequences: [" + numbers_up_to(255) +
                                  "1099511627776]}}\n"),
                             "it.yaml");
            }),
            "");
  EXPECT_EQ(error_of([] {
              parse_scenario(hardware("cache_transition: [{footprint: 1 MB, memory_weight: 0 %}, "
                                      "{footprint: 2 MB, memory_weight: 100 %}]"),
                             "it.yaml");
            }),
            "");
}

INSTANTIATE_TEST_SUITE_P(
    Structure, BadInput,
    testing::ValuesIn(std::vector<Case>{
        {"NoSchema", "model: kimi_k3\n",
         "it.yaml:1:1: error: missing key 'schema' (the first line of a scenario is 'schema: depthcost/1')"},
        {"WrongSchema", "schema: depthcost/2\nmodel: kimi_k3\n",
         "it.yaml:1:9: error: invalid schema 'depthcost/2' (a scenario is 'depthcost/1')"},
        {"SchemaOfAModel", "schema: depthcost-model/1\nmodel: kimi_k3\n",
         "it.yaml:1:9: error: invalid schema 'depthcost-model/1' (a scenario is 'depthcost/1'; a "
         "model is asked about as report --model)"},
        {"SchemaIsAList", "schema: [depthcost/1]\nmodel: kimi_k3\n",
         "it.yaml:1:9: error: invalid schema (must be a single value, not a list)"},
        {"List", "- schema: depthcost/1\n",
         "it.yaml:1:1: error: invalid scenario (must be a map, not a list)"},
        {"Text", "depthcost/1\n",
         "it.yaml:1:1: error: invalid scenario 'depthcost/1' (must be a map)"},
        {"NoModel", kStart + "hardware: h200_sxm\n",
         "it.yaml:1:1: error: missing key 'model' (scenario needs it)"},
        {"UnknownKey", kimi("budget: {device_memory: fits}\n"),
         "it.yaml:3:1: error: unknown key 'budget'; did you mean 'budgets'?"},
        {"UnknownKeyFarFromAny", kimi("colour: blue\n"),
         "it.yaml:3:1: error: unknown key 'colour' (known here: schema, name, model, hardware, residual, parallelism, workload, baseline_step, step_terms, claim, budgets)"},
        {"UnknownKeyInASection", kimi("residual:\n  block_sise: 24\n"),
         "it.yaml:4:3: error: unknown key 'block_sise'; did you mean 'block_size'?"},
        {"UnknownKeyFarFromAnyInASection", kimi("workload: {tuning: {tokens: 1}}\n"),
         "it.yaml:3:12: error: unknown key 'tuning' (known here: decode, prefill, training)"},
        {"UnknownKeyTwoSectionsDeep", kimi("workload: {decode: {sequence: 1}}\n"),
         "it.yaml:3:21: error: unknown key 'sequence'; did you mean 'sequences'?"},
        {"UnknownKeyBesideAValue", kimi("residual: {block_size: {value: 24, sauce: talk}}\n"),
         "it.yaml:3:36: error: unknown key 'sauce' (known here: value, source, date)"},
        {"DuplicateKey", kimi("model: kimi_k2\n"),
         "it.yaml:3:1: error: duplicate key 'model' (first at line 2)"},
        {"DuplicateKeyInASection", kimi("residual: {block_size: 24,\n  block_size: 12}\n"),
         "it.yaml:4:3: error: duplicate key 'block_size' (first at line 3)"},
        {"DottedKey", kimi("residual: {block_size: 24}\nresidual.block_size: 12\n"),
         "it.yaml:4:1: error: unknown key 'residual.block_size' (known here: schema, name, model, hardware, residual, parallelism, workload, baseline_step, step_terms, claim, budgets)"},
        {"DottedKeyInASection", kimi("workload: {decode.sequences: 1}\n"),
         "it.yaml:3:12: error: unknown key 'decode.sequences' (known here: decode, prefill, training)"},
        {"KeyOfARecord",
         kimi("hardware: {base: h200_sxm, \"sustained_bandwidth[0].value\": 1 TB/s}\n"),
         "it.yaml:3:28: error: unknown key 'sustained_bandwidth[0].value'; did you mean 'sustained_bandwidth'?"},
        {"EmptyKey", kimi("\"\": 1\n"),
         "it.yaml:3:1: error: unknown key '' (known here: schema, name, model, hardware, residual, parallelism, workload, baseline_step, step_terms, claim, budgets)"},
        {"SectionIsAText", kimi("residual: block_attnres\n"),
         "it.yaml:3:11: error: invalid residual 'block_attnres' (must be a map)"},
        {"SectionIsEmpty", kimi("workload:\n"),
         "it.yaml:3:1: error: invalid workload '' (must be a map)"},
        {"SectionIsAList", kimi("workload: [decode]\n"),
         "it.yaml:3:11: error: invalid workload (must be a map, not a list)"},
        {"SourceIsAList", kimi("residual: {block_size: {value: 24, source: [a]}}\n"),
         "it.yaml:3:44: error: invalid source (must be a single value, not a list)"},
        {"SourceWithoutAValue", kimi("residual: {block_size: {source: talk, date: 2026-03-16}}\n"),
         "it.yaml:3:24: error: missing key 'value' (residual.block_size needs it)"},
        {"ListForOneValue", kimi("residual: {block_size: [24]}\n"),
         "it.yaml:3:24: error: invalid residual.block_size (must be a single value, not a list)"},
        {"MapForOneValueOfAList", kimi("workload: {decode: {sequences: [{value: 1}]}}\n"),
         "it.yaml:3:33: error: invalid workload.decode.sequences (must be a single value, not a map)"},
        {"EmptyList", kimi("residual: {compare: []}\n"),
         "it.yaml:3:21: error: invalid residual.compare (an empty list)"},
        {"NameIsEmpty", kimi("name:\n"), "it.yaml:3:1: error: invalid name (empty; need a text)"},
        {"NameWithAnEscape", kimi("name: \"a\\e[2J\\nb\"\n"),
         "it.yaml:3:7: error: invalid name 'a\\x1B[2J\\x0Ab' (holds a control character)"},
        {"NameWithANul", kimi("name: \"a\\0\"\n"),
         "it.yaml:3:7: error: invalid name 'a\\x00' (holds a control character)"},
        {"NameIsAList", kimi("name: [a]\n"),
         "it.yaml:3:7: error: invalid name (must be a single value, not a list)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Yaml, BadInput,
    testing::ValuesIn(std::vector<Case>{
        {"Empty", "", "it.yaml:1:1: error: empty document (holds no value)"},
        {"Malformed", kimi("residual: {block_size: 24\n"),
         "it.yaml:4:1: error: malformed YAML (end of map flow not found)"},
        {"SecondDocument", kimi("---\nschema: depthcost/1\nmodel: kimi_k3\n"),
         "it.yaml:3:1: error: second document, or text after the first (a file holds one document)"},
        {"SelfReference", kimi("residual: &x [*x]\n"),
         "it.yaml:3:11: error: anchors are not allowed (write the value where it is used)"},
        {"ExpandingAnchors", kimi("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
         "it.yaml:3:4: error: anchors are not allowed (write the value where it is used)"},
        {"AliasWithoutAnAnchor", kimi("residual: *x\n"),
         "it.yaml:3:11: error: aliases are not allowed (write the value where it is used)"},
        {"Tag", kimi("name: !!binary aGk=\n"), "it.yaml:3:7: error: tags are not allowed"},
        {"InvalidUtf8", kimi("name: \xFF\n"),
         "it.yaml:3:7: error: invalid byte '\\xFF' (not UTF-8)"},
        {"Nul", kimi("name: \0\n"s),
         "it.yaml:3:7: error: invalid byte '\\x00' (a control character)"},
        {"Directive", "%YAML 1.2\n---\nschema: depthcost/1\nmodel: kimi_k3\n",
         "it.yaml:1:1: error: directives are not allowed"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Counts, BadInput,
    testing::ValuesIn(std::vector<Case>{
        {"Zero", kimi("residual: {block_size: 0}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '0' (must be a positive integer)"},
        {"Negative", kimi("residual: {block_size: -1}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '-1' (must be a positive integer)"},
        {"Octal", kimi("residual: {block_size: 010}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '010' (leading zero; YAML 1.1 readers take it as octal)"},
        {"Hexadecimal", kimi("residual: {block_size: 0x18}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '0x18' (must be a positive integer in plain digits)"},
        {"Fraction", kimi("residual: {block_size: 24.0}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '24.0' (must be a positive integer in plain digits)"},
        {"Exponent", kimi("residual: {block_size: 1e308}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '1e308' (must be a positive integer in plain digits)"},
        {"NotANumber", kimi("residual: {block_size: .nan}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '.nan' (must be a positive integer)"},
        {"Infinite", kimi("residual: {block_size: .inf}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '.inf' (must be a positive integer)"},
        {"NegativeInfinite", kimi("residual: {block_size: -.inf}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '-.inf' (must be a positive integer)"},
        {"Word", kimi("residual: {block_size: many}\n"),
         "it.yaml:3:24: error: invalid residual.block_size 'many' (must be a positive integer)"},
        {"Quoted", kimi("residual: {block_size: \"24\"}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '24' (a quoted text; write the bare number)"},
        {"Underscore", kimi("residual: {block_size: 1_000}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '1_000' (must be a positive integer in plain digits)"},
        {"Plus", kimi("residual: {block_size: +24}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '+24' (must be a positive integer)"},
        {"Huge", kimi("residual: {block_size: 99999999999999999999}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '99999999999999999999' (must be at most 1099511627776)"},
        {"AboveTheLimit", kimi("residual: {block_size: 1099511627777}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '1099511627777' (must be at most 1099511627776)"},
        {"Unit", kimi("residual: {block_size: 24 layers}\n"),
         "it.yaml:3:24: error: invalid residual.block_size '24 layers' (must be a positive integer in plain digits)"},
        {"Truth", kimi("residual: {block_size: true}\n"),
         "it.yaml:3:24: error: invalid residual.block_size 'true' (must be a positive integer)"},
        {"Null", kimi("residual: {block_size: ~}\n"),
         "it.yaml:3:12: error: invalid residual.block_size '' (must be a positive integer)"},
        {"InAList", kimi("workload: {decode: {sequences: [1, 0]}}\n"),
         "it.yaml:3:36: error: invalid workload.decode.sequences '0' (must be a positive integer)"},
        {"NegativeChunk", kimi("parallelism: {pipeline: 1, chunk_layers: [-1]}\n"),
         "it.yaml:3:43: error: invalid parallelism.chunk_layers '-1' (must be a non-negative integer)"},
        {"ParametersAreNotFinite", model("base: kimi_k3, total_parameters: .inf"),
         "it.yaml:2:42: error: invalid total_parameters '.inf' (must be finite)"},
        {"ParametersAreAbsurd", model("base: kimi_k3, total_parameters: 1e308"),
         "it.yaml:2:42: error: invalid total_parameters '1e308' (out of range)"},
        {"ParametersWithAUnit", model("base: kimi_k3, total_parameters: 2.78T"),
         "it.yaml:2:42: error: invalid total_parameters '2.78T' (must be a plain decimal number)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Quantities, BadInput,
    testing::ValuesIn(std::vector<Case>{
        {"NoUnit", kimi("hardware: {kind: gpu, memory_bandwidth: 4.8}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '4.8' (missing unit; need bytes per second, such as '4.8 TB/s')"},
        {"CapacityForABandwidth", kimi("hardware: {kind: gpu, memory_bandwidth: 4.8 TB}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '4.8 TB' (a size in bytes; need bytes per second, such as '4.8 TB/s')"},
        {"TimeForABandwidth", kimi("hardware: {kind: gpu, memory_bandwidth: 4.8 ms}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '4.8 ms' (a time; need bytes per second, such as '4.8 TB/s')"},
        {"UnknownUnit", kimi("hardware: {kind: gpu, memory_bandwidth: 4.8 TX/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '4.8 TX/s' (unknown unit 'TX/s'; need bytes per second, such as '4.8 TB/s')"},
        {"UnitOfAnotherTool", kimi("hardware: {kind: gpu, memory_bandwidth: 4800 GBps}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '4800 GBps' (unknown unit 'GBps'; did you mean 'GB/s'?)"},
        {"WrongCase", kimi("hardware: {kind: gpu, memory_bandwidth: 4.8 tb/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '4.8 tb/s' (unknown unit 'tb/s'; did you mean 'TB/s'?)"},
        {"Zero", kimi("hardware: {kind: gpu, memory_bandwidth: 0 TB/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '0 TB/s' (must be positive)"},
        {"Negative", kimi("hardware: {kind: gpu, memory_bandwidth: -4.8 TB/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '-4.8 TB/s' (must be positive)"},
        {"NotANumber", kimi("hardware: {kind: gpu, memory_bandwidth: .nan TB/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '.nan TB/s' (must be finite)"},
        {"Infinite", kimi("hardware: {kind: gpu, memory_bandwidth: .inf TB/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '.inf TB/s' (must be finite)"},
        {"Octal", kimi("hardware: {kind: gpu, memory_bandwidth: 010 TB/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '010 TB/s' (leading zero)"},
        {"NoNumber", kimi("hardware: {kind: gpu, memory_bandwidth: TB/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth 'TB/s' (no number; need bytes per second, such as '4.8 TB/s')"},
        {"Empty", kimi("hardware: {kind: gpu, memory_bandwidth: }\n"),
         "it.yaml:3:23: error: invalid memory_bandwidth '' (missing value; need bytes per second, such as '4.8 TB/s')"},
        {"Absurd", kimi("hardware: {kind: gpu, memory_bandwidth: 1e308 TB/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '1e308 TB/s' (out of range)"},
        {"AboveTheLimit", kimi("hardware: {kind: gpu, memory_bandwidth: 1.1e27 B/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '1.1e27 B/s' (out of range)"},
        {"BelowTheLimit", kimi("hardware: {kind: gpu, memory_bandwidth: 1e-16 B/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '1e-16 B/s' (out of range)"},
        {"TwoUnits", kimi("hardware: {kind: gpu, memory_bandwidth: 4.8 TB/s/s}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '4.8 TB/s/s' (unknown unit 'TB/s/s'; need bytes per second, such as '4.8 TB/s')"},
        {"Comma", kimi("hardware: {kind: gpu, memory_bandwidth: \"4,8 TB/s\"}\n"),
         "it.yaml:3:41: error: invalid memory_bandwidth '4,8 TB/s' (malformed number; write plain decimal digits)"},
        {"KubernetesUnit", kimi("budgets: {prefill_bank: 2.5 Gi}\n"),
         "it.yaml:3:25: error: invalid budgets.prefill_bank '2.5 Gi' (unknown unit 'Gi'; did you mean 'GiB'?)"},
        {"BitsForBytes", kimi("budgets: {prefill_bank: 2.5 Gb}\n"),
         "it.yaml:3:25: error: invalid budgets.prefill_bank '2.5 Gb' (unknown unit 'Gb'; did you mean 'GB'?)"},
        {"BareRatio", kimi("budgets: {decode_overhead: 0.02}\n"),
         "it.yaml:3:28: error: invalid budgets.decode_overhead '0.02' (missing unit; need a percentage, such as '2 %')"},
        {"WordForFits", kimi("budgets: {device_memory: 80 GB}\n"),
         "it.yaml:3:26: error: invalid budgets.device_memory '80 GB' (must be fits)"},
        {"RateForABudget", kimi("budgets: {pipeline_peak: 2 GB/s}\n"),
         "it.yaml:3:26: error: invalid budgets.pipeline_peak '2 GB/s' (a rate in bytes per second; need bytes, such as '141 GB')"},
        {"BareStep", kimi("workload: {decode: {sequences: 1}}\nbaseline_step: {decode: 12}\n"),
         "it.yaml:4:25: error: invalid baseline_step.decode '12' (missing unit; need a time, such as '12 ms')"},
        {"WeightAboveAll", hardware("cache_transition: [{footprint: 1 MB, memory_weight: 101 %}]"),
         "it.yaml:3:103: error: invalid cache_transition[].memory_weight '101 %' (more than 100 %)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Choices, BadInput,
    testing::ValuesIn(std::vector<Case>{
        {"Scheme", kimi("residual: {scheme: block_attres}\n"),
         "it.yaml:3:20: error: invalid residual.scheme 'block_attres' " + test::scheme_choices() +
             "; did you mean 'block_attnres'?"},
        {"SchemeFarFromAny", kimi("residual: {scheme: x}\n"),
         "it.yaml:3:20: error: invalid residual.scheme 'x' " + test::scheme_choices()},
        {"Schedule", kimi("residual: {schedule: twophase}\n"),
         "it.yaml:3:22: error: invalid residual.schedule 'twophase' (must be unfused | fused | two_pass | one_pass | single_pass | two_phase); did you mean 'two_phase'?"},
        {"Remainder", kimi("residual: {num_blocks: 8, remainder: floor}\n"),
         "it.yaml:3:38: error: invalid residual.remainder 'floor' (must be paper | ceil | strict | literal)"},
        {"Dtype", model("num_layers: 8, hidden_size: 8, dtype: bfloat16"),
         "it.yaml:2:47: error: invalid dtype 'bfloat16' (must be bf16 | f16 | f32 | fp8)"},
        {"Launch", kimi("workload: {decode: {sequences: 1, launch: graphs}}\n"),
         "it.yaml:3:43: error: invalid workload.decode.launch 'graphs' (must be stream | graph | graph_pdl); did you mean 'graph'?"},
        {"ListForAChoice", kimi("residual: {scheme: [mhc]}\n"),
         "it.yaml:3:20: error: invalid residual.scheme (must be a single value, not a list)"},
        {"InAList", kimi("residual: {compare: [standard, mch]}\n"),
         "it.yaml:3:32: error: invalid residual.compare 'mch' " + test::scheme_choices() +
             "; did you mean 'mhc'?"},
        {"Memory",
         kimi("hardware: {kind: gpu, memory_technology: hbm3x, memory_bandwidth: 1 TB/s}\n"),
         "it.yaml:3:42: error: invalid memory_technology 'hbm3x' (must be hbm2 | hbm2e | hbm3 | hbm3e | gddr6 | gddr6x | gddr7 | ddr5 | lpddr5x); did you mean 'hbm3'?"},
        {"CaseMatters", kimi("residual: {scheme: Standard}\n"),
         "it.yaml:3:20: error: invalid residual.scheme 'Standard' " + test::scheme_choices() +
             "; did you mean 'standard'?"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    References, BadInput,
    testing::ValuesIn(std::vector<Case>{
        {"UnknownModel", kStart + "model: kimi_k4\n",
         "it.yaml:2:8: error: unknown model 'kimi_k4'; did you mean 'kimi_k2'?"},
        {"UnknownModelFarFromAny", kStart + "model: qqq\n",
         "it.yaml:2:8: error: unknown model 'qqq' (neither a preset nor a path; 'depthcost presets list' shows the presets)"},
        {"UnknownHardware", kimi("hardware: h200_sxn\n"),
         "it.yaml:3:11: error: unknown hardware 'h200_sxn'; did you mean 'h200_sxm'?"},
        {"ModelIsEmpty", kStart + "model:\n",
         "it.yaml:2:1: error: invalid model (empty; need a text)"},
        {"ModelIsAList", kStart + "model: [kimi_k3]\n",
         "it.yaml:2:8: error: invalid model (must be a single value, not a list)"},
        {"HardwareAsAModel", kStart + "model: h200_sxm\n",
         "it.yaml:2:8: error: unknown model 'h200_sxm' (neither a preset nor a path; 'depthcost presets list' shows the presets)"},
        {"UnknownBase", model("base: kimi_k4"),
         "it.yaml:2:15: error: unknown model 'kimi_k4'; did you mean 'kimi_k2'?"},
        {"BaseIsEmpty", model("base: \"\""),
         "it.yaml:2:15: error: invalid base (empty; need a text)"},
        {"PathWithANul", kStart + "model: \"a\\0.yaml\"\n",
         "it.yaml:2:8: error: invalid model 'a\\x00.yaml' (holds a control character)"},
        {"PathIsLong", kStart + "model: " + std::string(300, 'a') + ".yaml\n",
         "it.yaml:2:8: error: invalid model 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...': cannot read the file (file name too long)"},
        {"MissingFile", kStart + "model: missing.yaml\n",
         "it.yaml:2:8: error: invalid model 'missing.yaml': cannot read the file (no such file or directory)"},
        {"MissingHardwareFile", kimi("hardware: ./missing.yaml\n"),
         "it.yaml:3:11: error: invalid hardware './missing.yaml': cannot read the file (no such file or directory)"},
        {"MissingBaseFile", model("base: missing.yaml"),
         "it.yaml:2:15: error: invalid model 'missing.yaml': cannot read the file (no such file or directory)"},
        {"Directory", kStart + "model: ./\n",
         "it.yaml:2:8: error: invalid model './': cannot read the file (a directory)"},
        {"Device", kStart + "model: /dev/null\n",
         "it.yaml:2:8: error: invalid model '/dev/null': cannot read the file (not a regular file)"},
        {"SchemaOfAnInlineMap", model("schema: depthcost/1, base: kimi_k3"),
         "it.yaml:2:17: error: invalid schema 'depthcost/1' (a model is 'depthcost-model/1')"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Models, BadInput,
    testing::ValuesIn(std::vector<Case>{
        {"NoHiddenSize", model("num_layers: 8, dtype: bf16"),
         "it.yaml:2:8: error: missing key 'hidden_size' (model needs it)"},
        {"NoDtype", model("num_layers: 8, hidden_size: 8"),
         "it.yaml:2:8: error: missing key 'dtype' (model needs it)"},
        {"NoLayers", model("hidden_size: 8, dtype: bf16"),
         "it.yaml:2:8: error: missing key 'decoder_layers' (model needs it, or num_layers)"},
        {"BothLayerCounts", model("num_layers: 8, decoder_layers: 4, hidden_size: 8, dtype: bf16"),
         "it.yaml:2:21: error: conflicting key 'num_layers' ('decoder_layers' says the same; write one of them)"},
        {"UnknownKey", model("num_layers: 8, hidden_sise: 8, dtype: bf16"),
         "it.yaml:2:24: error: unknown key 'hidden_sise'; did you mean 'hidden_size'?"},
        {"KeyOfTheScenario",
         model("num_layers: 8, hidden_size: 8, dtype: bf16, residual: {compare: mhc}", ""),
         "it.yaml:2:64: error: unknown key 'compare' (known here: scheme, block_size, num_blocks, remainder, num_streams)"},
        {"TooManyLayers", model("num_layers: 65537, hidden_size: 8, dtype: bf16"),
         "it.yaml:2:21: error: invalid num_layers '65537' (more than 65536 layers)"},
        {"TooManyDecoderLayers", model("decoder_layers: 32769, hidden_size: 8, dtype: bf16"),
         "it.yaml:2:25: error: invalid decoder_layers '32769' (more than 65536 layers)"},
        {"AbsurdLayers", model("num_layers: 1e308, hidden_size: 8, dtype: bf16"),
         "it.yaml:2:21: error: invalid num_layers '1e308' (must be a positive integer in plain digits)"},
        {"NoScheme", model("num_layers: 8, hidden_size: 8, dtype: bf16", ""),
         "it.yaml:1:1: error: missing key 'residual.scheme' (the model does not say which it carries)"},
        {"NoBlocks",
         model("num_layers: 8, hidden_size: 8, dtype: bf16", "residual: {scheme: block_attnres}\n"),
         "it.yaml:1:1: error: missing key 'residual.block_size' (AttnRes needs it, or num_blocks)"},
        {"NoBlocksForAComparison",
         model("num_layers: 8, hidden_size: 8, dtype: bf16",
               "residual: {scheme: standard, compare: full_attnres}\n"),
         "it.yaml:1:1: error: missing key 'residual.block_size' (AttnRes needs it, or num_blocks)"},
        {"Empty", model(""), "it.yaml:2:8: error: missing key 'hidden_size' (model needs it)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Hardware, BadInput,
    testing::ValuesIn(std::vector<Case>{
        {"NoKind", kimi("hardware: {memory_bandwidth: 1 TB/s}\n"),
         "it.yaml:3:11: error: missing key 'kind' (hardware needs it)"},
        {"NoBandwidth", kimi("hardware: {kind: gpu}\n"),
         "it.yaml:3:11: error: missing key 'memory_bandwidth' (hardware needs it)"},
        {"UnknownKey", hardware("memory_capasity: 1 GB"),
         "it.yaml:3:51: error: unknown key 'memory_capasity'; did you mean 'memory_capacity'?"},
        {"RecordsAreAMap", hardware("sustained_bandwidth: {reads: 1}"),
         "it.yaml:3:72: error: invalid sustained_bandwidth (must be a list, not a map)"},
        {"SameMixTwice",
         hardware(
             "sustained_bandwidth: [{reads: 1, writes: 1, value: 4 TB/s}, {reads: 2, writes: 2, value: 3 TB/s}]"),
         "it.yaml:3:140: error: conflicting sustained_bandwidth[1] (says something else of the same as sustained_bandwidth[0])"},
        {"SameFloorTwice",
         hardware(
             "launch_floor: [{launch: graph, level: cache, skeleton: elementwise, value: 1 us}, {launch: graph, level: cache, skeleton: elementwise, value: 9 us}]"),
         "it.yaml:3:193: error: conflicting launch_floor[1] (says something else of the same as launch_floor[0])"},
        {"FasterThanTheDatasheet",
         hardware("sustained_bandwidth: [{reads: 1, writes: 1, value: 9 TB/s}]"),
         "it.yaml:3:102: error: invalid sustained_bandwidth[0].value '9 TB/s' (more than memory_bandwidth '4.8 TB/s')"},
        {"CacheSlowerThanMemory",
         hardware(
             "sustained_bandwidth: [{reads: 1, writes: 1, value: 4 TB/s}], cache_bandwidth: [{reads: 1, writes: 1, value: 3 TB/s}]"),
         "it.yaml:3:159: error: invalid cache_bandwidth (slower than sustained_bandwidth)"},
        {"FallingTransition",
         hardware(
             "cache_transition: [{footprint: 1 MB, memory_weight: 50 %}, {footprint: 2 MB, memory_weight: 40 %}]"),
         "it.yaml:3:143: error: invalid cache_transition[1].memory_weight '40 %' (falls while the footprint grows)"},
        {"MoreVisibleThanSold", hardware("memory_capacity: 80 GB, visible_memory: 800 GB"),
         "it.yaml:3:91: error: invalid visible_memory '800 GB' (more than memory_capacity '80 GB')"},
        {"NoRecords", hardware("sustained_bandwidth: []"),
         "it.yaml:3:72: error: invalid sustained_bandwidth (an empty list)"},
        {"RecordIsAText", hardware("sustained_bandwidth: [4 TB/s]"),
         "it.yaml:3:73: error: invalid sustained_bandwidth[] '4 TB/s' (must be a map)"},
        {"RecordWithoutAValue", hardware("sustained_bandwidth: [{reads: 1, writes: 1}]"),
         "it.yaml:3:73: error: missing key 'value' (sustained_bandwidth needs it)"},
        {"RecordWithAnUnknownKey",
         hardware("sustained_bandwidth: [{reads: 1, write: 1, value: 1 TB/s}]"),
         "it.yaml:3:84: error: unknown key 'write'; did you mean 'writes'?"},
        {"RecordWithAForeignKey",
         hardware("sustained_bandwidth: [{reads: 1, writes: 1, value: 1 TB/s, colour: red}]"),
         "it.yaml:3:110: error: unknown key 'colour' (known here: reads, writes, value, source, date)"},
        {"RecordWithoutTraffic",
         hardware("sustained_bandwidth: [{reads: 0, writes: 0, value: 1 TB/s}]"),
         "it.yaml:3:81: error: invalid sustained_bandwidth (reads and writes are both 0)"},
        {"CacheRecordWithoutTraffic",
         hardware("cache_capacity: 1 MB, cache_bandwidth: [{reads: 0, writes: 0, value: 1 TB/s}]"),
         "it.yaml:3:99: error: invalid cache_bandwidth (reads and writes are both 0)"},
        {"RecordInTheWrongUnit",
         hardware(
             "launch_floor: [{launch: graph, level: memory, skeleton: elementwise, value: 1 GB}]"),
         "it.yaml:3:127: error: invalid launch_floor[].value '1 GB' (a size in bytes; need a time, such as '12 ms')"},
        {"RecordWithAWrongChoice",
         hardware("launch_floor: [{launch: graph, level: l2, skeleton: elementwise, value: 1 us}]"),
         "it.yaml:3:89: error: invalid launch_floor[].level 'l2' (must be cache | memory)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Agreement, BadInput,
    testing::ValuesIn(std::vector<Case>{
        {"BothBlockKeys", kimi("residual: {block_size: 24, num_blocks: 8}\n"),
         "it.yaml:3:40: error: conflicting key 'residual.num_blocks' ('residual.block_size' says the same; write one of them)"},
        {"BlockLargerThanTheModel", kimi("residual: {block_size: 187}\n"),
         "it.yaml:3:24: error: invalid block_size '187' (the model has only 186 layers)"},
        {"MoreBlocksThanLayers", kimi("residual: {num_blocks: 187}\n"),
         "it.yaml:3:24: error: invalid num_blocks '187' (the model has only 186 layers)"},
        {"StrictRemainder", kimi("residual: {num_blocks: 8, remainder: strict}\n"),
         "it.yaml:3:24: error: invalid num_blocks '8' (remainder 'strict' needs a divisor of 186)"},
        {"LiteralRemainder", kimi("residual: {num_blocks: 8, remainder: literal}\n"),
         "it.yaml:3:24: error: invalid num_blocks '8' (remainder 'literal' leaves 184 layers for 7 equal blocks)"},
        {"RemainderWithoutNumBlocks", kimi("residual: {remainder: ceil}\n"),
         "it.yaml:3:23: error: conflicting key 'residual.remainder' (needs residual.num_blocks)"},
        {"ScheduleOfAnotherScheme", kimi("residual: {schedule: fused}\n"),
         "it.yaml:3:22: error: invalid residual.schedule 'fused' (block_attnres runs as unfused | single_pass | two_phase)"},
        {"ScheduleOfAttnResForMhc", kimi("residual: {scheme: mhc, schedule: two_phase}\n"),
         "it.yaml:3:35: error: invalid residual.schedule 'two_phase' (mhc runs as unfused | fused | two_pass | one_pass)"},
        {"ScheduleOfMhcForStandard", kimi("residual: {scheme: standard, schedule: one_pass}\n"),
         "it.yaml:3:40: error: invalid residual.schedule 'one_pass' (standard runs as unfused | fused)"},
        {"SequencesTwice", kimi("workload: {decode: {sequences: [1, 64, 1]}}\n"),
         "it.yaml:3:32: error: invalid workload.decode.sequences '1' (already there)"},
        {"ComparedTwice", kimi("residual: {compare: [mhc, standard, mhc]}\n"),
         "it.yaml:3:21: error: invalid residual.compare 'mhc' (already there)"},
        {"ComparedWithItself", kimi("residual: {compare: [standard, block_attnres]}\n"),
         "it.yaml:3:21: error: invalid residual.compare 'block_attnres' (already there)"},
        {"TooManyStages", kimi("parallelism: {pipeline: 94}\n"),
         "it.yaml:3:25: error: invalid number of pipeline chunks '94 x 1' (must be 1 to 93, the number of decoder layers; write chunk_layers to leave chunks empty)"},
        {"TooManyChunks", kimi("parallelism: {pipeline: 10, virtual_stages: 10}\n"),
         "it.yaml:3:25: error: invalid number of pipeline chunks '10 x 10' (must be 1 to 93, the number of decoder layers; write chunk_layers to leave chunks empty)"},
        {"ChunksBeyondIntegers",
         kimi("parallelism: {pipeline: 1099511627776, virtual_stages: 1099511627776}\n"),
         "it.yaml:3:25: error: invalid number of pipeline chunks '1099511627776 x 1099511627776' (must be 1 to 93, the number of decoder layers; write chunk_layers to leave chunks empty)"},
        {"VirtualStagesWithoutAPipeline", kimi("parallelism: {virtual_stages: 2}\n"),
         "it.yaml:3:31: error: conflicting key 'parallelism.virtual_stages' (needs parallelism.pipeline)"},
        {"ChunksWithoutAPipeline", kimi("parallelism: {chunk_layers: 186}\n"),
         "it.yaml:3:29: error: conflicting key 'parallelism.chunk_layers' (needs parallelism.pipeline)"},
        {"TooFewChunks", kimi("parallelism: {pipeline: 4, chunk_layers: [100, 86]}\n"),
         "it.yaml:3:42: error: invalid chunk_layers of length '2' (must have one entry for each of the 4 x 1 chunks)"},
        {"ChunksOfManyStages",
         kimi(
             "parallelism: {pipeline: 1099511627776, virtual_stages: 1099511627776, chunk_layers: [186]}\n"),
         "it.yaml:3:85: error: invalid chunk_layers of length '1' (must have one entry for each of the 1099511627776 x 1099511627776 chunks)"},
        {"ChunksThatDoNotAddUp", kimi("parallelism: {pipeline: 2, chunk_layers: [100, 85]}\n"),
         "it.yaml:3:42: error: invalid chunk_layers (must add up to the model's 186 layers, but add up to 185)"},
        {"ContextWithoutSequences", kimi("workload: {decode: {context: 4096}}\n"),
         "it.yaml:3:30: error: conflicting key 'workload.decode.context' (needs workload.decode.sequences)"},
        {"LaunchWithoutSequences", kimi("workload: {decode: {launch: graph}}\n"),
         "it.yaml:3:29: error: conflicting key 'workload.decode.launch' (needs workload.decode.sequences)"},
        {"StepShorterThanItsResidual",
         kimi(
             "hardware: h200_sxm\nworkload: {decode: {sequences: [1, 64]}}\nbaseline_step: {decode: [12 ms, 1 us]}\n"),
         "it.yaml:5:25: error: invalid baseline_step.decode '12 ms, 1 us' (the standard residual alone takes at least 320 us of decode/64)"},
        {"OffloadWithoutAHostLink",
         kimi(
             "hardware: mi300x\nworkload: {training: {sequence_length: 4096, activations: offload}}\n"),
         "it.yaml:4:59: error: conflicting workload.training.activations 'offload' (needs hardware.host_bandwidth)"},
        {"PipelineWithoutLinks",
         kimi(
             "hardware: mi300x\nparallelism: {pipeline: 2}\nworkload: {training: {sequence_length: 4096, micro_batches: 2}}\n"),
         "it.yaml:4:25: error: conflicting parallelism.pipeline (a training step needs hardware.transfers of kind send, within a node and over the network as its stages lie)"},
        {"ClaimWithoutALimit", kimi("claim: it is cheap\nbudgets: {prefill_bank: 1 GB}\n"),
         "it.yaml:3:8: error: missing key 'budgets' (a claim needs decode_overhead, prefill_overhead or training_overhead as its limit)"},
        {"TrainingStepShorterThanItsResidual",
         kimi(
             "hardware: h200_sxm\nworkload: {training: {sequence_length: 4096}}\nbaseline_step: {training: 1 us}\n"),
         "it.yaml:5:27: error: invalid baseline_step.training '1 us' (the standard residual and its messages alone take at least 2.09e+04 us of training)"},
        {"AllReduceOfOneRank", kimi("residual: {scheme: standard, attach: all_reduce}\n"),
         "it.yaml:3:38: error: conflicting residual.attach 'all_reduce' (needs parallelism.tensor of at least 2)"},
        {"TooManyStreams", kimi("residual: {scheme: mhc, num_streams: 1099511627776}\n"),
         "it.yaml:3:38: error: invalid num_streams '1099511627776' (more than 1024 streams)"},
        {"DecodeStepWithoutADecode", kimi("baseline_step: {decode: 12 ms}\n"),
         "it.yaml:3:25: error: conflicting key 'baseline_step.decode' (needs workload.decode.sequences)"},
        {"ChunkWithoutTokens", kimi("workload: {prefill: {chunk: 4096}}\n"),
         "it.yaml:3:29: error: conflicting key 'workload.prefill.chunk' (needs workload.prefill.tokens)"},
        {"PrefillStepWithoutAPrefill", kimi("baseline_step: {prefill: 1 s}\n"),
         "it.yaml:3:26: error: conflicting key 'baseline_step.prefill' (needs workload.prefill.tokens)"},
        {"StepsForOtherBatches",
         kimi(
             "workload: {decode: {sequences: [1, 64, 512]}}\nbaseline_step: {decode: [1 ms, 2 ms]}\n"),
         "it.yaml:4:25: error: invalid baseline_step.decode (2 times for 3 batches)"},
        {"TooManyBatches",
         kimi("workload: {decode: {sequences: [" + repeated("1, ", 256) + "1]}}\n"),
         "it.yaml:3:32: error: invalid workload.decode.sequences (257 batches; at most 256)"}}),
    [](const auto& row) { return row.param.name; });
// --- mistakes in files that a scenario refers to ---

class BadReferences : public testing::Test {
 protected:
  /// The message about a scenario "it.yaml" beside the files, with "IN" for their folder.
  std::string error_about(const std::string& body) const {
    const std::string file = folder_.written("it.yaml", kStart + body);
    std::string error = error_of([&] { read_scenario(file); });
    const std::string prefix = folder_.path() + "/";
    for (auto at = error.find(prefix); at != std::string::npos; at = error.find(prefix))
      error.replace(at, prefix.size(), "IN/");
    return error;
  }

  void write_model(const std::string& name, const std::string& body) const {
    folder_.written(name, "schema: depthcost-model/1\n" + body);
  }

  const test::TemporaryFolder folder_;
};

TEST_F(BadReferences, AreReportedInTheFileThatIsWrong) {
  write_model("m.yaml", "num_layers: 8\nhidden_size: 8 kB\ndtype: bf16\n");
  EXPECT_EQ(error_about("model: m.yaml\n"),
            "IN/m.yaml:3:14: error: invalid hidden_size '8 kB' (must be a positive integer in "
            "plain digits)");
}

TEST_F(BadReferences, NeedTheirSchemaLine) {
  folder_.written("none.yaml", "num_layers: 8\nhidden_size: 8\ndtype: bf16\n");
  EXPECT_EQ(error_about("model: none.yaml\n"),
            "IN/none.yaml:1:1: error: missing key 'schema' (the first line of a model is 'schema: "
            "depthcost-model/1')");
  folder_.written("hardware.yaml",
                  "schema: depthcost-hardware/1\nkind: gpu\nmemory_bandwidth: 1 TB/s\n");
  EXPECT_EQ(error_about("model: hardware.yaml\n"),
            "IN/hardware.yaml:1:9: error: invalid schema 'depthcost-hardware/1' (a model is "
            "'depthcost-model/1')");
  EXPECT_EQ(error_about("model: it.yaml\n"),
            "IN/it.yaml:1:9: error: invalid schema 'depthcost/1' (a model is "
            "'depthcost-model/1')");
  write_model("model.yaml", "num_layers: 8\nhidden_size: 8\ndtype: bf16\n");
  EXPECT_EQ(error_about("model: kimi_k3\nhardware: model.yaml\n"),
            "IN/model.yaml:1:9: error: invalid schema 'depthcost-model/1' (a hardware is "
            "'depthcost-hardware/1')");
}

TEST_F(BadReferences, MayNotStandOnThemselves) {
  write_model("a.yaml", "base: ./a.yaml\n");
  EXPECT_EQ(error_about("model: a.yaml\n"),
            "IN/a.yaml:2:7: error: cyclic base 'a.yaml' (a.yaml -> a.yaml)");
}

TEST_F(BadReferences, MayNotStandOnOneAnother) {
  write_model("a.yaml", "hidden_size: 8\nbase: sub/b.yaml\n");
  write_model("sub/b.yaml", "base: ../sub/../a.yaml\n");
  EXPECT_EQ(error_about("model: a.yaml\n"),
            "IN/sub/b.yaml:2:7: error: cyclic base 'a.yaml' (a.yaml -> b.yaml -> a.yaml)");
  EXPECT_EQ(error_about("model: {base: a.yaml}\n"),
            "IN/sub/b.yaml:2:7: error: cyclic base 'a.yaml' (a.yaml -> b.yaml -> a.yaml)");
  EXPECT_EQ(error_about("model: kimi_k3\nhardware: {base: it.yaml}\n"),
            "IN/it.yaml:1:9: error: invalid schema 'depthcost/1' (a hardware is "
            "'depthcost-hardware/1')");
}

TEST_F(BadReferences, MayNotBeAChainWithoutEnd) {
  for (int i = 0; i < 12; ++i)
    write_model(fmt::format("{}.yaml", i), fmt::format("base: {}.yaml\n", i + 1));
  EXPECT_EQ(error_about("model: 0.yaml\n"),
            "IN/8.yaml:2:7: error: invalid base '9.yaml' (more than 9 files on one another)");
}

TEST_F(BadReferences, NameTheLineOfAMissingBase) {
  write_model("a.yaml", "hidden_size: 8\nbase: b.yaml\n");
  EXPECT_EQ(error_about("model: a.yaml\n"),
            "IN/a.yaml:3:7: error: invalid model 'b.yaml': cannot read the file (no such file or "
            "directory)");
  write_model("c.yaml", "base: kimi_k9\n");
  EXPECT_EQ(error_about("model: c.yaml\n"),
            "IN/c.yaml:2:7: error: unknown model 'kimi_k9'; did you mean 'kimi_k2'?");
}

TEST_F(BadReferences, NameTheLineInAPreset) {
  EXPECT_EQ(error_about("model: {base: kimi_k3, num_layers: 5}\n"),
            "models/kimi_k3.yaml:21:23: error: invalid block_size '24' (the model has only 5 "
            "layers)");
}

TEST_F(BadReferences, AreMissingKeysAfterTheirBase) {
  write_model("part.yaml", "hidden_size: 8\n");
  EXPECT_EQ(error_about("model: part.yaml\n"),
            "IN/part.yaml:1:1: error: missing key 'dtype' (model needs it)");
}

TEST_F(BadReferences, OfAnyKindThatCannotBeReadAreRefusedWhereTheyAreAskedFor) {
  std::filesystem::create_directories(folder_.path("folder.yaml"));
  EXPECT_EQ(error_about("model: folder.yaml\n"),
            "IN/it.yaml:2:8: error: invalid model 'folder.yaml': cannot read the file (a "
            "directory)");
  EXPECT_EQ(error_about("model: it.yaml/m.yaml\n"),
            "IN/it.yaml:2:8: error: invalid model 'it.yaml/m.yaml': cannot read the file (not a "
            "directory)");
  std::filesystem::create_symlink("loop.yaml", folder_.path("loop.yaml"));
  EXPECT_EQ(error_about("model: loop.yaml\n"),
            "IN/it.yaml:2:8: error: invalid model 'loop.yaml': cannot read the file (too many "
            "levels of symbolic links)");
}

TEST_F(BadReferences, MayBeHostileThemselves) {
  folder_.written("empty.yaml", "");
  EXPECT_EQ(error_about("model: empty.yaml\n"),
            "IN/empty.yaml:1:1: error: empty document (holds no value)");
  folder_.written("open.yaml", repeated("[", 200'000));
  EXPECT_EQ(error_about("model: open.yaml\n"),
            "IN/open.yaml:1:65: error: nested deeper than 64 levels");
  folder_.written("large.yaml", "");
  std::filesystem::resize_file(folder_.path("large.yaml"), 100'000'000);
  EXPECT_EQ(error_about("model: large.yaml\n"),
            "IN/large.yaml:1:1: error: file too large (at most 1 MB)");
}

// --- brackets, before the parser sees them ---

TEST(Brackets, AmidTextsAreNotCounted) {
  const std::string many = repeated("[ ", 100);
  for (const std::string& text :
       {"name: a " + many + "\n", "name: \"" + many + "\"\n", "name: 'it''s " + many + "'\n",
        "name: x # " + many + "\n", "# " + many + "\nname: x\n",
        "name: {value: \"\\\" " + many + "\", source: '" + many + "', date: x} # " + many + "\n",
        "name: \"a" + many + "\n  b" + many + "\"\n"})
    EXPECT_EQ(error_of([&] { parse_scenario(kimi(text), "it.yaml"); }), "") << text;
}

TEST(Brackets, AreCountedWhereAValueMayStart) {
  const std::string many = repeated("[", 65);
  const std::string deep = ": error: nested deeper than 64 levels";
  const auto error = [](const std::string& text) {
    return error_of([&] { parse_scenario(kimi(text), "it.yaml"); });
  };
  EXPECT_EQ(error("a: " + many), "it.yaml:3:68" + deep);
  EXPECT_EQ(error("a:\n  " + many), "it.yaml:4:67" + deep);
  EXPECT_EQ(error("- " + many), "it.yaml:3:67" + deep);
  EXPECT_EQ(error("\"a\": " + many), "it.yaml:3:70" + deep);
  EXPECT_EQ(error("a: [b" + many), "it.yaml:3:69" + deep);
  EXPECT_EQ(error("\"a\" " + many), "it.yaml:3:69" + deep);
  EXPECT_EQ(error("a: 'b'" + many), "it.yaml:3:71" + deep);
  EXPECT_EQ(error("a: &b " + many), "it.yaml:3:71" + deep);
  EXPECT_EQ(error("a: *b " + many), "it.yaml:3:71" + deep);
  EXPECT_EQ(error("a: !b " + many), "it.yaml:3:71" + deep);
}

TEST(Brackets, HoldAsMuchAsALargeLayoutNeeds) {
  const std::string layers = fmt::format("num_layers: 65536, hidden_size: 8, dtype: bf16");
  const auto chunks = [&](int num_chunks) {
    return model(layers,
                 fmt::format("residual: {{scheme: standard}}\nparallelism: {{pipeline: 65536, "
                             "chunk_layers: [{}1]}}\n",
                             repeated("1, ", num_chunks - 1)));
  };
  EXPECT_EQ(error_of([&] { parse_scenario(chunks(65536), "it.yaml"); }), "");
  EXPECT_EQ(error_of([&] { parse_scenario(chunks(140'000), "it.yaml"); }),
            "it.yaml:4:393249: error: too many values in one pair of brackets (more than 131072 "
            "marks)");
}

}  // namespace
}  // namespace depthcost::bad_input_test
