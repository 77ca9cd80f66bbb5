// The same answer for programs.
#include <array>

#include "reports/difference/difference_report.hpp"
#include "reports/formats/json_writer.hpp"

namespace depthcost {
namespace {

constexpr std::array<std::string_view, 5> kMoveUnits{"", "d", "bytes", "s", "ratio"};

void write_result(JsonWriter& json, std::string_view key, const ComparedResult& result) {
  json.object(key, [&] {
    json.member("scenario", result.scenario);
    json.member("program_version", result.program_version);
  });
}

void write_words(JsonWriter& json, std::string_view key, const std::vector<ChangedWord>& words) {
  json.objects(key, words, [&](const ChangedWord& word) {
    json.member("name", word.name);
    json.text_or_null("old", word.before);
    json.text_or_null("new", word.after);
  });
}

void write_sections(JsonWriter& json, const std::vector<SectionSummary>& sections) {
  json.objects("sections", sections, [&](const SectionSummary& section) {
    json.member("section", section.section);
    json.member("compared", static_cast<double>(section.num_compared));
    json.member("moved", static_cast<double>(section.num_moved));
    json.member("beyond_tolerance", static_cast<double>(section.num_beyond));
    json.member("outside_old_interval", static_cast<double>(section.num_outside));
  });
}

void write_move(JsonWriter& json, const Move& move) {
  json.member("section", move.section);
  json.text_or_null("row", move.row);
  json.member("quantity", move.before.name);
  json.text_or_null("unit", kMoveUnits[static_cast<std::size_t>(move.before.unit)]);
  json.member("old", move.before.value);
  json.member("old_low", move.before.low);
  json.member("old_high", move.before.high);
  json.member("new", move.after.value);
  json.member("new_low", move.after.low);
  json.member("new_high", move.after.high);
  json.member("change", move.change());
  json.member("relative", move.relative);
  json.text_or_null("old_interval", name(move.place));
  json.member("beyond_tolerance", move.is_beyond);
  json.member("better", move.is_better);
  json.member("counts", move.counts);
}

void write_lone(JsonWriter& json, const LonePrediction& prediction) {
  json.member("section", prediction.section);
  json.text_or_null("row", prediction.row);
  json.text_or_null("quantity", prediction.quantity);
}

}  // namespace

std::string to_json(const DifferenceReport& report, const std::string& program_version) {
  const Difference& difference = report.difference;
  return json_document(program_version, [&](JsonWriter& json) {
    write_result(json, "old", report.before);
    write_result(json, "new", report.after);
    json.member("tolerance", report.tolerance);
    json.member("holds", difference.holds(report.improvements));
    json.member("counts_all", difference.counts_all);
    write_words(json, "verdicts", difference.verdicts);
    write_words(json, "inputs", difference.inputs);
    write_sections(json, difference.sections);
    json.objects("moved", difference.moves, [&](const Move& move) { write_move(json, move); });
    json.objects("removed", difference.removed, [&](const LonePrediction& gone) {
      write_lone(json, gone);
      json.member("counts", gone.counts);
    });
    json.objects("added", difference.added,
                 [&](const LonePrediction& added) { write_lone(json, added); });
  });
}

}  // namespace depthcost
