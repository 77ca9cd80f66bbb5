// The tables of files of measurements and of tolerance rules.
#include "model/evaluation/nearest_measurement.hpp"
#include "scenarios/keys/key_builders.hpp"
#include "scenarios/keys/profile_choices.hpp"

namespace depthcost {
namespace {

using namespace key_builders;

constexpr std::array<Names, 2> kEffects{"block", "report"};
constexpr auto kCoreDtypeNames = names_of_some(kCoreDtypes);
constexpr auto kRatedLevelNames = names_of_some(kRatedLevels);

const std::array kPublished{
    required(key(text, "schema", "must be depthcost-published/1")),
    required(key(text, "name", "name of the file in lists")),
    key(records, "measurements", "one kernel each, called alone"),
    required(key(text, "measurements[].hardware", "a hardware preset")),
    required(key(text, "measurements[].stack", "library of the kernel, with its version")),
    required(key(text, "measurements[].operation", "as kernels/README.md names them")),
    key(count, "measurements[].sources", "n, where the operation depends on it"),
    key(count, "measurements[].queries", "S, where the operation depends on it"),
    with_default(key(count, "measurements[].streams", "m"), "4", "as residual.num_streams"),
    required(key(count, "measurements[].tokens", "T")),
    required(key(count, "measurements[].hidden_size", "d")),
    required(key(choice, "measurements[].dtype", kNames<Dtype>, "storage of the d-vectors")),
    required(key(choice, "measurements[].launch", kNames<Launch>, "how kernels are launched")),
    required(key(choice, "measurements[].temperature", kNames<Temperature>,
                 "cold: caches were flushed; hot: calls followed one another")),
    required(key(quantity, "measurements[].time", seconds, "of one call")),
    key(records, "steps", "whole decode steps of a served model"),
    required(key(text, "steps[].hardware", "a hardware preset")),
    required(key(text, "steps[].stack", "who served it")),
    required(key(text, "steps[].model", "as the model preset calls itself")),
    required(key(count, "steps[].tensor", "tensor-parallel ranks")),
    required(key(count, "steps[].sequences", "decoded at a time")),
    key(count, "steps[].context", "tokens behind each sequence, where that is said"),
    required(key(choice, "steps[].scheme", scheme_names(), "of the residual stream")),
    required(key(choice, "steps[].schedule", kNames<Schedule>, "how it was run")),
    required(key(choice, "steps[].span", kNames<StepSpan>,
                 "kernels: the sum of their durations; step: from end to end")),
    required(key(quantity, "steps[].time", seconds, "of the step")),
    key(quantity, "steps[].residual", seconds, "the part of `time` in the residual path's kernels"),
};

constexpr std::array kTolerances{
    required(key(text, "schema", "must be depthcost-tolerances/1")),
    required(key(text, "name", "name of the rules in lists")),
    key(records, "rules", "every case is matched by exactly one, and every rule matches"),
    required(key(text, "rules[].match", "pattern of case ids: * is any text, {a,b} either")),
    required(key(quantity, "rules[].relative", ratio, "largest |measured / predicted - 1|")),
    non_negative(key(quantity, "rules[].absolute", seconds, "what a timer cannot resolve")),
    key(number, "rules[].noise_multiple",
        "an error of up to so many half-widths of the measurement's interval is "
        "ambiguous, not a failure"),
    required(
        key(choice, "rules[].effect", kEffects, "whether a failing case makes `compare` fail")),
    required(key(text, "rules[].reason", "why so much")),
};

constexpr std::array kKernelNames{
    required(key(text, "schema", "must be depthcost-kernel-names/1")),
    required(key(text, "name", "whose kernels they are")),
    key(records, "kernels", "the first that matches a kernel of a trace says what it is"),
    required(key(text, "kernels[].match",
                 "a part of the kernel's name; with a * the whole of it, * being any text")),
    required(key(text, "kernels[].operation", "as `depthcost compare --operations` lists them")),
    key(text, "kernels[].beside",
        "what else the kernel does, such as an all-reduce: its time is listed, not counted"),
    required(key(text, "kernels[].source", "where the name stands")),
};

constexpr std::array kProfile{
    required(key(text, "schema", "must be depthcost-profile/1")),
    required(key(text, "name", "the machine")),
    required(key(choice, "kind", kKinds, "what runs the kernels")),
    key(text, "part", "a hardware preset: what the profile does not measure"),
    required(key(text, "date", "of the measurement")),
    required(key(text, "samples.file", "beside the profile")),
    required(key(text, "samples.hash", "FNV-1a of the file")),
    required(key(text, "samples.kernels", "hash of the kernels' sources")),
    required(key(count, "threads", "that the kernels had")),
    required(non_negative(
        key(quantity, "noise", ratio, "95th percentile of the difference of a case from itself"))),
    non_negative(key(number, "write_allocate_ratio",
                     "time of h += f over that of a copy; 1 where stores read their lines first")),
    key(number, "residual.low", "measured / predicted: 90 % of kernels lie between"),
    key(number, "residual.high", "and this"),
    key(records, "operation_residual", "the same of one operation's kernels"),
    required(key(text, "operation_residual[].operation", "as kernels/README.md names them")),
    required(key(number, "operation_residual[].low", "90 % of its kernels lie between")),
    required(key(number, "operation_residual[].high", "and this")),
    key(count, "coverage.count", "shapes that `residual` was not made from"),
    non_negative(key(quantity, "coverage.share", ratio, "of them inside")),
    non_negative(key(quantity, "coverage.low", ratio, "95 % interval of the share")),
    non_negative(key(quantity, "coverage.high", ratio, "95 % interval of the share")),
    key(count, "operation_coverage.count", "shapes that `operation_residual` was not made from"),
    non_negative(key(quantity, "operation_coverage.share", ratio, "of them inside")),
    non_negative(key(quantity, "operation_coverage.low", ratio, "95 % interval of the share")),
    non_negative(key(quantity, "operation_coverage.high", ratio, "95 % interval of the share")),
    key(records, "nodes", "whose profiles were merged"),
    required(key(text, "nodes[].file", "the node's profile, beside this one")),
    required(key(text, "nodes[].hash", "FNV-1a of the file")),
    key(text, "nodes[].outside",
        "how it stands outside the other nodes; then nothing here is from it"),
    key(records, "bandwidth", "of plain streams, the best variant each"),
    required(key(choice, "bandwidth[].level", kNames<profile::MemoryLevel>, "where they lie")),
    required(non_negative(key(count, "bandwidth[].threads", "0: as the kernels"))),
    required(non_negative(key(count, "bandwidth[].reads", "streams read"))),
    required(non_negative(key(count, "bandwidth[].writes", "streams written"))),
    required(non_negative(key(count, "bandwidth[].in_place", "of them, read before"))),
    required(key(quantity, "bandwidth[].value", bytes_per_second, "reads and writes together")),
    required(key(quantity, "bandwidth[].low", bytes_per_second, "90 % interval")),
    required(key(quantity, "bandwidth[].high", bytes_per_second, "90 % interval")),
    key(records, "launch_floor", "of kernels that move next to nothing"),
    required(key(choice, "launch_floor[].launch", kNames<Launch>, "launch mode")),
    required(key(choice, "launch_floor[].level", kNames<Level>, "where its data is")),
    required(key(choice, "launch_floor[].skeleton", kNames<Skeleton>, "how its threads cooperate")),
    required(key(quantity, "launch_floor[].value", seconds, "seconds per kernel")),
    required(key(quantity, "launch_floor[].low", seconds, "90 % interval")),
    required(key(quantity, "launch_floor[].high", seconds, "90 % interval")),
    key(quantity, "saturation_latency", seconds,
        "h / B of bandwidth = min(cap, B n / (n + h)), n bytes in flight"),
    key(records, "cache_transition", "share of the traffic that memory serves, by footprint"),
    required(
        key(quantity, "cache_transition[].footprint", Dimension::bytes, "bytes between two uses")),
    required(
        non_negative(key(quantity, "cache_transition[].memory_weight", ratio, "0 % to 100 %"))),
    key(quantity, "first_level", Dimension::bytes, "kept rows up to here stay in L1"),
    key(quantity, "second_level", Dimension::bytes,
        "what is used again within so many bytes comes at the core's own rates"),
    key(choice, "core_form", kNames<CoreForm>,
        "how core and memory time go together: the best of form_error"),
    non_negative(key(quantity, "exposed", ratio,
                     "share of the shorter of memory and core that is not hidden")),
    key(records, "form_error", "of each form, on the calibration cases"),
    required(key(choice, "form_error[].form", kNames<CoreForm>, "which")),
    required(key(count, "form_error[].count", "cases")),
    required(non_negative(key(quantity, "form_error[].median", ratio, "of |error|"))),
    required(non_negative(key(quantity, "form_error[].p90", ratio, "of |error|"))),
    required(non_negative(key(quantity, "form_error[].worst", ratio, "of |error|"))),
    key(records, "core_rate", "seconds per element of a pass over rows in a core's caches"),
    required(key(choice, "core_rate[].primitive", kNames<Primitive>, "which pass")),
    required(key(choice, "core_rate[].dtype", kCoreDtypeNames, "storage of the rows")),
    required(key(choice, "core_rate[].level", kRatedLevelNames, "where they lie")),
    required(key(quantity, "core_rate[].value", seconds, "per element")),
    required(key(quantity, "core_rate[].low", seconds, "90 % interval")),
    required(key(quantity, "core_rate[].high", seconds, "90 % interval")),
    key(records, "links", "between processes, by MPI: latency + bytes / bandwidth, piecewise"),
    required(key(choice, "links[].transfer", kNames<Transfer>, "what moves")),
    required(key(count, "links[].ranks", "processes")),
    required(key(quantity, "links[].from", Dimension::bytes, "messages of that size and more")),
    required(non_negative(key(quantity, "links[].latency", seconds, "of a message without bytes"))),
    key(quantity, "links[].bandwidth", bytes_per_second, "without it bytes are free"),
    key(records, "link_error", "every other size, predicted by a fit to the others"),
    required(key(choice, "link_error[].transfer", kNames<Transfer>, "what moves")),
    required(key(count, "link_error[].ranks", "processes")),
    required(key(count, "link_error[].count", "sizes")),
    required(non_negative(key(quantity, "link_error[].median", ratio, "of |error|"))),
    required(non_negative(key(quantity, "link_error[].p90", ratio, "of |error|"))),
    required(non_negative(key(quantity, "link_error[].worst", ratio, "of |error|"))),
    key(records, "accuracy", "predicted against measured, kernels that were not fitted"),
    required(key(choice, "accuracy[].ceilings", kNames<profile::Ceilings>,
                 "what the prediction rests on")),
    required(key(choice, "accuracy[].cases", kNames<profile::Cases>, "which kernels")),
    required(key(count, "accuracy[].count", "cases")),
    required(non_negative(key(quantity, "accuracy[].median", ratio, "of |error|"))),
    required(non_negative(key(quantity, "accuracy[].p90", ratio, "of |error|"))),
    required(non_negative(key(quantity, "accuracy[].worst", ratio, "of |error|"))),
};

}  // namespace

const KeyTable& published_keys() {
  static const KeyTable table{"depthcost-published/1", "published file", kPublished};
  return table;
}

const KeyTable& tolerance_keys() {
  static constexpr KeyTable table{"depthcost-tolerances/1", "tolerance file", kTolerances};
  return table;
}

const KeyTable& kernel_name_keys() {
  static constexpr KeyTable table{"depthcost-kernel-names/1", "file of kernel names", kKernelNames};
  return table;
}

const KeyTable& profile_keys() {
  static constexpr KeyTable table{"depthcost-profile/1", "profile", kProfile};
  return table;
}

}  // namespace depthcost
