// Each choice as a few numbers, then the rule over them.
#include "model/sweep/recommendation.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "model/decision/decoder_layer.hpp"
#include "model/schemes/list.hpp"
#include "model/sweep/pareto.hpp"

namespace depthcost {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::optional<double> loss(const QualityEvidence& quality, Reading reading) {
  if (reading == Reading::by_size) return quality.by_size.loss;
  return reading == Reading::by_count ? quality.by_count.loss : quality.at_most();
}

/// For comparing: what is finer than published is better than all of it, what is coarser worse.
double rank(const LossReading& reading) {
  if (reading.loss) return *reading.loss;
  return reading.kind == ReadingKind::finer ? -kInfinity : kInfinity;
}

void append_objectives(std::vector<double>& values, const SweepPoint& point, Reading reading) {
  const bool has_time = point.decode || point.prefill || point.training;
  for (const auto* added : {&point.decode, &point.prefill, &point.training})
    if (*added) values.push_back((*added)->weight);
  if (!has_time) values.push_back(point.choice->forward_bytes.value);
  values.push_back(state_per_token(*point.choice).value);
  if (point.choice->payload_peak) values.push_back(point.choice->payload_peak->value);
  if (reading != Reading::by_count) values.push_back(rank(point.choice->quality.by_size));
  if (reading != Reading::by_size) values.push_back(rank(point.choice->quality.by_count));
}

/// What nobody can run is no choice: neither the best nor better than another.
bool can_be_chosen(const Sweep& sweep, const SweepPoint& point) {
  if (!point.exists()) return false;
  const auto is_limit = sweep.study().training ? is_training_bound : is_bound;
  return !is_limit(point.choice->path.scheme, point.choice->schedule);
}

/// Choices and their objectives.
struct Field {
  std::vector<std::size_t> choices;
  std::vector<double> values;

