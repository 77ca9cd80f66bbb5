// Computing and checking vectors is part of a task's time. The stage waits for the rest of it.
#include "microbench/mpi/stage.hpp"

namespace depthcost::bench {

Stage::Stage(const PipelinePlan& plan, const Route& route, const PipelineOrder& order,
             Messenger& messenger)
    : plan_(plan),
      route_(route),
      order_(order),
      messenger_(messenger),
      forward_(route, {vector_bytes(plan), plan.bytes_per_element}, messenger),
      gradients_(route, {gradient_bytes(plan), plan.gradient_bytes_per_element}, messenger) {
  sent_.forward.resize(route.traffic().transitions.size());
  sent_.backward = sent_.forward;
}

void Stage::run(Checked checked) {
  for (const PipelineTask& task : order_.stages[static_cast<std::size_t>(messenger_.ranks().rank)])
    run(task, checked);
}

void Stage::run(const PipelineTask& task, Checked checked) {
  Region input = input_of(task);
  const double begin = MPI_Wtime();
  Region output = output_of(task, checked, std::move(input));
  const Seconds seconds = seconds_of(task);
  const double end = begin + seconds.value;
  if (checked == Checked::samples && seconds.value > 0) {
    ++num_timed_;
    if (MPI_Wtime() > end) ++num_late_;
  }
  messenger_.wait_until(end);
  const Count chunk = task.chunk;
  if (task.kind == TaskKind::forward && chunk + 1 < route_.num_chunks())
    send(Direction::forward, chunk, task.micro_batch, std::move(output));
  else if (task.kind == TaskKind::backward_input && chunk > 0)
    unsent_[{chunk, task.micro_batch}] = std::move(output);
  if (hands_gradient_over(task) && chunk > 0)
    send(Direction::backward, chunk - 1, task.micro_batch,
         std::move(unsent_.extract({chunk, task.micro_batch}).mapped()));
}

Region Stage::input_of(const PipelineTask& task) {
  if (task.kind == TaskKind::forward && task.chunk > 0)
    return receive(Direction::forward, task.chunk - 1, task.micro_batch);
  const bool is_handed_gradient = task.chunk + 1 < route_.num_chunks();
  const std::pair pass{task.chunk, task.micro_batch};
  if (task.kind == TaskKind::recompute && is_handed_gradient)
    unread_[pass] = receive(Direction::backward, task.chunk, task.micro_batch);
  if (task.kind != TaskKind::backward_input || !is_handed_gradient) return {};
  if (auto received = unread_.extract(pass)) return std::move(received.mapped());
  return receive(Direction::backward, task.chunk, task.micro_batch);
}

Region Stage::output_of(const PipelineTask& task, Checked checked, Region&& input) {
  const ChunkPass at{task.chunk, task.micro_batch, checked};
  if (task.kind == TaskKind::forward) return forward_.run(at, std::move(input));
  if (task.kind == TaskKind::backward_input) return gradients_.run(at, std::move(input));
  return {};
}

/// Forward messages come from the stage before, gradients from the stage after.
Region Stage::receive(Direction direction, Count transition, Count micro_batch) {
  const Count sender = direction == Direction::forward ? transition : transition + 1;
  return messenger_.receive(static_cast<int>(stage_of_chunk(sender, messenger_.ranks().size)),
                            tag(direction, transition, micro_batch));
}

void Stage::send(Direction direction, Count transition, Count micro_batch, Region&& message) {
  const Count receiver = direction == Direction::forward ? transition + 1 : transition;
  const auto to = static_cast<int>(stage_of_chunk(receiver, messenger_.ranks().size));
  std::vector<Count>& sent = direction == Direction::forward ? sent_.forward : sent_.backward;
  if (to != messenger_.ranks().rank)
    sent[static_cast<std::size_t>(transition)] += static_cast<Count>(message.size());
  if (plan_.sends == Sends::blocking)
    messenger_.send_synchronously(to, tag(direction, transition, micro_batch), std::move(message));
  else
    messenger_.send(to, tag(direction, transition, micro_batch), std::move(message));
}

/// Small enough for any MPI: pipeline_order() limits how often chunks run.
int Stage::tag(Direction direction, Count transition, Count micro_batch) const {
  const Count message = micro_batch * route_.num_chunks() + transition;
  return static_cast<int>(1 + 2 * message + static_cast<int>(direction));
}

Seconds Stage::seconds_of(const PipelineTask& task) const {
  return task_seconds(plan_.chunks[static_cast<std::size_t>(task.chunk)], task.kind);
}

}  // namespace depthcost::bench
