// No receive is posted ahead: a message is matched when its arrival is noticed. So memory is
// bounded by the messages under way, and no order of sends can block.
#include "microbench/mpi/messenger.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

namespace depthcost::bench {
namespace {

constexpr int kHeartbeat = 0;                  // tag
constexpr double kHeartbeatsUntilTimeout = 5;  // [ours]

// A process that was itself held up has not listened meanwhile, and must not blame others: a longer
// pause between two looks counts as this much.
constexpr double kLongestLook = 0.1;  // seconds [ours]

// A yield that takes this long gave the core to another process: the core is shared. [ours]
constexpr double kLateYield = 100e-6;  // seconds
constexpr int kNaps = 1000;
constexpr timespec kNap{.tv_sec = 0, .tv_nsec = 20'000};

std::vector<int> neighbours_of(const Ranks& ranks) {
  std::vector<int> neighbours;
  if (ranks.size > 1) neighbours.push_back((ranks.rank + 1) % ranks.size);
  if (ranks.size > 2) neighbours.push_back((ranks.rank + ranks.size - 1) % ranks.size);
  return neighbours;
}

}  // namespace

Messenger::Messenger(const Ranks& ranks, double timeout, MessageMemory& memory,
                     std::size_t piece_bytes)
    : ranks_(ranks),
      timeout_(timeout),
      memory_(memory),
      messages_(memory.messages()),
      transport_(transport_for(ranks, memory, messages_, piece_bytes)),
      last_look_(MPI_Wtime()),
      last_heartbeat_(last_look_) {
  for (const int rank : neighbours_of(ranks)) neighbours_.push_back({rank, 0});
  // By default Linux lets a process sleep for 50 us longer than it asks for.
  ::prctl(PR_SET_TIMERSLACK, 1000UL);
}

void Messenger::write(const Region& message, std::size_t offset, const Region& vector) {
  memory_.copy(Way::from_host, message.data() + offset, vector.data(), vector.size());
}

void Messenger::read(Region& vector, const Region& message, std::size_t offset) {
  memory_.copy(Way::to_host, vector.data(), message.data() + offset, vector.size());
}

void Messenger::send(int to, int tag, Region&& message) {
  if (to == ranks_.rank)
    inbox_.emplace(Key{to, tag}, std::move(message));
  else
    transport_->send({to, tag, std::move(message)}, SendMode::standard);
}

void Messenger::send_synchronously(int to, int tag, Region&& message) {
  if (to == ranks_.rank) return send(to, tag, std::move(message));
  transport_->send({to, tag, std::move(message)}, SendMode::synchronous);
  flush();
}

Region Messenger::receive(int from, int tag) {
  auto found = inbox_.find({from, tag});
  while (found == inbox_.end()) {
    progress();
    found = inbox_.find({from, tag});
    if (found == inbox_.end()) idle();
  }
  Region message = std::move(found->second);
  inbox_.erase(found);
  return message;
}

void Messenger::flush() {
  while (!transport_->has_sent_all()) {
    progress();
    if (!transport_->has_sent_all()) idle();
  }
}

void Messenger::barrier() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(ranks_.communicator, &request), "MPI_Ibarrier");
  for (int is_done = 0; is_done == 0;) {
    check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    progress();
    if (is_done == 0) idle();
  }
}

void Messenger::wait_until(double time) {
  while (MPI_Wtime() < time) {
    progress();
    idle();
  }
}

/// A process that yields a shared core waits for whole time slices; one that sleeps is woken in
/// time.
void Messenger::idle() {
  if (naps_ > 0) {
    --naps_;
    ::nanosleep(&kNap, nullptr);
    return;
  }
  const double before = MPI_Wtime();
  ::sched_yield();
  if (MPI_Wtime() - before > kLateYield) naps_ = kNaps;
}

void Messenger::progress() {
  receive_matched();
  transport_->progress(arrived_);
  for (Message& message : arrived_)
    inbox_.emplace(Key{message.rank, message.tag}, std::move(message.content));
  arrived_.clear();
  check_heartbeats(MPI_Wtime());
}

void Messenger::receive_matched() {
  while (true) {
    int is_there = 0;
    MPI_Message matched = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks_.communicator, &is_there, &matched, &status),
        "MPI_Improbe");
    if (is_there == 0) return;
    heard_from(status.MPI_SOURCE);
    if (status.MPI_TAG == kHeartbeat)
      check(MPI_Mrecv(nullptr, 0, MPI_BYTE, &matched, MPI_STATUS_IGNORE), "MPI_Mrecv");
    else
      transport_->receive(matched, status);
  }
}

void Messenger::heard_from(int rank) {
  for (Neighbour& neighbour : neighbours_)
    if (neighbour.rank == rank) neighbour.silence = 0;
}

void Messenger::check_heartbeats(double now) {
  const double listened = std::min(now - last_look_, kLongestLook);
  last_look_ = now;
  for (Neighbour& neighbour : neighbours_) {
    neighbour.silence += listened;
    if (neighbour.silence > timeout_)
      throw RankFailure(
          fmt::format("no message from rank {} for {:g} s", neighbour.rank, timeout_));
  }
  if (now - last_heartbeat_ < timeout_ / kHeartbeatsUntilTimeout) return;
  last_heartbeat_ = now;
  for (const Neighbour& neighbour : neighbours_) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(
        MPI_Isend(nullptr, 0, MPI_BYTE, neighbour.rank, kHeartbeat, ranks_.communicator, &request),
        "MPI_Isend");
    MPI_Request_free(&request);
  }
}

}  // namespace depthcost::bench