  Objectives objectives() const { return {values, values.size() / choices.size()}; }
};

Field field_of(const Sweep& sweep, std::size_t circumstance, Reading reading) {
  Field field;
  for (std::size_t i = 0; i < sweep.choices().size(); ++i) {
    const SweepPoint point = sweep.point(circumstance, i);
    if (!can_be_chosen(sweep, point)) continue;
    field.choices.push_back(i);
    append_objectives(field.values, point, reading);
  }
  return field;
}

/// A choice as the rule sees it.
struct Candidate {
  std::size_t choice = 0;
  double cost = 0;
  QualityEvidence quality;
  std::vector<std::size_t> broken;  // budgets
  bool is_sure = true;              // no budget lies inside its interval
  bool is_whole = false;            // it has blocks of whole decoder layers
  bool is_split = false;            // its blocks of several layers end inside a decoder layer
};

bool is_better(const Candidate& one, const Candidate& other) {
  return std::tie(one.is_split, one.cost) < std::tie(other.is_split, other.cost);
}

enum class Doubt : std::uint8_t { allowed, refused };

/// Budgets that the rule does not look at.
enum class Ignoring : std::uint8_t { none, one, all };

struct Question {
  Reading reading = Reading::higher_of_both;
  Ignoring ignoring = Ignoring::none;
  std::size_t budget = 0;                     // of Ignoring::one
  std::optional<std::size_t> excluding = {};  // a choice
  Doubt doubt = Doubt::allowed;
};

bool is_allowed(const Candidate& candidate, const Question& question) {
  if (candidate.choice == question.excluding || !loss(candidate.quality, question.reading))
    return false;
  if (question.doubt == Doubt::refused && !candidate.is_sure) return false;
  return question.ignoring == Ignoring::all ||
         std::all_of(candidate.broken.begin(), candidate.broken.end(), [&](std::size_t budget) {
           return question.ignoring == Ignoring::one && budget == question.budget;
         });
}

std::optional<std::size_t> chosen_by_rule(const std::vector<Candidate>& candidates,
                                          const Question& question) {
  const bool has_whole_layers =
      std::any_of(candidates.begin(), candidates.end(), [&](const Candidate& candidate) {
        return is_allowed(candidate, question) && candidate.is_whole;
      });
  std::vector<const Candidate*> asked;
  double least = kInfinity;
  for (const Candidate& candidate : candidates) {
    if (!is_allowed(candidate, question) || (has_whole_layers && candidate.is_split)) continue;
    asked.push_back(&candidate);
    least = std::min(least, *loss(candidate.quality, question.reading));
  }
  const Candidate* best = nullptr;
  for (const Candidate* candidate : asked) {
    if (*loss(candidate->quality, question.reading) >= least + kSameLoss) continue;
    if (best == nullptr || candidate->cost < best->cost) best = candidate;
  }
  if (best == nullptr) return std::nullopt;
  return best->choice;
}

std::vector<Candidate> candidates_of(const Sweep& sweep, std::size_t circumstance) {
  std::vector<Candidate> candidates;
  const Cost cost = cost_of(sweep);
  for (std::size_t i = 0; i < sweep.choices().size(); ++i) {
    const SweepPoint point = sweep.point(circumstance, i);
    if (!can_be_chosen(sweep, point)) continue;
    const Partition* blocks = attnres_blocks(point.choice->path.scheme);
    const bool is_split = splits_decoder_layer(sweep.study(), point.choice->path.scheme);
    const bool has_layers = blocks != nullptr && blocks->block_size > 1;
    Candidate candidate{i,    cost_at(point, cost),    point.choice->quality, {},
                        true, has_layers && !is_split, has_layers && is_split};
    const std::vector<PointBudget> budgets = sweep.budgets(point);
    for (std::size_t b = 0; b < budgets.size(); ++b) {
      if (is_broken(budgets[b])) candidate.broken.push_back(b);
      if (budgets[b].verdict == Verdict::unknown && budgets[b].high) candidate.is_sure = false;
    }
    candidates.push_back(std::move(candidate));
  }
  return candidates;
}

std::optional<std::size_t> cheapest_published(const std::vector<Candidate>& candidates) {
  const Candidate* cheapest = nullptr;
  for (const Candidate& candidate : candidates)
    if (loss(candidate.quality, Reading::higher_of_both) &&
        (cheapest == nullptr || is_better(candidate, *cheapest)))
      cheapest = &candidate;
  if (cheapest == nullptr) return std::nullopt;
  return cheapest->choice;
}

/// Takes budgets that every candidate breaks out of all of them.
std::vector<std::size_t> take_unattainable(std::vector<Candidate>& candidates) {
  if (candidates.empty()) return {};
  std::vector<std::size_t> common = candidates.front().broken;
  for (const Candidate& candidate : candidates)
    std::erase_if(common, [&](std::size_t budget) {
      return !std::binary_search(candidate.broken.begin(), candidate.broken.end(), budget);
    });
  for (Candidate& candidate : candidates)
    std::erase_if(candidate.broken, [&](std::size_t budget) {
      return std::binary_search(common.begin(), common.end(), budget);
    });
  return common;
}

/// Limits of which nothing is known at any choice: without the time of a step there are no per
/// cents of it. Such a limit does not count as kept.
std::vector<std::size_t> undecided_limits(const Sweep& sweep, std::size_t circumstance) {
  const std::vector<Budget>& budgets = sweep.study().budgets;
  std::vector<std::size_t> undecided;
  for (std::size_t b = 0; b < budgets.size(); ++b) {
    bool is_judged = false;
    for (std::size_t i = 0; i < sweep.choices().size() && !is_judged; ++i) {
      const SweepPoint point = sweep.point(circumstance, i);
      is_judged = point.exists() && sweep.budgets(point)[b].low.has_value();
    }
    if (!is_judged) undecided.push_back(b);
  }
  return undecided;
}

/// The answer where it is sure itself: it may tie with a lower loss that is in doubt, and without
/// that one with a cheaper choice.
std::optional<std::size_t> sure_answer(const std::vector<Candidate>& candidates,
                                       std::optional<std::size_t> best) {
  for (const Candidate& candidate : candidates)
    if (candidate.choice == best && candidate.is_sure) return best;
  return chosen_by_rule(candidates, {.doubt = Doubt::refused});
}

/// Budgets that alone decide; where only several together do, all that the free answer breaks.
std::vector<BindingBudget> binding_budgets(const std::vector<Candidate>& candidates,
                                           std::size_t num_budgets,
                                           std::optional<std::size_t> best) {
  std::vector<BindingBudget> binding;
  for (std::size_t b = 0; b < num_budgets; ++b) {
    const auto without = chosen_by_rule(candidates, {.ignoring = Ignoring::one, .budget = b});
    if (without && without != best) binding.push_back({b, *without});
  }
  if (!binding.empty()) return binding;
  const auto free = chosen_by_rule(candidates, {.ignoring = Ignoring::all});
  if (!free || free == best) return binding;
  for (const Candidate& candidate : candidates)
    if (candidate.choice == *free)
      for (const std::size_t b : candidate.broken) binding.push_back({b, *free});
  return binding;
}

}  // namespace

