// Puts the values of axes into the document before it is read, so that an axis can do no more than
// a file.
#include "scenarios/read/sweep_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "model/base/infeasible.hpp"
#include "model/evaluation/predicted_work.hpp"
#include "model/schemes/list.hpp"
#include "scenarios/device/device.hpp"
#include "scenarios/keys/limits.hpp"
#include "scenarios/presets/reference.hpp"
#include "scenarios/read/scenario.hpp"
#include "scenarios/read/settings.hpp"
#include "scenarios/read/unasked_batches.hpp"
#include "scenarios/read/usual_workload.hpp"
#include "scenarios/text/document.hpp"

namespace depthcost {
namespace {

Node scalar_node(const std::string& text) { return {axis_position(), ScalarNode{text, false}}; }

Node* find_member(Map& map, std::string_view key) {
  for (Member& member : map.members)
    if (member.key == key) return &member.value;
  return nullptr;
}

/// The map at `key`, made if it is not there.
Map& section(Map& map, const std::string& key) {
  Node* node = find_member(map, key);
  if (node == nullptr) {
    map.members.push_back({key, axis_position(), {axis_position(), Map{}}});
    node = &map.members.back().value;
  }
  take_as_base(*node);
  if (!std::holds_alternative<Map>(node->content)) as_map(*node, key);  // says what is wrong
  return std::get<Map>(node->content);
}

void erase(Map& map, const std::string& path) {
  const auto dot = path.find('.');
  if (dot == std::string::npos) {
    std::erase_if(map.members, [&](const Member& member) { return member.key == path; });
    return;
  }
  Node* node = find_member(map, path.substr(0, dot));
  if (node != nullptr && std::holds_alternative<Map>(node->content))
    erase(std::get<Map>(node->content), path.substr(dot + 1));
}

void put(Map& map, const std::string& path, const std::string& text) {
  const auto dot = path.find('.');
  if (dot != std::string::npos)
    return put(section(map, path.substr(0, dot)), path.substr(dot + 1), text);
  erase(map, path);
  map.members.push_back({path, axis_position(), scalar_node(text)});
}

/// The node itself, or the `value` of a map that also has its source.
Node& without_source(Node& node) {
  auto* map = std::get_if<Map>(&node.content);
  Node* value = map == nullptr ? nullptr : find_member(*map, "value");
  return value == nullptr ? node : *value;
}

bool says(const Node& node, std::string_view text) {
  const auto* scalar = std::get_if<ScalarNode>(&node.content);
  return scalar != nullptr && scalar->text == text;
}

/// Removes the scheme from those that it is compared with.
void drop_compared(Map& residual, const std::string& scheme) {
  Node* compare = find_member(residual, "compare");
  if (compare == nullptr) return;
  Node& written = without_source(*compare);
  auto* list = std::get_if<List>(&written.content);
  const auto is_it = [&](const Node& node) { return says(node, scheme); };
  const bool is_dropped = list != nullptr && std::erase_if(list->items, is_it) > 0;
  if (is_it(written) || (is_dropped && list->items.empty())) erase(residual, "compare");
}

/// The schedule of the file belongs to its scheme. Another scheme without that schedule runs its
/// own default.
void drop_foreign_schedule(Map& residual, const std::string& scheme) {
  Node* schedule = find_member(residual, "schedule");
  if (schedule == nullptr) return;
  const auto is_it = [&](std::string_view text) { return says(without_source(*schedule), text); };
  const auto& known = find_key(scenario_keys(), "residual.schedule")->choices;
  const SchemeRule* rule = find_scheme(scheme);
  const auto own = rule == nullptr ? std::span<const Schedule>{} : rule->schedules;
  if (std::any_of(known.begin(), known.end(), is_it) &&
      std::none_of(own.begin(), own.end(), [&](Schedule each) { return is_it(name(each)); }))
    erase(residual, "schedule");
}

void put_scheme(Map& map, const std::string& scheme) {
  put(map, "residual.scheme", scheme);
  drop_compared(section(map, "residual"), scheme);
  drop_foreign_schedule(section(map, "residual"), scheme);
}

/// Writes a valid value for a key that the model will vary. Blocks of one layer always exist, and
/// every scheme has a schedule.
void put_placeholder(Map& map, const Axis& axis, SweptKey key) {
  if (key == SweptKey::scheme) return;  // the scheme is read from the scenario
  if (key == SweptKey::block_size || key == SweptKey::num_blocks) {
    erase(map, "residual.block_size");
    erase(map, "residual.num_blocks");
    if (key == SweptKey::block_size) erase(map, "residual.remainder");
    return put(map, axis.path, "1");
  }
  if (key == SweptKey::schedule) return erase(map, axis.path);
  put(map, axis.path, axis.range ? std::to_string(axis.range->first) : axis.items.front());
}

/// The smallest and the largest value of a number that the model will vary. What a file may not say
/// of it lies beyond a limit, so that both stand for all between.
std::vector<std::string> ends_of(const Axis& axis) {
  std::vector<std::string> values = values_of(axis, 1);
  const auto [smallest, largest] = std::minmax_element(
      values.begin(), values.end(),
      [](const std::string& a, const std::string& b) { return std::stoll(a) < std::stoll(b); });
  return {*smallest, *largest};
}

Count swept_value(SweptKey key, const std::string& text) {
  if (key != SweptKey::schedule) return std::stoll(text);
  return static_cast<Count>(named<Schedule>(text).value());
}

/// What is asked where no axis is: which blocks, and of a scheme that has none, which schedule. The
/// standard residual has no other choice, and is refused with a hint.
std::string usual_axis(const UnreadScenario& source) {
  try {
    const Study study = scenario_of(source.document, source.file, source.provenance).study;
    const Scheme& scheme = study.path.scheme;
    const bool has_blocks =
        blocks_of(scheme) != nullptr || takes(scheme, &SchemeParameters::block_size);
    if (!has_blocks && !is_standard(scheme)) {
      std::vector<std::string_view> schedules;
      for (const Schedule schedule : scheme.rule->schedules) schedules.push_back(name(schedule));
      return fmt::format("schedule={}", fmt::join(schedules, ","));
    }
  } catch (const InputError&) {
    // A scenario that lacks something is refused when it is read with its axes.
  }
  return "block_size=1..L";
}

bool is_of_blocks(const Axis& axis) {
  const auto key = named<SweptKey>(axis.path);
  return key == SweptKey::block_size || key == SweptKey::num_blocks;
}

/// Whether the scenario lacks a block size and nothing else.
bool lacks_blocks(UnreadScenario source) {
  if (study_as_written(source)) return false;
  auto* map = std::get_if<Map>(&source.document.content);
  if (map == nullptr) return false;
  try {
    put(*map, "residual.block_size", "1");
  } catch (const InputError&) {
    return false;
  }
  return study_as_written(source).has_value();
}

bool is_of_workload(const Axis& axis) { return axis.path.starts_with("workload."); }

/// Throws InputError for more than a sweep goes through in little time.
void refuse_too_long(const SweepPlan& plan) {
  double layers = 0;
  double passes = 0;
  for (const SweepScene& scene : plan.scenes) {
    if (!scene.study) continue;
    layers += swept_layers(*scene.study, scene.axes);
    passes += swept_passes(*scene.study, scene.axes);
  }
  const auto refuse = [](double asked, const char* what, double limit) {
    if (asked > limit)
      throw InputError(axis_position(),
                       fmt::format("invalid axes ({:.0f} {} of all choices to go through, more "
                                   "than {:.0f}; write fewer values)",
                                   asked, what, limit));
  };
  refuse(layers, "layers", kMaxSweptLayers);
  refuse(passes, "passes of chunks", kMaxSweptPasses);
}

/// Where nothing fits at all, the smallest batch says so.
void leave_out_unasked_batches(SweepPlan& plan) {
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const SweepScene& scene : plan.scenes)
    if (scene.batches_that_fit.value_or(0) > 0) fewest = std::min(fewest, *scene.batches_that_fit);
  for (SweepScene& scene : plan.scenes) {
    if (!scene.batches_that_fit) continue;
    std::vector<Count>& batches = scene.study->decode->sequences;
    const bool fits_somewhere = fewest != std::numeric_limits<std::size_t>::max();
    batches.resize(fits_somewhere ? std::min(fewest, batches.size()) : 1);
  }
}

/// Reads the scenario, with values in it.
class Planner {
 public:
  Planner(UnreadScenario source, const std::vector<std::string>& arguments, Count max_points,
          const Progress& progress)
      : source_(std::move(source)), max_points_(max_points), progress_(progress) {
    root_map(source_.document, "scenario");
    std::vector<Axis> axes =
        parse_axes(arguments.empty() ? std::vector<std::string>{usual_axis(source_)} : arguments);
    if (std::none_of(axes.begin(), axes.end(), is_of_blocks) && lacks_blocks(source_))
      axes.insert(axes.begin(), parse_axes({"block_size=1..L"}).front());
    for (Axis& axis : axes) {
      check_reference(axis);
      if (const auto measured = measurements_of(source_.document, axis.path); !measured.empty())
        throw InputError(
            axis_position(),
            fmt::format("conflicting axis '{}' (the scenario has {}, which was measured "
                        "at one value)",
                        axis.path, measured.front()));
      if (named<SweptKey>(axis.path) == SweptKey::scheme) schemes_ = axis.items;
      (named<SweptKey>(axis.path) ? keys_ : scenes_).push_back(std::move(axis));
    }
  }

