// Runs plans of microbench/pipeline_plan.hpp, one after the other, one process per stage:
//
//   mpirun -n P bench_pipeline PLAN.json... [--steps N] [--json FILE]
//
// or under Slurm, on any number of machines. FILE takes the numbers of the last plan. Messages are
// real, of the model's sizes; layers are timed waits. Before every layer the stage checks that it
// holds each source that the layer attends to, made of what it was sent: in the first step every
// element, in the N timed ones (default 5) a few. Bytes that have left are held against
// model/pipeline.hpp, the median step against model/pipeline_simulation.hpp. Exit code 0; 1 where a
// value or a byte count is wrong, or a process has died; 2 for bad input.
//
// For tests: --drop BLOCK@TRANSITION leaves a block ("partial": the unfinished sum) out of the
// messages of a transition, --die RANK@STEP and --stall RANK@STEP end or stop a process as a step
// begins (0: the first, which is checked).
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "microbench/mpi/arguments.hpp"
#include "microbench/mpi/stage.hpp"
#include "model/infeasible.hpp"

namespace depthcost::bench {
namespace {

constexpr double kPatience = 5;  // seconds: the others end within 10
constexpr const char* kUsage =
    "mpirun -n P bench_pipeline PLAN.json... [--steps N] [--json FILE] [--drop BLOCK@TRANSITION] "
    "[--die RANK@STEP] [--stall RANK@STEP]";

/// "3@1".
struct At {
  std::string what;
  int where = -1;
};

At parse_at(const Arguments& arguments, const std::string& option) {
  const std::string text = arguments.text(option);
  const auto at = text.find('@');
  if (!arguments.has(option)) return {};
  if (at == std::string::npos) arguments.fail("invalid " + option + " '" + text + "' (no '@')");
  return {text.substr(0, at), arguments.parse(text.substr(at + 1), option, 0)};
}

struct Hooks {
  At drop;
  At die;
  At stall;
};

void withhold(const Arguments& arguments, const At& drop, Route& route) {
  if (drop.where < 0) return;
  const bool is_sum = drop.what == "partial" || !route.has_blocks();
  const VectorId vector{is_sum ? VectorId::Kind::sum : VectorId::Kind::block,
                        drop.what == "partial" ? 0 : arguments.parse(drop.what, "drop", 0)};
  if (!route.withhold({vector, drop.where}))
    throw BadInput(fmt::format("error: invalid drop '{}@{}' (transition {} does not carry {})",
                               drop.what, drop.where, drop.where, name(vector)));
}

void play_dead(const Hooks& hooks, const Ranks& ranks, int step) {
  const std::string own = std::to_string(ranks.rank);
  if (hooks.die.what == own && hooks.die.where == step) ::raise(SIGKILL);
  if (hooks.stall.what == own && hooks.stall.where == step)
    while (true) ::pause();
}

/// The sum over ranks, on rank 0.
std::vector<Count> summed(const Ranks& ranks, const std::vector<Count>& values) {
  std::vector<Count> sums(values.size());
  check(MPI_Reduce(values.data(), sums.data(), static_cast<int>(values.size()), MPI_INT64_T,
                   MPI_SUM, 0, ranks.communicator),
        "MPI_Reduce");
  return sums;
}

/// Seconds of every timed step: of the slowest rank.
std::vector<double> timed_steps(Stage& stage, Post& post, const Hooks& hooks, int num_steps) {
  std::vector<double> own;
  for (int step = 0; step <= num_steps; ++step) {
    post.meet();
    play_dead(hooks, post.ranks(), step);
    const double begin = MPI_Wtime();
    stage.run(step == 0 ? Scrutiny::every_element : Scrutiny::samples);
    if (step > 0) own.push_back(MPI_Wtime() - begin);
    post.flush();
  }
  post.meet();
  std::vector<double> slowest(own.size());
  check(MPI_Reduce(own.data(), slowest.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, 0,
                   post.ranks().communicator),
        "MPI_Reduce");
  std::sort(slowest.begin(), slowest.end());
  return slowest;
}

/// What rank 0 knows at the end.
struct Result {
  SentBytes sent;  // of all stages in all steps
  Count num_checked = 0;
  Count num_late = 0;
  std::vector<double> seconds;  // rising
  Seconds simulated;

