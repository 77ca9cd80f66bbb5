// Every mistake that a scenario can hold in itself, with the whole message. Errors of the parser
// are in document_test.cpp, wrong numbers and units in quantity_test.cpp.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenarios/read/scenario.hpp"
#include "tests/scenarios/keys/scheme_choices.hpp"
#include "tests/scenarios/read/bad_input.hpp"
#include "tests/scenarios/read/parsed.hpp"

namespace depthcost::bad_input_test {
namespace {

using namespace std::string_literals;
using namespace test;

TEST_P(BadInput, NamesTheLineAndTheCause) {
  EXPECT_EQ(error_of([] { parse_scenario(GetParam().text, "it.yaml"); }), GetParam().expected);
}

/// The helpers make what they promise: without the mistake there is no error.
TEST(GoodInput, IsWhatTheCasesStartFrom) {
  EXPECT_EQ(error_of([] { parse_scenario(kimi(""), "it.yaml"); }), "");
  EXPECT_EQ(error_of([] { parse_scenario(hardware("memory_capacity: 1 GB"), "it.yaml"); }), "");
  EXPECT_EQ(error_of([] {
              parse_scenario(model("num_layers: 16384, hidden_size: 8, dtype: bf16"), "it.yaml");
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
    testing::ValuesIn(std::vector<BadInputCase>{
        {"NoSchema", "model: kimi_k3\n",
         "it.yaml:1:1: error: missing key 'schema' (the first line is 'schema: depthcost/1')"},
        {"ConfigOfAModel", "{\"model_type\": \"llama\", \"hidden_size\": 8192}\n",
         "it.yaml:1:1: error: missing key 'schema' (this is a config.json of a model: --model reads "
         "it)"},
        {"WrongSchema", "schema: depthcost/2\nmodel: kimi_k3\n",
         "it.yaml:1:9: error: invalid schema 'depthcost/2' (must be 'depthcost/1')"},
        {"SchemaOfAModel", "schema: depthcost-model/1\nmodel: kimi_k3\n",
         "it.yaml:1:9: error: invalid schema 'depthcost-model/1' (must be 'depthcost/1'; did "
         "you mean --model?)"},
        {"SchemaIsAList", "schema: [depthcost/1]\nmodel: kimi_k3\n",
         "it.yaml:1:9: error: invalid schema (must be a single value, not a list)"},
        {"List", "- schema: depthcost/1\n",
         "it.yaml:1:1: error: invalid scenario (must be a map, not a list)"},
        {"Text", "depthcost/1\n",
         "it.yaml:1:1: error: invalid scenario (must be a map, not a single value)"},
        {"NoModel", kStart + "hardware: h200_sxm\n",
         "it.yaml:1:1: error: missing key 'model' (scenario needs it)"},
        {"UnknownKey", kimi("budget: {device_memory: fits}\n"),
         "it.yaml:3:1: error: unknown key 'budget'; did you mean 'budgets'?"},
        {"UnknownKeyFarFromAny", kimi("colour: blue\n"),
         "it.yaml:3:1: error: unknown key 'colour' (known here: schema, name, model, hardware, residual, parallelism, workload, baseline_step, step_terms, claim, budgets)"},
        {"UnknownKeyInASection", kimi("residual:\n  block_sise: 24\n"),
         "it.yaml:4:3: error: unknown key 'block_sise'; did you mean 'block_size'?"},
        {"UnknownKeyFarFromAnyInASection", kimi("workload: {tuning: {tokens: 1}}\n"),
         "it.yaml:3:12: error: unknown key 'tuning' (known here: routing, decode, prefill, training)"},
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
         "it.yaml:3:12: error: unknown key 'decode.sequences' (known here: routing, decode, prefill, training)"},
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
    testing::ValuesIn(std::vector<BadInputCase>{
        {"Empty", "", "it.yaml:1:1: error: empty document (holds no value)"},
        {"Malformed", kimi("residual: {block_size: 24\n"),
         "it.yaml:4:1: error: malformed YAML (the file ends inside the map that starts at line 3)"},
        {"SecondDocument", kimi("---\nschema: depthcost/1\nmodel: kimi_k3\n"),
         "it.yaml:3:1: error: second document, or text after the first (a file holds one document)"},
        {"SelfReference", kimi("residual: &x [*x]\n"),
         "it.yaml:3:11: error: anchors are not allowed (write the value where it is used)"},
        {"ExpandingAnchors", kimi("a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
         "it.yaml:3:4: error: anchors are not allowed (write the value where it is used)"},
        {"AliasWithoutAnAnchor", kimi("residual: *x\n"),
         "it.yaml:3:11: error: aliases are not allowed (write the value where it is used)"},
        {"Tag", kimi("name: !!binary aGk=\n"),
         "it.yaml:3:7: error: tags are not allowed (each key has its type)"},
        {"InvalidUtf8", kimi("name: \xFF\n"),
         "it.yaml:3:7: error: invalid byte '\\xFF' (not UTF-8)"},
        {"Nul", kimi("name: \0\n"s),
         "it.yaml:3:7: error: invalid byte '\\x00' (a control character)"},
        {"Directive", "%YAML 1.2\n---\nschema: depthcost/1\nmodel: kimi_k3\n",
         "it.yaml:1:1: error: directives are not allowed"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Counts, BadInput,
    testing::ValuesIn(std::vector<BadInputCase>{
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
    testing::ValuesIn(std::vector<BadInputCase>{
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
    testing::ValuesIn(std::vector<BadInputCase>{
        {"Scheme", kimi("residual: {scheme: block_attres}\n"),
         "it.yaml:3:20: error: invalid residual.scheme 'block_attres'; did you mean 'block_attnres'?"},
        {"SchemeFarFromAny", kimi("residual: {scheme: x}\n"),
         "it.yaml:3:20: error: invalid residual.scheme 'x' " + test::scheme_choices()},
        {"Schedule", kimi("residual: {schedule: twophase}\n"),
         "it.yaml:3:22: error: invalid residual.schedule 'twophase' (must be unfused | fused | two_pass | one_pass | single_pass | two_phase | fused_gate | folded_norm); did you mean 'two_phase'?"},
        {"Remainder", kimi("residual: {num_blocks: 8, remainder: floor}\n"),
         "it.yaml:3:38: error: invalid residual.remainder 'floor' (must be paper | ceil | strict | literal)"},
        {"Dtype", model("num_layers: 8, hidden_size: 8, dtype: bfloat16"),
         "it.yaml:2:47: error: invalid dtype 'bfloat16' (must be bf16 | f16 | f32 | fp8)"},
        {"Phase1", kimi("workload: {decode: {sequences: 1, phase1: early}}\n"),
         "it.yaml:3:43: error: invalid workload.decode.phase1 'early' (must be in_order | hoisted)"},
        {"BareShareOfAStep", kimi("budgets: {exposed_communication: 0.01}\n"),
         "it.yaml:3:34: error: invalid budgets.exposed_communication '0.01' (missing unit; need a percentage, such as '2 %')"},
        {"BytesForAShareOfMemory", kimi("budgets: {added_activations: 1 GB}\n"),
         "it.yaml:3:30: error: invalid budgets.added_activations '1 GB' (a size in bytes; need a percentage, such as '2 %')"},
        {"SecondsForAShareOfMemory", kimi("budgets: {pipeline_cache: 1 ms}\n"),
         "it.yaml:3:27: error: invalid budgets.pipeline_cache '1 ms' (a time; need a percentage, such as '2 %')"},
        {"Launch", kimi("workload: {decode: {sequences: 1, launch: graphs}}\n"),
         "it.yaml:3:43: error: invalid workload.decode.launch 'graphs' (must be stream | graph | graph_pdl); did you mean 'graph'?"},
        {"ListForAChoice", kimi("residual: {scheme: [mhc]}\n"),
         "it.yaml:3:20: error: invalid residual.scheme (must be a single value, not a list)"},
        {"InAList", kimi("residual: {compare: [standard, mch]}\n"),
         "it.yaml:3:32: error: invalid residual.compare 'mch'; did you mean 'mhc'?"},
        {"Memory",
         kimi("hardware: {kind: gpu, memory_technology: hbm3x, memory_bandwidth: 1 TB/s}\n"),
         "it.yaml:3:42: error: invalid memory_technology 'hbm3x'; did you mean 'hbm3'?"},
        {"CaseMatters", kimi("residual: {scheme: Standard}\n"),
         "it.yaml:3:20: error: invalid residual.scheme 'Standard'; did you mean 'standard'?"}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::bad_input_test
