// A sweep as JSON: points, what cannot exist, recommendations, and the evidence.
#include "reports/formats/json_writer.hpp"
#include "reports/sweep/sweep_evidence.hpp"
#include "reports/sweep/sweep_report.hpp"
#include "reports/sweep/sweep_values.hpp"

namespace depthcost {
namespace {

void write_axes(JsonWriter& json, const SweepReport& report, const ReportedScene& scene,
                std::size_t circumstance) {
  for (std::size_t i = 0; i < report.scene_axes.size(); ++i)
    json.member(report.scene_axes[i], scene.values[i]);
  const Sweep& sweep = *scene.sweep;
  const std::vector<Count> values = sweep.circumstance_values(circumstance);
  for (std::size_t i = 0; i < values.size(); ++i)
    json.member(name(sweep.circumstance_axes()[i].key), values[i]);
}

void write_choice(JsonWriter& json, const Sweep& sweep, std::size_t choice) {
  for (std::size_t i = 0; i < sweep.choice_axes().size(); ++i) {
    const SweptAxis& axis = sweep.choice_axes()[i];
    const Count value = sweep.choices()[choice].values[i];
    if (is_named(axis.key))
      json.member(name(axis.key), value_text(axis, value));
    else
      json.member(name(axis.key), value);
  }
}

void write_points(JsonWriter& json, const SweepReport& report) {
  json.array("points", [&] {
    for (const SweepGroup& group : groups_of(report)) {
      const Sweep& sweep = group.sweep();
      const GroupAnswer answer = answer_for(sweep, group.circumstance);
      count_group(report);
      for (std::size_t i = 0; i < sweep.choices().size(); ++i)
        json.object([&] {
          write_axes(json, report, *group.scene, group.circumstance);
          write_choice(json, sweep, i);
          for (const PointValue& value : point_values(sweep, group.circumstance, i, answer)) {
            if (value.text == "true" || value.text == "false")
              json.member(value.key, value.text == "true");
            else if (!value.text.empty() || !value.number)
              json.text_or_null(value.key, value.text);
            else
              json.member(value.key, value.number);
          }
        });
    }
  });
}

void write_refused(JsonWriter& json, const SweepReport& report) {
  json.array("refused", [&] {
    for (const ReportedScene& scene : report.scenes) {
      if (scene.sweep) continue;
      json.object([&] {
        for (std::size_t i = 0; i < report.scene_axes.size(); ++i)
          json.member(report.scene_axes[i], scene.values[i]);
        json.member("reason", scene.refused);
      });
    }
  });
}

void write_choice_or_null(JsonWriter& json, std::string_view key, const Sweep& sweep,
                          std::optional<std::size_t> choice) {
  if (!choice) return json.text_or_null(key, "");
  json.object(key, [&] { write_choice(json, sweep, *choice); });
}

void write_recommendations(JsonWriter& json, const SweepReport& report) {
  json.objects("recommendations", groups_of(report), [&](const SweepGroup& group) {
    const Sweep& sweep = group.sweep();
    const Recommendation said = recommend(sweep, group.circumstance);
    write_axes(json, report, *group.scene, group.circumstance);
    write_choice_or_null(json, "recommended", sweep, said.best);
    write_choice_or_null(json, "runner_up", sweep, said.runner_up);
    json.array("unattainable", [&] {
      for (const std::size_t b : said.unattainable) json.value(name(sweep.study().budgets[b].kind));
    });
    json.array("undecided", [&] {
      for (const std::size_t b : said.undecided) json.value(name(sweep.study().budgets[b].kind));
    });
    json.member("has_no_cost", said.has_no_cost);
    write_choice_or_null(json, "without_unattainable", sweep, said.without_unattainable);
    json.objects("binding", said.binding, [&](const BindingBudget& binding) {
      json.member("budget", name(sweep.study().budgets[binding.budget].kind));
      write_choice_or_null(json, "would_allow", sweep, binding.allowed);
    });
    write_choice_or_null(json, "by_size_alone", sweep, said.by_size);
    write_choice_or_null(json, "by_count_alone", sweep, said.by_count);
    write_choice_or_null(json, "as_written", sweep, own_choice(report, group));
  });
}

}  // namespace

std::string sweep_json(const SweepReport& report, const std::string& program_version) {
  return json_document(program_version, [&](JsonWriter& json) {
    json.member("scenario", report.title);
    json.texts("warnings", report.warnings);
    write_points(json, report);
    write_refused(json, report);
    write_recommendations(json, report);
    write_evidence(json, report.compute);
  });
}

}  // namespace depthcost