  double median() const { return seconds[seconds.size() / 2]; }
  double deviation() const { return median() / simulated.value - 1; }
};

/// Bytes of one direction of a transition in `num_steps` steps, by the model.
Count model_bytes(const PipelinePlan& plan, const Transition& transition, Count num_steps) {
  return transition.vectors * vector_bytes(plan) * plan.num_micro_batches * num_steps;
}

std::string carried(const Route& route, const Transition& transition) {
  if (!route.has_blocks()) return "-";
  if (transition.first_block == transition.end_block) return "none";
  return fmt::format("{}..{}", transition.first_block, transition.end_block - 1);
}

/// Prints a row for each transition. False where other bytes were sent than the model counts.
bool print_bytes(const PipelinePlan& plan, const Route& route, const SentBytes& sent,
                 Count num_steps) {
  fmt::print("{:>10} {:>10} {:>8} {:>8} {:>16} {:>16} {:>16}\n", "transition", "stages", "blocks",
             "vectors", "model bytes", "sent forward", "sent backward");
  bool is_equal = true;
  Count total = 0;
  for (std::size_t i = 0; i < sent.forward.size(); ++i) {
    const Transition& transition = route.traffic().transitions[i];
    const Count model = model_bytes(plan, transition, num_steps);
    const auto place = static_cast<Count>(i);
    const bool is_row_equal = sent.forward[i] == model && sent.backward[i] == model;
    fmt::print("{:>10} {:>10} {:>8} {:>8} {:>16} {:>16} {:>16}{}\n", i,
               fmt::format("{} > {}", place % plan.layout.num_stages,
                           (place + 1) % plan.layout.num_stages),
               carried(route, transition), transition.vectors, model, sent.forward[i],
               sent.backward[i], is_row_equal ? "" : "  WRONG");
    is_equal = is_equal && is_row_equal;
    total += transition.vectors;
  }
  fmt::print("{:>10} {:>10} {:>8} {:>8}\n", "total", "", "", total);
  return is_equal;
}

/// A step is held against the simulation where every stage has a core of its own, and messages are
/// not so large that copying them takes a core's time from the stage that waits.
std::string judgement(const PipelinePlan& plan, const Route& route, const Result& result) {
  constexpr double kWithin = 0.10;
  constexpr Count kLargestMessage = 1'000'000;
  const auto cores = static_cast<Count>(std::thread::hardware_concurrency());
  if (plan.layout.num_stages > cores)
    return fmt::format("not judged: {} stages on {} cores", plan.layout.num_stages, cores);
  if (route.traffic().peak * vector_bytes(plan) > kLargestMessage)
    return "not judged: messages above 1 MB";
  return std::abs(result.deviation()) <= kWithin ? "within 10 %" : "not within 10 %";
}

void print_time(const PipelinePlan& plan, const Route& route, const Result& result) {
  fmt::print(
      "step: measured {:.6f} s (median of {}, {:.6f} to {:.6f}), simulated {:.6f} s, "
      "{:+.1f} % ({})\n",
      result.median(), result.seconds.size(), result.seconds.front(), result.seconds.back(),
      result.simulated.value, 100 * result.deviation(), judgement(plan, route, result));
  fmt::print("checked: {} vectors, each made of what its stage was sent\n", result.num_checked);
  if (result.num_late > 0)
    fmt::print("late: {} tasks took longer than the plan says\n", result.num_late);
}

void write_json(const std::string& file, const Result& result, Count num_steps) {
  if (file.empty()) return;
  const nlohmann::ordered_json json{{"schema", "depthcost-pipeline-run/1"},
                                    {"steps", num_steps},
                                    {"sent_forward_bytes", result.sent.forward},
                                    {"sent_backward_bytes", result.sent.backward},
                                    {"checked_vectors", result.num_checked},
                                    {"late_tasks", result.num_late},
                                    {"step_seconds", result.seconds},
                                    {"median_seconds", result.median()},
                                    {"simulated_seconds", result.simulated.value}};
  std::ofstream out(file);
  out << json.dump(1) << "\n";
  out.close();
  if (!out) throw RankFailure(file + ": cannot be written");
}

int run(const Ranks& ranks, const Arguments& arguments, const std::string& file) {
  const PipelinePlan plan = parse_plan(read_on_first(ranks, file), file);
  require_ranks(ranks, static_cast<int>(plan.layout.num_stages),
                fmt::format("one for each stage of {}", file));
  const int num_steps = arguments.count("steps", 5);
  const Hooks hooks{parse_at(arguments, "drop"), parse_at(arguments, "die"),
                    parse_at(arguments, "stall")};
  Route route(plan);
  withhold(arguments, hooks.drop, route);
  const PipelineWork work = work_of(plan);
  Result result{.simulated = simulate(work).makespan};

  Post post(ranks, kPatience);
  Stage stage(plan, route, work.order, post);
  result.seconds = timed_steps(stage, post, hooks, num_steps);
  result.sent = {summed(ranks, stage.sent().forward), summed(ranks, stage.sent().backward)};
  result.num_checked = summed(ranks, {stage.num_checked()}).front();
  result.num_late = summed(ranks, {stage.num_late()}).front();
  if (!ranks.is_first()) return 0;
  fmt::print("{}: {}, {} stages x {}, {} micro-batches, vectors of {} bytes, {} steps\n", file,
             name(plan.schedule), plan.layout.num_stages, plan.layout.num_virtual_stages,
             plan.num_micro_batches, vector_bytes(plan), num_steps + 1);
  const bool is_equal = print_bytes(plan, route, result.sent, num_steps + 1);
  print_time(plan, route, result);
  write_json(arguments.text("json"), result, num_steps + 1);
  if (!is_equal)
    fmt::print(stderr, "{}: error: other bytes were sent than the model counts\n", file);
  return is_equal ? 0 : 1;
}

int run_all(const Ranks& ranks, const Arguments& arguments) {
  if (arguments.words().empty()) arguments.fail("no plan");
  int exit_code = 0;
  for (const std::string& file : arguments.words())
    exit_code = std::max(exit_code, run(ranks, arguments, file));
  return exit_code;
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  using namespace depthcost::bench;
  return run_ranks(argc, argv, [&](const Ranks& ranks) {
    try {
      return run_all(ranks,
                     Arguments(argc, argv, {"steps", "json", "drop", "die", "stall"}, kUsage));
    } catch (const PlanError& error) {
      throw BadInput(error.what());
    } catch (const depthcost::Infeasible& error) {
      throw BadInput(fmt::format("error: {}", error.what()));
    }
  });
}