  SweepPlan plan() {
    SweepPlan plan;
    for (const Axis& axis : scenes_) plan.scene_axes.push_back(axis.path);
    refuse_too_many(1);  // before L is known, and before anything is read
    refuse_wrong_file();
    read_scenes(plan);
    refuse_too_many(largest_model(plan));
    for (SweepScene& scene : plan.scenes)
      if (scene.study) scene.axes = swept_axes(scene, largest_model(plan));
    plan.source = std::move(source_);
    return plan;
  }

 private:
  /// An unknown preset is a mistake, not a point that cannot exist.
  void check_reference(const Axis& axis) const {
    if (axis.key->kind != KeyKind::reference) return;
    for (const std::string& item : axis.items)
      if (axis.path == "model")
        resolve_reference(scalar_node(item), model_reference(), source_.file);
      else
        resolve_device(scalar_node(item), source_.file);
  }

  /// What no axis replaces is wrong in every scene. Read alone, it is found before the first.
  void refuse_wrong_file() const {
    Node document = source_.document;
    Map& map = std::get<Map>(document.content);
    for (const std::vector<Axis>* axes : {&scenes_, &keys_})
      for (const Axis& axis : *axes) erase(map, axis.path);
    const Node written_out = with_usual_workload(document);
    read_values(std::get<Map>(written_out.content), document.position,
                {scenario_keys(), source_.provenance, file_label(source_.file)});
  }