Cost cost_of(const Sweep& sweep) {
  const Study& study = sweep.study();
  if (!study.machine) return Cost::bytes;
  if (study.decode) return Cost::decode;
  if (study.prefill) return Cost::prefill;
  return study.training ? Cost::training : Cost::bytes;
}

double cost_at(const SweepPoint& point, Cost cost) {
  switch (cost) {
    case Cost::decode:
      return point.decode->weight;
    case Cost::prefill:
      return point.prefill->weight;
    case Cost::training:
      return point.training->weight;
    case Cost::bytes:
      break;
  }
  return point.choice->forward_bytes.value;
}

std::optional<std::size_t> cheapest_choice(
    const Sweep& sweep, std::size_t circumstance,
    const std::function<bool(const SweepPoint& point)>& is_asked) {
  const Cost cost = cost_of(sweep);
  std::optional<std::size_t> cheapest;
  double least = kInfinity;
  for (std::size_t i = 0; i < sweep.choices().size(); ++i) {
    const SweepPoint point = sweep.point(circumstance, i);
    if (!can_be_chosen(sweep, point) || !is_asked(point)) continue;
    const double price = cost_at(point, cost);
    if (cheapest && price >= least) continue;
    cheapest = i;
    least = price;
  }
  return cheapest;
}

std::vector<std::size_t> front_of(const Sweep& sweep, std::size_t circumstance, Reading reading) {
  const Field field = field_of(sweep, circumstance, reading);
  std::vector<std::size_t> front;
  if (field.choices.empty()) return front;
  for (const std::size_t i : pareto_front(field.objectives())) front.push_back(field.choices[i]);
  return front;
}

std::optional<std::size_t> dominator_of(const Sweep& sweep, std::size_t circumstance,
                                        std::size_t choice, Reading reading) {
  const Field field = field_of(sweep, circumstance, reading);
  const auto own = std::find(field.choices.begin(), field.choices.end(), choice);
  if (own == field.choices.end()) return std::nullopt;
  const auto at = static_cast<std::size_t>(own - field.choices.begin());
  const Cost cost = cost_of(sweep);
  std::optional<std::size_t> cheapest;
  double least = kInfinity;
  for (std::size_t i = 0; i < field.choices.size(); ++i) {
    if (!dominates(field.objectives(), i, at)) continue;
    const double price = cost_at(sweep.point(circumstance, field.choices[i]), cost);
    if (price >= least) continue;
    least = price;
    cheapest = field.choices[i];
  }
  return cheapest;
}

Recommendation recommend(const Sweep& sweep, std::size_t circumstance) {
  std::vector<Candidate> candidates = candidates_of(sweep, circumstance);
  Recommendation answer;
  answer.cheapest = cheapest_published(candidates);
  answer.unattainable = take_unattainable(candidates);
  answer.undecided = undecided_limits(sweep, circumstance);
  answer.has_no_cost = !sweep.study().machine && sweep.study().budgets.empty();
  if (!answer.unattainable.empty() || !answer.undecided.empty() || answer.has_no_cost) {
    answer.without_unattainable = chosen_by_rule(candidates, {});
    return answer;
  }
  answer.best = chosen_by_rule(candidates, {});
  if (answer.best) answer.runner_up = chosen_by_rule(candidates, {.excluding = answer.best});
  answer.binding = binding_budgets(candidates, sweep.study().budgets.size(), answer.best);
  answer.sure = sure_answer(candidates, answer.best);
  answer.by_size = chosen_by_rule(candidates, {.reading = Reading::by_size});
  answer.by_count = chosen_by_rule(candidates, {.reading = Reading::by_count});
  return answer;
}

std::optional<Distance> distance(const Sweep& sweep, std::size_t circumstance, std::size_t best,
                                 std::size_t other) {
  const Cost cost = cost_of(sweep);
  if (cost != Cost::decode && cost != Cost::prefill) return std::nullopt;
  const WorkloadKind kind = cost == Cost::decode ? WorkloadKind::decode : WorkloadKind::prefill;
  return Distance{.cost = cost,
                  .difference = time_between(sweep.study_at(circumstance, best),
                                             sweep.study_at(circumstance, other), kind)};
}

}  // namespace depthcost
