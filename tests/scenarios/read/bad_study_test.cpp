// Every mistake in what a scenario refers to, and between values that must agree, with the whole
// message.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "scenarios/read/scenario.hpp"
#include "tests/long_text.hpp"
#include "tests/scenarios/read/bad_input.hpp"

namespace depthcost::bad_study_test {
namespace {

using namespace std::string_literals;
using namespace test;

INSTANTIATE_TEST_SUITE_P(
    References, BadInput,
    testing::ValuesIn(std::vector<BadInputCase>{
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
        {"MissingFileWithAShortEnding", kStart + "model: missing.yml\n",
         "it.yaml:2:8: error: invalid model 'missing.yml': cannot read the file (no such file or directory)"},
        {"MissingHardwareFile", kimi("hardware: ./missing.yaml\n"),
         "it.yaml:3:11: error: invalid hardware './missing.yaml': cannot read the file (no such file or directory)"},
        {"MissingBaseFile", model("base: missing.yaml"),
         "it.yaml:2:15: error: invalid model 'missing.yaml': cannot read the file (no such file or directory)"},
        {"Directory", kStart + "model: ./\n",
         "it.yaml:2:8: error: invalid model './': cannot read the file (a directory)"},
        {"Device", kStart + "model: /dev/null\n",
         "it.yaml:2:8: error: invalid model '/dev/null': cannot read the file (not a regular file)"},
        {"SchemaOfAnInlineMap", model("schema: depthcost/1, base: kimi_k3"),
         "it.yaml:2:17: error: invalid schema 'depthcost/1' (must be 'depthcost-model/1')"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Models, BadInput,
    testing::ValuesIn(std::vector<BadInputCase>{
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
         "it.yaml:2:64: error: unknown key 'compare' (known here: scheme, block_size, num_blocks, remainder, num_streams, gate_rank, rank)"},
        {"TooManyLayers", model("num_layers: 16385, hidden_size: 8, dtype: bf16"),
         "it.yaml:2:21: error: invalid num_layers '16385' (more than 16384 layers)"},
        {"TooManyDecoderLayers", model("decoder_layers: 8193, hidden_size: 8, dtype: bf16"),
         "it.yaml:2:25: error: invalid decoder_layers '8193' (more than 16384 layers)"},
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
         "it.yaml:1:1: error: missing key 'residual.block_size' (full_attnres needs it, or num_blocks: groups of queries of its schedule two_phase, which is counted beside the one that runs)"},
        {"NoGroupsOfFull",
         model("num_layers: 8, hidden_size: 8, dtype: bf16",
               "residual: {scheme: full_attnres, schedule: single_pass}\n"),
         "it.yaml:1:1: error: missing key 'residual.block_size' (full_attnres needs it, or num_blocks: groups of queries of its schedule two_phase, which is counted beside the one that runs)"},
        {"Empty", model(""), "it.yaml:2:8: error: missing key 'hidden_size' (model needs it)"}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Hardware, BadInput,
    testing::ValuesIn(std::vector<BadInputCase>{
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

INSTANTIATE_TEST_SUITE_P(Agreement, BadInput,
                         testing::ValuesIn(
                             std::vector<
                                 BadInputCase>{{"BothBlockKeys",
                                                kimi("residual: {block_size: 24, num_blocks: 8}\n"),
                                                "it.yaml:3:40: error: conflicting key 'residual.num_blocks' ('residual.block_size' says the same; write one of them)"},
                                               {"BlockLargerThanTheModel",
                                                kimi("residual: {block_size: 187}\n"),
                                                "it.yaml:3:24: error: invalid block_size '187' (the model has only 186 layers)"},
                                               {"MoreBlocksThanLayers",
                                                kimi("residual: {num_blocks: 187}\n"),
                                                "it.yaml:3:24: error: invalid num_blocks '187' (the model has only 186 layers)"},
                                               {"StrictRemainder",
                                                kimi(
                                                    "residual: {num_blocks: 8, remainder: strict}\n"),
                                                "it.yaml:3:24: error: invalid num_blocks '8' (remainder 'strict' needs a divisor of 186)"},
                                               {"LiteralRemainder",
                                                kimi(
                                                    "residual: {num_blocks: 8, remainder: literal}\n"),
                                                "it.yaml:3:24: error: invalid num_blocks '8' (remainder 'literal' leaves 184 layers for 7 equal blocks)"},
                                               {"RemainderWithoutNumBlocks",
                                                kimi("residual: {remainder: ceil}\n"),
                                                "it.yaml:3:23: error: missing key 'residual.num_blocks' (without it 'residual.remainder' means nothing)"},
                                               {"ScheduleOfAnotherScheme",
                                                kimi("residual: {schedule: fused}\n"),
                                                "it.yaml:3:22: error: invalid residual.schedule 'fused' (block_attnres runs as unfused | single_pass | two_phase)"},
                                               {"ScheduleOfAttnResForMhc",
                                                kimi(
                                                    "residual: {scheme: mhc, schedule: two_phase}\n"),
                                                "it.yaml:3:35: error: invalid residual.schedule 'two_phase' (mhc runs as unfused | fused | two_pass | one_pass)"},
                                               {"ScheduleOfMhcForStandard",
                                                kimi(
                                                    "residual: {scheme: standard, schedule: one_pass}\n"),
                                                "it.yaml:3:40: error: invalid residual.schedule 'one_pass' (standard runs as unfused | fused)"},
                                               {"FusedKernelsOfAFramework",
                                                kimi(
                                                    "residual: {implementation: eager, schedule: two_phase}\n"),
                                                "it.yaml:3:45: error: conflicting residual.schedule 'two_phase' (residual.implementation is eager, which runs unfused)"},
                                               {"SchemeWithoutKernelsOfAFramework",
                                                kimi(
                                                    "residual: {scheme: altup, implementation: eager}\n"),
                                                "it.yaml:3:43: error: invalid residual.implementation 'eager' (scheme altup has no schedule unfused)"},
                                               {"StackOfACpu",
                                                kimi(
                                                    "residual: {implementation: vllm}\nhardware: epyc_9654\n"),
                                                "it.yaml:3:28: error: conflicting residual.implementation 'vllm' (the hardware is no GPU)"},
                                               {"SequencesTwice",
                                                kimi(
                                                    "workload: {decode: {sequences: [1, 64, 1]}}\n"),
                                                "it.yaml:3:40: error: invalid workload.decode.sequences '1' (already there)"},
                                               {"ComparedTwice",
                                                kimi("residual: {compare: [mhc, standard, mhc]}\n"),
                                                "it.yaml:3:37: error: invalid residual.compare 'mhc' (already there)"},
                                               {"ComparedWithItself",
                                                kimi(
                                                    "residual: {compare: [standard, block_attnres]}\n"),
                                                "it.yaml:3:32: error: invalid residual.compare 'block_attnres' (the scenario's own scheme; residual.scheme says which that is)"},
                                               {"TooManyStages",
                                                kimi("parallelism: {pipeline: 94}\n"),
                                                "it.yaml:3:25: error: invalid number of pipeline chunks '94 x 1' (must be 1 to 93, the number of decoder layers; write chunk_layers to leave chunks empty)"},
                                               {"TooManyChunks",
                                                kimi(
                                                    "parallelism: {pipeline: 10, virtual_stages: 10}\n"),
                                                "it.yaml:3:25: error: invalid number of pipeline chunks '10 x 10' (must be 1 to 93, the number of decoder layers; write chunk_layers to leave chunks empty)"},
                                               {"ChunksBeyondIntegers",
                                                kimi(
                                                    "parallelism: {pipeline: 1099511627776, virtual_stages: 1099511627776}\n"),
                                                "it.yaml:3:25: error: invalid number of pipeline chunks '1099511627776 x 1099511627776' (must be 1 to 93, the number of decoder layers; write chunk_layers to leave chunks empty)"},
                                               {"VirtualStagesWithoutAPipeline",
                                                kimi("parallelism: {virtual_stages: 2}\n"),
                                                "it.yaml:3:31: error: missing key 'parallelism.pipeline' (without it 'parallelism.virtual_stages' means nothing)"},
                                               {"ChunksWithoutAPipeline",
                                                kimi("parallelism: {chunk_layers: 186}\n"),
                                                "it.yaml:3:29: error: missing key 'parallelism.pipeline' (without it 'parallelism.chunk_layers' means nothing)"},
                                               {"TooFewChunks",
                                                kimi(
                                                    "parallelism: {pipeline: 4, chunk_layers: [100, 86]}\n"),
                                                "it.yaml:3:42: error: invalid chunk_layers of length '2' (must have one entry for each of the 4 x 1 chunks)"},
                                               {"ChunksOfManyStages", kimi("parallelism: {pipeline: 1099511627776, virtual_stages: 1099511627776, chunk_layers: [186]}\n"), "it.yaml:3:85: error: invalid chunk_layers of length '1' (must have one entry for each of the 1099511627776 x 1099511627776 chunks)"},
                                               {"ChunksThatDoNotAddUp",
                                                kimi(
                                                    "parallelism: {pipeline: 2, chunk_layers: [100, 85]}\n"),
                                                "it.yaml:3:42: error: invalid chunk_layers (must add up to the model's 186 layers, but add up to 185)"},
                                               {"ContextWithoutSequences",
                                                kimi("workload: {decode: {context: 4096}}\n"),
                                                "it.yaml:3:30: error: missing key 'workload.decode.sequences' (without it 'workload.decode.context' means nothing)"},
                                               {"PrefillContextWithoutAChunk",
                                                kimi(
                                                    "workload: {decode: {sequences: 1, prefill_context: 4096}}\n"),
                                                "it.yaml:3:52: error: missing key 'workload.decode.prefill_tokens' (without it 'workload.decode.prefill_context' means nothing)"},
                                               {"NegativeChunk",
                                                kimi(
                                                    "workload: {decode: {sequences: 1, prefill_tokens: -1}}\n"),
                                                "it.yaml:3:51: error: invalid workload.decode.prefill_tokens '-1' (must be a non-negative integer)"},
                                               {"LaunchWithoutSequences",
                                                kimi("workload: {decode: {launch: graph}}\n"),
                                                "it.yaml:3:29: error: missing key 'workload.decode.sequences' (without it 'workload.decode.launch' means nothing)"},
                                               {"Phase1WithoutSequences",
                                                kimi("workload: {decode: {phase1: hoisted}}\n"),
                                                "it.yaml:3:29: error: missing key 'workload.decode.sequences' (without it 'workload.decode.phase1' means nothing)"},
                                               {"HoistedWithoutAGraph",
                                                kimi(
                                                    "workload: {decode: {sequences: 1, launch: stream, phase1: hoisted}}\n"),
                                                "it.yaml:3:59: error: conflicting workload.decode.phase1 'hoisted' (runs beside a layer on a second branch of a graph, but workload.decode.launch is stream)"},
                                               {"StepShorterThanItsResidual",
                                                kimi(
                                                    "hardware: h200_sxm\nworkload: {decode: {sequences: [1, 64]}}\nbaseline_step: {decode: [12 ms, 1 us]}\n"),
                                                "it.yaml:5:33: error: invalid baseline_step.decode '1 us' (the standard residual alone takes at least 360 us of decode/64)"},
                                               {"OneStepForAllThatOneBatchExceeds",
                                                kimi(
                                                    "hardware: h200_sxm\nworkload: {decode: {sequences: [1, 64]}, prefill: {tokens: 64}}\nbaseline_step: {prefill: 1 s, decode: 310 us}\n"),
                                                "it.yaml:5:39: error: invalid baseline_step.decode '310 us' (the standard residual alone takes at least 360 us of decode/64)"},
                                               {"OffloadWithoutAHostLink",
                                                kimi(
                                                    "hardware: mi300x\nworkload: {training: {sequence_length: 4096, activations: offload}}\n"),
                                                "it.yaml:4:59: error: conflicting workload.training.activations 'offload' (needs hardware.host_bandwidth)"},
                                               {"PipelineWithoutLinks",
                                                kimi(
                                                    "hardware: mi300x\nparallelism: {pipeline: 2}\nworkload: {training: {sequence_length: 4096, micro_batches: 2}}\n"),
                                                "it.yaml:4:25: error: conflicting parallelism.pipeline (a training step needs hardware.transfers of kind send, within a node and over the network as its stages lie)"},
                                               {"ClaimWithoutALimit",
                                                kimi("claim: it is cheap\nbudgets: {prefill_bank: 1 GB}\n"), "it.yaml:3:8: error: missing key 'budgets' (a claim needs a limit: decode_overhead | prefill_overhead | training_overhead | exposed_communication | added_activations | pipeline_cache)"},
                                               {"TrainingStepShorterThanItsResidual",
                                                kimi(
                                                    "hardware: h200_sxm\nworkload: {training: {sequence_length: 4096, micro_batches: 1}}\nbaseline_step: {training: 1 us}\n"),
                                                "it.yaml:5:27: error: invalid baseline_step.training '1 us' (the standard residual and its messages alone take at least 2.93e+04 us of training)"},
                                               {"Fp8WithoutItsRate",
                                                kimi(
                                                    "hardware: a100_sxm\nworkload: {training: {sequence_length: 4096, precision: fp8}}\n"),
                                                "it.yaml:4:57: error: conflicting workload.training.precision 'fp8' (needs hardware.fp8_rate)"},
                                               {"AllReduceOfOneRank",
                                                kimi(
                                                    "residual: {scheme: standard, attach: all_reduce}\n"),
                                                "it.yaml:3:38: error: conflicting residual.attach 'all_reduce' (needs parallelism.tensor of at least 2)"},
                                               {"ShardsOfASchemeWithoutMatrices",
                                                kimi("residual: {scheme: mhc, weights: sharded}\n"),
                                                "it.yaml:3:34: error: conflicting residual.weights 'sharded' (only gated_residual has such matrices)"},
                                               {"TypeOfMatricesThatAreNotThere",
                                                kimi(
                                                    "residual: {scheme: standard, compare: [mhc], weight_dtype: fp8}\n"),
                                                "it.yaml:3:60: error: conflicting residual.weight_dtype 'fp8' (only gated_residual has such matrices)"},
                                               {"TypeOfAStreamThatIsNotThere",
                                                kimi(
                                                    "residual: {scheme: mhc, stream_dtype: f32}\n"),
                                                "it.yaml:3:39: error: conflicting residual.stream_dtype 'f32' (only residual_scaling, wide_residual ship with streams of another type)"},
                                               {"StreamNarrowerThanTheModel",
                                                kimi(
                                                    "residual: {scheme: wide_residual, stream_dtype: fp8}\n"),
                                                "it.yaml:3:49: error: invalid residual.stream_dtype 'fp8' (narrower than the model's bf16)"},
                                               {"TablesThatAreNotThere",
                                                kimi("parallelism: {tables: host}\n"),
                                                "it.yaml:3:23: error: conflicting parallelism.tables 'host' (the model has no lookup tables)"},
                                               {"TrainedTablesInTheHost",
                                                "schema: depthcost/1\nmodel: qwen3_8_flash_next\nparallelism: {tables: host}\nworkload: {training: {sequence_length: 4096}}\n",
                                                "it.yaml:3:23: error: conflicting parallelism.tables 'host' (training keeps them on the devices)"},
                                               {"ShardsOnOneRank",
                                                kimi(
                                                    "residual: {scheme: gated_residual, weights: sharded}\n"),
                                                "it.yaml:3:45: error: conflicting residual.weights 'sharded' (needs parallelism.tensor of at least 2)"},
                                               {"ShardsThatDoNotDivide",
                                                kimi(
                                                    "parallelism: {tensor: 3}\nresidual: {scheme: gated_residual, weights: sharded}\n"),
                                                "it.yaml:4:45: error: conflicting residual.weights 'sharded' (parallelism.tensor, 3, must divide the hidden size, 7168)"},
                                               {"ShardsInTraining",
                                                kimi(
                                                    "parallelism: {tensor: 8}\nresidual: {scheme: gated_residual, weights: sharded}\nworkload: {training: {sequence_length: 4096}}\n"),
                                                "it.yaml:4:45: error: conflicting residual.weights 'sharded' (what its ranks send each other in training is not counted)"},
                                               {"ShardsWithoutCollectives",
                                                kimi(
                                                    "hardware: mi300x\nparallelism: {tensor: 8}\nresidual: {scheme: gated_residual, weights: sharded}\n"),
                                                "it.yaml:5:45: error: conflicting residual.weights 'sharded' (the hardware has no times of all_reduce over 8 ranks)"},
                                               {"AllReduceWhereExpertsAreSpread",
                                                kimi(
                                                    "parallelism: {tensor: 4, data: 8, expert: 32}\nresidual: {scheme: standard, attach: all_reduce}\n"),
                                                "it.yaml:4:38: error: conflicting residual.attach 'all_reduce' (experts over 32 ranks hand tokens back by all-to-all, not by all_reduce; needs parallelism.expert of at most tensor = 4)"},
                                               {"BaselineInAnAllReduceWhereExpertsAreSpread", kimi("parallelism: {tensor: 4, data: 8, expert: 32}\nresidual: {scheme: standard, baseline_attach: all_reduce}\n"), "it.yaml:4:47: error: conflicting residual.baseline_attach 'all_reduce' (experts over 32 ranks hand tokens back by all-to-all, not by all_reduce; needs parallelism.expert of at most tensor = 4)"},
                                               {"DispatchToNobody",
                                                kimi(
                                                    "parallelism: {tensor: 4, dispatch_dtype: fp8}\n"),
                                                "it.yaml:3:42: error: conflicting parallelism.dispatch_dtype 'fp8' (nothing is dispatched: no experts lie beyond the tensor ranks)"},
                                               {"UnknownDispatch",
                                                kimi(
                                                    "parallelism: {data: 4, expert: 4, dispatch_dtype: int8}\n"),
                                                "it.yaml:3:51: error: invalid parallelism.dispatch_dtype 'int8' (must be bf16 | f16 | f32 | fp8)"},
                                               {"RoutingWithoutExperts",
                                                "schema: depthcost/1\nmodel: llama_3_1_70b\nresidual: {scheme: standard}\nworkload: {routing: balanced}\n",
                                                "it.yaml:4:21: error: conflicting workload.routing 'balanced' (the model has no experts)"},
                                               {"RoutingOfAModelWithoutAnArchitecture",
                                                model(
                                                    "num_layers: 8, hidden_size: 8, dtype: bf16",
                                                    "residual: {scheme: standard}\nworkload: {routing: balanced}\n"),
                                                "it.yaml:4:21: error: conflicting workload.routing 'balanced' (the model has no experts)"},
                                               {"TablesOfAModelWithoutAnArchitecture",
                                                model(
                                                    "num_layers: 8, hidden_size: 8, dtype: bf16",
                                                    "residual: {scheme: standard}\nparallelism: {tables: host}\n"),
                                                "it.yaml:4:23: error: conflicting parallelism.tables 'host' (the model has no lookup tables)"},
                                               {"UnknownRouting",
                                                kimi("workload: {routing: zipf}\n"),
                                                "it.yaml:3:21: error: invalid workload.routing 'zipf' (must be balanced | power_law)"},
                                               {"TooManyStreams",
                                                kimi(
                                                    "residual: {scheme: mhc, num_streams: 1099511627776}\n"),
                                                "it.yaml:3:38: error: invalid residual.num_streams '1099511627776' for mhc (more than 1024 streams)"},
                                               {"DecodeStepWithoutADecode",
                                                kimi("baseline_step: {decode: 12 ms}\n"),
                                                "it.yaml:3:25: error: missing key 'workload.decode.sequences' (without it 'baseline_step.decode' means nothing)"},
                                               {"ChunkWithoutTokens",
                                                kimi("workload: {prefill: {chunk: 4096}}\n"),
                                                "it.yaml:3:29: error: missing key 'workload.prefill.tokens' (without it 'workload.prefill.chunk' means nothing)"},
                                               {"PrefillStepWithoutAPrefill",
                                                kimi("baseline_step: {prefill: 1 s}\n"),
                                                "it.yaml:3:26: error: missing key 'workload.prefill.tokens' (without it 'baseline_step.prefill' means nothing)"},
                                               {"StepsForOtherBatches",
                                                kimi(
                                                    "workload: {decode: {sequences: [1, 64, 512]}}\nbaseline_step: {decode: [1 ms, 2 ms]}\n"),
                                                "it.yaml:4:25: error: invalid baseline_step.decode (2 times for 3 batches)"},
                                               {"StepsForOneBatch",
                                                kimi(
                                                    "workload: {decode: {sequences: 64}}\nbaseline_step: {decode: [1 ms, 2 ms, 3 ms]}\n"),
                                                "it.yaml:4:25: error: invalid baseline_step.decode (3 times for 1 batch)"},
                                               {"TooManyBatches",
                                                kimi("workload: {decode: {sequences: [" +
                                                     repeated("1, ", 256) + "1]}}\n"),
                                                "it.yaml:3:32: error: invalid workload.decode.sequences (257 batches; at most 256)"}}),
                         [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace depthcost::bad_study_test
