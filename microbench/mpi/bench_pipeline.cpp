// Runs pipeline plans (microbench/mpi/plan_file.hpp) one after the other, one process per stage:
//
//   mpirun -n P bench_pipeline PLAN.json... [--steps N] [--json FILE] [--memory M] [--piece BYTES]
//
// or under Slurm, on any number of machines. FILE takes the numbers of the last plan.
//
// Messages are real and of the model's sizes. They lie in memory M: "host", "device" (CUDA; the
// default where every stage has a device; staged through the host in pieces of BYTES where MPI
// cannot reach it) or "staged" (staged in any case). Layers are timed waits of the host. Before
// every layer the stage checks that it holds each source of the layer, computed from the messages
// that it has received. It checks every element in the first step, and a few in the N timed steps
// (default 5). The bytes sent are compared with model/pipeline/pipeline.hpp, and the median step
// with model/pipeline/pipeline_simulation.hpp. The exit code is 0, or 1 where a value or a number
// of bytes is wrong or a process has died, or 2 for bad input.
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <thread>

#include "microbench/harness/slope.hpp"
#include "microbench/mpi/memory_choice.hpp"
#include "microbench/mpi/stage.hpp"
#include "model/base/infeasible.hpp"
#include "scenarios/text/input_error.hpp"

namespace depthcost::bench {
namespace {

constexpr int kPatience = 5;  // seconds of a silent neighbour: all end within 10
constexpr const char* kUsage =
    "mpirun -n P bench_pipeline PLAN.json... [--steps N] [--json FILE] [--memory "
    "host|device|staged] [--piece BYTES]";

/// Options that kUsage leaves out are for tests, as is --memory emulated, host memory that behaves
/// like a device's. Step 0 is the one that is checked.
const std::vector<std::string> kOptions{
    "steps",    "json", "memory", "piece",
    "drop",      // BLOCK@TRANSITION: its messages lack the block ("partial": the unfinished sum)
    "die",       // RANK@STEP: the process ends as the step begins
    "stall",     // RANK@STEP: it stops there
    "patience",  // SECONDS in place of kPatience
    "lose",      // RANK@COPY: a copy of a piece in emulated memory is left out
};

struct Hooks {
  At drop;
  At die;
  At stall;
};

void withhold(const ProgramOptions& options, const At& drop, Route& route) {
  if (drop.where < 0) return;
  const bool is_sum = drop.what == "partial" || !route.has_blocks();
  const VectorId vector{is_sum ? VectorId::Kind::sum : VectorId::Kind::block,
                        drop.what == "partial" ? 0 : options.parse(drop.what, "drop", 0)};
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

/// Seconds of every timed step on its slowest rank, rising.
std::vector<double> timed_steps(Stage& stage, Messenger& messenger, const Hooks& hooks,
                                int num_steps) {
  std::vector<double> own;
  for (int step = 0; step <= num_steps; ++step) {
    messenger.barrier();
    play_dead(hooks, messenger.ranks(), step);
    const double begin = MPI_Wtime();
    stage.run(step == 0 ? Checked::every_element : Checked::samples);
    if (step > 0) own.push_back(MPI_Wtime() - begin);
    messenger.flush();
  }
  messenger.barrier();
  std::vector<double> slowest(own.size());
  check(MPI_Reduce(own.data(), slowest.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, 0,
                   messenger.ranks().communicator),
        "MPI_Reduce");
  std::sort(slowest.begin(), slowest.end());
  return slowest;
}

/// What rank 0 knows at the end.
struct Result {
  SentBytes sent;  // of all stages in all steps
  Count num_checked = 0;
  Count num_timed = 0;
  Count num_late = 0;
  std::vector<double> seconds;  // rising
  Seconds simulated;

  double median() const { return median_of(seconds); }
  double deviation() const { return median() / simulated.value - 1; }
};

std::string carried(const Route& route, const Transition& transition) {
  if (!route.has_blocks()) return "-";
  if (transition.first_block == transition.end_block) return "none";
  return fmt::format("{}..{}", transition.first_block, transition.end_block - 1);
}

/// Prints a row for each transition. False where other bytes were sent than the model counts.
bool print_bytes(const PipelinePlan& plan, const Route& route, const SentBytes& sent,
                 Count num_steps) {
  fmt::print("{:>10} {:>10} {:>8} {:>8} {:>16} {:>16} {:>16} {:>16}\n", "transition", "stages",
             "blocks", "vectors", "model forward", "sent forward", "model backward",
             "sent backward");
  bool is_equal = true;
  Count total = 0;
  for (std::size_t i = 0; i < sent.forward.size(); ++i) {
    const Transition& transition = route.traffic().transitions[i];
    const Count vectors = transition.vectors * plan.num_micro_batches * num_steps;
    const Count forward = vectors * vector_bytes(plan);
    const Count backward = vectors * gradient_bytes(plan);
    const auto place = static_cast<Count>(i);
    const bool is_row_equal = sent.forward[i] == forward && sent.backward[i] == backward;
    fmt::print("{:>10} {:>10} {:>8} {:>8} {:>16} {:>16} {:>16} {:>16}{}\n", i,
               fmt::format("{} > {}", stage_of_chunk(place, plan.layout.num_stages),
                           stage_of_chunk(place + 1, plan.layout.num_stages)),
               carried(route, transition), transition.vectors, forward, sent.forward[i], backward,
               sent.backward[i], is_row_equal ? "" : "  WRONG");
    is_equal = is_equal && is_row_equal;
    total += transition.vectors;
  }
  fmt::print("{:>10} {:>10} {:>8} {:>8}\n", "total", "", "", total);
  return is_equal;
}

/// A step is compared with the simulation where every stage has a core of its own and messages are
/// so small that copying them takes no time from the stage.
std::string judgement(const PipelinePlan& plan, const Route& route, const Result& result) {
  constexpr double kWithin = 0.10;
  constexpr Count kLargestMessage = 1'000'000;
  const auto cores = static_cast<Count>(std::thread::hardware_concurrency());
  if (plan.layout.num_stages > cores)
    return fmt::format("not judged: {} stages on {} cores", plan.layout.num_stages, cores);
  const Count largest = std::max(vector_bytes(plan), gradient_bytes(plan));
  if (route.traffic().peak * largest > kLargestMessage) return "not judged: messages above 1 MB";
  return std::abs(result.deviation()) <= kWithin ? "within 10 %" : "not within 10 %";
}

/// Without times in the plan there is nothing to compare a step with.
std::string against_simulation(const PipelinePlan& plan, const Route& route, const Result& result) {
  if (result.num_timed == 0) return "not judged: the plan gives its tasks no time";
  return fmt::format("simulated {:.6f} s, {:+.1f} % ({})", result.simulated.value,
                     100 * result.deviation(), judgement(plan, route, result));
}

void print_time(const PipelinePlan& plan, const Route& route, const Result& result) {
  fmt::print("step: measured {:.6f} s (median of {}, {:.6f} to {:.6f}), {}\n", result.median(),
             result.seconds.size(), result.seconds.front(), result.seconds.back(),
             against_simulation(plan, route, result));
  fmt::print("checked: {} vectors, each made of what its stage was sent\n", result.num_checked);
  if (result.num_late > 0)
    fmt::print("late: {} of {} timed tasks took longer than the plan says\n", result.num_late,
               result.num_timed);
}

void write_json(const std::string& file, const Result& result, const MessageMemory& memory,
                Count num_steps) {
  if (file.empty()) return;
  const nlohmann::ordered_json json{{"schema", "depthcost-pipeline-run/1"},
                                    {"memory", memory.name()},
                                    {"steps", num_steps},
                                    {"sent_forward_bytes", result.sent.forward},
                                    {"sent_backward_bytes", result.sent.backward},
                                    {"checked_vectors", result.num_checked},
                                    {"timed_tasks", result.num_timed},
                                    {"late_tasks", result.num_late},
                                    {"step_seconds", result.seconds},
                                    {"median_seconds", result.median()},
                                    {"simulated_seconds", result.simulated.value}};
  std::ofstream out(file);
  out << json.dump(1) << "\n";
  out.close();
  if (!out) throw RankFailure(file + ": cannot be written");
}

int run(const Ranks& ranks, const ProgramOptions& options, MessageMemory& memory,
        const std::string& file) {
  const PipelinePlan plan = parse_plan(read_on_first(ranks, file), file);
  require_ranks(ranks, static_cast<int>(plan.layout.num_stages),
                fmt::format("one for each stage of {}", file));
  const int num_steps = options.count("steps", 5);
  const Hooks hooks{options.at("drop"), options.at("die"), options.at("stall")};
  Route route(plan);
  withhold(options, hooks.drop, route);
  const PipelineWork work = work_of(plan);
  Result result{.simulated = simulate(work).makespan};

  Messenger messenger(
      ranks, options.count("patience", kPatience), memory,
      static_cast<std::size_t>(options.count("piece", static_cast<int>(kPieceBytes))));
  Stage stage(plan, route, work.order, messenger);
  result.seconds = timed_steps(stage, messenger, hooks, num_steps);
  result.sent = {summed(ranks, stage.sent().forward), summed(ranks, stage.sent().backward)};
  result.num_checked = summed(ranks, {stage.num_checked()}).front();
  result.num_timed = summed(ranks, {stage.num_timed()}).front();
  result.num_late = summed(ranks, {stage.num_late()}).front();
  if (!ranks.is_first()) return 0;
  fmt::print("{}: {}, {} stages x {}, {} micro-batches, vectors of {} bytes in {}, {} steps\n",
             file, name(plan.schedule), plan.layout.num_stages, plan.layout.num_virtual_stages,
             plan.num_micro_batches, vector_bytes(plan), memory.name(), num_steps + 1);
  const bool is_equal = print_bytes(plan, route, result.sent, num_steps + 1);
  print_time(plan, route, result);
  write_json(options.text("json"), result, memory, num_steps + 1);
  if (!is_equal)
    fmt::print(stderr, "{}: error: other bytes were sent than the model counts\n", file);
  return is_equal ? 0 : 1;
}

int run_all(const Ranks& ranks, const ProgramOptions& options) {
  if (options.words().empty()) options.fail("no plan");
  const std::unique_ptr<MessageMemory> memory = chosen_memory(ranks, options);
  int exit_code = 0;
  for (const std::string& file : options.words())
    exit_code = std::max(exit_code, run(ranks, options, *memory, file));
  return exit_code;
}

}  // namespace
}  // namespace depthcost::bench

int main(int argc, char** argv) {
  using namespace depthcost::bench;
  return run_ranks(argc, argv, [&](const Ranks& ranks) {
    try {
      return run_all(ranks, ProgramOptions(argc, argv, kOptions, kUsage));
    } catch (const depthcost::InputError& error) {
      throw BadInput(error.what());
    } catch (const depthcost::Infeasible& error) {
      throw BadInput(fmt::format("error: {}", error.what()));
    }
  });
}