  void refuse_too_many(Count num_layers) const {
    auto scenes = static_cast<double>(std::max<std::size_t>(1, schemes_.size()));
    for (const Axis& axis : scenes_) scenes *= num_values(axis, num_layers);
    if (scenes > kMaxScenes)
      throw InputError(
          axis_position(),
          fmt::format("invalid axes ({:.0f} readings of the scenario, more than {:.0f}; "
                      "axes of residual keys and workload sizes do not count)",
                      scenes, kMaxScenes));
    double points = 1;
    for (const std::vector<Axis>* axes : {&scenes_, &keys_})
      for (const Axis& axis : *axes) points *= std::max(1.0, num_values(axis, num_layers));
    if (points > static_cast<double>(max_points_))
      throw InputError(axis_position(),
                       fmt::format("invalid axes ({:.0f} points, more than {}; --max-points {:.0f} "
                                   "asks for them)",
                                   points, max_points_, points));
  }

  using Setting = std::pair<std::string, std::string>;  // a key and its text

  /// Reads the scenario with every workload axis at one of its ends.
  void check_ends(const std::vector<std::string>& values, const std::string& scheme) {
    // One value alone is the placeholder, which has been read.
    if (std::none_of(keys_.begin(), keys_.end(), [](const Axis& axis) {
          return is_of_workload(axis) && num_values(axis, 1) > 1;
        }))
      return;
    for (std::size_t end = 0; end < 2; ++end) {
      std::vector<Setting> ends;
      for (const Axis& axis : keys_)
        if (is_of_workload(axis)) ends.emplace_back(axis.path, ends_of(axis)[end]);
      read(values, scheme, ends);
    }
  }

  /// `settings` go beyond the placeholders.
  Scenario read(const std::vector<std::string>& values, const std::string& scheme,
                const std::vector<Setting>& settings = {}) {
    Node document = source_.document;
    const auto map = [&]() -> Map& { return std::get<Map>(document.content); };
    const auto put_scenes = [&](const auto& is_asked) {
      for (std::size_t i = 0; i < scenes_.size(); ++i)
        if (is_asked(scenes_[i])) put(map(), scenes_[i].path, values[i]);
    };
    put_scenes(std::not_fn(is_of_workload));
    // A workload that is named alone has the values of these ranks, and then those of its axes.
    document = with_usual_workload(std::move(document));
    put_scenes(is_of_workload);
    for (const Axis& axis : keys_) put_placeholder(map(), axis, *named<SweptKey>(axis.path));
    for (const auto& [path, text] : settings) put(map(), path, text);
    if (!scheme.empty()) put_scheme(map(), scheme);
    return scenario_of(document, source_.file, source_.provenance);
  }

