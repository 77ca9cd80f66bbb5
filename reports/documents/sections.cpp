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
#include "reports/topics/memory/memory_section.hpp"
#include "reports/topics/memory/prefill_section.hpp"
#include "reports/topics/pipeline/pipeline_section.hpp"
#include "reports/topics/time/attachment_section.hpp"
#include "reports/topics/time/launch_section.hpp"
#include "reports/topics/time/rest_section.hpp"
#include "reports/topics/time/step_section.hpp"
#include "reports/topics/training/training_section.hpp"

namespace depthcost {
namespace {

namespace assumptions = assumptions_section;
namespace attachment = attachment_section;
namespace budget = budget_section;
namespace claim = claim_section;
namespace counts = counts_section;
namespace decision = decision_section;
namespace family = family_section;
namespace launch = launch_section;
namespace ledger = ledger_section;
namespace memory = memory_section;
namespace own_kernels = own_kernels_section;
namespace pipeline = pipeline_section;
namespace prefill = prefill_section;
namespace rest = rest_section;
namespace step = step_section;
namespace training = training_section;

// clang-format off
constexpr DataSection kDataSections[] = {
    // JSON, CSV, explain
    {assumptions::write_json},
    {counts::write_partitions},
    {ledger::write_json, ledger::write_csv, ledger::explain},
    {counts::write_aggregation, counts::write_csv, counts::explain},
    {counts::write_parameters},
    {counts::write_flops},
    {pipeline::write_json, pipeline::write_csv, pipeline::explain},
    {prefill::write_json, prefill::write_csv, prefill::explain},
    {training::write_json},
    {memory::write_json, memory::write_csv, memory::explain},
    {launch::write_json, nullptr, launch::explain},
    {step::write_json, step::write_csv, step::explain},
    {attachment::write_json},
    {nullptr, training::write_csv},
    {rest::write_json, rest::write_csv, rest::explain},
    {nullptr, nullptr, training::explain},
    {budget::write_json, budget::write_csv, budget::explain},
    {claim::write_json, claim::write_csv},
    {nullptr, nullptr, family::explain},
};

constexpr TextSection kTextSections[] = {
    // Markdown, table, plots
    {decision::write_markdown, decision::write_table},
    {assumptions::write_markdown},
    {ledger::write_markdown, ledger::write_table, {bytes_plot, sources_plot}},
    {counts::write_markdown, counts::write_table},
    {nullptr, prefill::write_table},
    {nullptr, memory::write_table},
    {nullptr, pipeline::write_table},
    {step::write_markdown, step::write_table, {overhead_plot, added_time_plot}},
    {rest::write_markdown, rest::write_table},
    {launch::write_markdown},
    {own_kernels::write_markdown},
    {memory::write_markdown},
    {prefill::write_markdown},
    {pipeline::write_markdown, nullptr, {payload_plot}},
    {training::write_markdown, training::write_table, {schedule_plot}},
    {nullptr, nullptr, {bank_plot}},
    {family::write_markdown},
    {budget::write_markdown, budget::write_table},
    {assumptions::write_closing},
};
// clang-format on

}  // namespace

std::span<const DataSection> data_sections() { return kDataSections; }

std::span<const TextSection> text_sections() { return kTextSections; }

}  // namespace depthcost
