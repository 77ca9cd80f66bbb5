// A section that stands at another place in one of the formats has a row of its own for it.
#include "reports/documents/sections.hpp"

#include "reports/topics/assumptions/assumptions_section.hpp"
#include "reports/topics/budgets/budget_section.hpp"
#include "reports/topics/budgets/claim_section.hpp"
#include "reports/topics/decision/decision_section.hpp"
#include "reports/topics/family/family_section.hpp"
#include "reports/topics/ledger/counts_section.hpp"
#include "reports/topics/ledger/ledger_section.hpp"
#include "reports/topics/measured/own_kernels_section.hpp"
#include "reports/topics/measured/published_section.hpp"
#include "reports/topics/memory/memory_section.hpp"
#include "reports/topics/memory/prefill_section.hpp"
#include "reports/topics/pipeline/pipeline_section.hpp"
#include "reports/topics/side_by_side/side_by_side_section.hpp"
#include "reports/topics/time/attachment_section.hpp"
#include "reports/topics/time/launch_section.hpp"
#include "reports/topics/time/rest_section.hpp"
#include "reports/topics/time/step_section.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost {
namespace {

// clang-format off
constexpr DataSection kDataSections[] = {
    // JSON, CSV, explain
    {assumptions_section::write_json},
    {counts_section::write_partitions},
    {ledger_section::write_json, ledger_section::write_csv, ledger_section::explain},
    {counts_section::write_aggregation, counts_section::write_csv, counts_section::explain},
    {counts_section::write_parameters},
    {counts_section::write_flops},
    {pipeline_section::write_json, pipeline_section::write_csv, pipeline_section::explain},
    {prefill_section::write_json, prefill_section::write_csv, prefill_section::explain},
    {training_section::write_json},
    {memory_section::write_json, memory_section::write_csv, memory_section::explain},
    {launch_section::write_json, nullptr, launch_section::explain},
    {step_section::write_json, step_section::write_csv, step_section::explain},
    {attachment_section::write_json},
    {nullptr, training_section::write_csv},
    {rest_section::write_json, rest_section::write_csv, rest_section::explain},
    {nullptr, nullptr, training_section::explain},
    {budget_section::write_json, budget_section::write_csv, budget_section::explain},
    {claim_section::write_json, claim_section::write_csv},
    {nullptr, nullptr, family_section::explain},
};

constexpr TextSection kTextSections[] = {
    // depth, Markdown, table, plots
    {Depth::summary, decision_section::write_markdown, decision_section::write_table},
    {Depth::summary, side_by_side_section::write_markdown},
    {Depth::details, nullptr, side_by_side_section::write_table},
    {Depth::summary, nullptr, budget_section::write_table},
    {Depth::details, assumptions_section::write_markdown},
    {Depth::details, ledger_section::write_markdown, ledger_section::write_table, {bytes_plot, sources_plot}},
    {Depth::details, counts_section::write_markdown, counts_section::write_table},
    {Depth::details, nullptr, prefill_section::write_table},
    {Depth::details, nullptr, memory_section::write_table},
    {Depth::details, nullptr, pipeline_section::write_table},
    {Depth::details, step_section::write_markdown, step_section::write_table, {overhead_plot, added_time_plot}},
    {Depth::details, rest_section::write_markdown, rest_section::write_table},
    {Depth::details, launch_section::write_markdown},
    {Depth::details, published_section::write_markdown},
    {Depth::summary, own_kernels_section::write_markdown},
    {Depth::summary, memory_section::write_markdown},
    {Depth::details, prefill_section::write_markdown},
    {Depth::details, pipeline_section::write_markdown, nullptr, {payload_plot}},
    {Depth::summary, training_section::write_markdown, nullptr, {schedule_plot}},
    {Depth::details, nullptr, training_section::write_table},
    {Depth::details, nullptr, nullptr, {bank_plot}},
    {Depth::details, family_section::write_markdown},
    {Depth::summary, budget_section::write_markdown},
    {Depth::summary, assumptions_section::write_closing},
};
// clang-format on

}  // namespace

std::span<const DataSection> data_sections() { return kDataSections; }

std::span<const TextSection> text_sections() { return kTextSections; }

}  // namespace depthcost