  void read_scenes(SweepPlan& plan) {
    std::size_t num_scenes = 1;
    for (const Axis& axis : scenes_)
      num_scenes *= axis.items.empty() ? values_of(axis, 0).size() : axis.items.size();
    for (std::size_t index = 0; index < num_scenes; ++index) {
      progress_.check();
      SweepScene& scene = plan.scenes.emplace_back();
      scene.values = scene_values(index);
      warnings_.reset();
      if (schemes_.empty()) read_scene(scene, "");
      for (const std::string& scheme : schemes_) scene.schemes.push_back(read_scene(scene, scheme));
      for (std::string& warning : warnings_.value_or(std::vector<std::string>{}))
        if (std::find(plan.warnings.begin(), plan.warnings.end(), warning) == plan.warnings.end())
          plan.warnings.push_back(std::move(warning));
    }
    if (std::none_of(plan.scenes.begin(), plan.scenes.end(),
                     [](const SweepScene& scene) { return scene.study.has_value(); }))
      throw *first_error_;
  }

  SchemePath read_scene(SweepScene& scene, const std::string& scheme) {
    try {
      const Scenario scenario = read(scene.values, scheme);
      check_ends(scene.values, scheme);
      scene.remainder = scenario.remainder;
      if (warnings_)
        keep_common(*warnings_, value_warnings(scenario.values));
      else
        warnings_ = value_warnings(scenario.values);
      const Study& study = scenario.study;
      if (!scene.study) {
        scene.study = study;
        scene.batches_that_fit = usual_batches_that_fit(scenario);
      }
      return {.scheme = scheme, .path = study.path, .schedule = study.schedule};
    } catch (const InputError& error) {
      if (!first_error_) first_error_ = error;
      if (scene.refused.empty()) scene.refused = error.message();
      return {.scheme = scheme, .refused = error.message()};
    }
  }

  /// The last axis runs fastest.
  std::vector<std::string> scene_values(std::size_t index) const {
    std::vector<std::string> values(scenes_.size());
    for (std::size_t i = scenes_.size(); i-- > 0;) {
      const std::vector<std::string> all = values_of(scenes_[i], 0);
      values[i] = all[index % all.size()];
      index /= all.size();
    }
    return values;
  }

  static Count largest_model(const SweepPlan& plan) {
    Count layers = 0;
    for (const SweepScene& scene : plan.scenes)
      if (scene.study) layers = std::max(layers, scene.study->model.num_layers);
    return layers;
  }

  std::vector<SweptAxis> swept_axes(const SweepScene& scene, Count num_layers) const {
    std::vector<SweptAxis> axes;
    for (const Axis& axis : keys_) {
      const SweptKey key = *named<SweptKey>(axis.path);
      SweptAxis& made = axes.emplace_back(SweptAxis{key, {}, scene.remainder});
      if (key == SweptKey::scheme) {
        made.schemes = scene.schemes;
        for (std::size_t i = 0; i < scene.schemes.size(); ++i)
          made.values.push_back(static_cast<Count>(i));
        continue;
      }
      for (const std::string& text : values_of(axis, num_layers))
        made.values.push_back(swept_value(key, text));
    }
    return axes;
  }

  UnreadScenario source_;
  Count max_points_;
  const Progress& progress_;
  std::vector<Axis> scenes_;          // the scenario is read again for these
  std::vector<Axis> keys_;            // the model varies these
  std::vector<std::string> schemes_;  // an axis of schemes; each is read again in every scene
  std::optional<InputError> first_error_;
  std::optional<std::vector<std::string>> warnings_;  // that all schemes of a scene have
};

}  // namespace

SweepPlan plan_sweep(UnreadScenario source, const std::vector<std::string>& axes, Count max_points,
                     const Progress& progress) {
  SweepPlan plan = read_sweep(std::move(source), axes, max_points, progress);
  leave_out_unasked_batches(plan);
  refuse_too_long(plan);
  return plan;
}

SweepPlan read_sweep(UnreadScenario source, const std::vector<std::string>& axes, Count max_points,
                     const Progress& progress) {
  return Planner(std::move(source), axes, max_points, progress).plan();
}

std::optional<Study> study_as_written(const UnreadScenario& source) {
  try {
    return scenario_of(source.document, source.file, source.provenance).study;
  } catch (const InputError&) {
    return std::nullopt;
  }
}

}  // namespace depthcost
