// Nothing is posted ahead: every message that begins to arrive is matched where it is noticed. So
// memory is bounded by what is on its way, and no order of sends can block.
#include "microbench/mpi/post.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>

namespace depthcost::bench {
namespace {

constexpr int kSignOfLife = 0;       // tag
constexpr double kBetweenSigns = 1;  // seconds [ours]

// A process that was itself held up has not listened for that long, and must not blame others.
constexpr double kLongestLook = 0.1;  // seconds [ours]

// A yield that takes this long was somebody else's turn on this core: then it is shared. [ours]
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

Post::Post(const Ranks& ranks, double patience)
    : ranks_(ranks), patience_(patience), last_look_(MPI_Wtime()), last_sign_(last_look_) {
  for (const int rank : neighbours_of(ranks)) neighbours_.push_back({rank, 0});
  // Linux lets sleepers wait for 50 us more than they ask for.
  ::prctl(PR_SET_TIMERSLACK, 1000UL);
}

Buffer Post::buffer(std::size_t size) {
  // Messages and vectors have few sizes: one of the right size need not be cleared.
  const auto found = std::find_if(free_.rbegin(), free_.rend(),
                                  [&](const Buffer& buffer) { return buffer.size() == size; });
  if (found == free_.rend()) return Buffer(size);
  std::swap(*found, free_.back());
  Buffer buffer = std::move(free_.back());
  free_.pop_back();
  return buffer;
}

void Post::give_back(Buffer&& buffer) { free_.push_back(std::move(buffer)); }

void Post::send(int to, int tag, Buffer&& message) {
  if (to == ranks_.rank) {
    here_.emplace(Place{to, tag}, std::move(message));
    return;
  }
  leaving_.push_back({.buffer = std::move(message)});
  Moving& moving = leaving_.back();
  check(MPI_Isend(moving.buffer.data(), static_cast<int>(moving.buffer.size()), MPI_BYTE, to, tag,
                  ranks_.communicator, &moving.request),
        "MPI_Isend");
}

void Post::deliver(int to, int tag, Buffer&& message) {
  if (to == ranks_.rank) return send(to, tag, std::move(message));
  leaving_.push_back({.buffer = std::move(message)});
  Moving& moving = leaving_.back();
  check(MPI_Issend(moving.buffer.data(), static_cast<int>(moving.buffer.size()), MPI_BYTE, to, tag,
                   ranks_.communicator, &moving.request),
        "MPI_Issend");
  flush();
}

Buffer Post::take(int from, int tag) {
  auto found = here_.find({from, tag});
  while (found == here_.end()) {
    progress();
    found = here_.find({from, tag});
    if (found == here_.end()) idle();
  }
  Buffer message = std::move(found->second);
  here_.erase(found);
  return message;
}

void Post::flush() {
  while (!leaving_.empty()) {
    progress();
    if (!leaving_.empty()) idle();
  }
}

void Post::meet() {
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Ibarrier(ranks_.communicator, &request), "MPI_Ibarrier");
  for (int is_done = 0; is_done == 0;) {
    check(MPI_Test(&request, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    progress();
    if (is_done == 0) idle();
  }
}

void Post::wait_until(double time) {
  while (MPI_Wtime() < time) {
    progress();
    idle();
  }
}

/// Who yields waits for whole time slices where others want the core; who sleeps is woken in time.
void Post::idle() {
  if (naps_ > 0) {
    --naps_;
    ::nanosleep(&kNap, nullptr);
    return;
  }
  const double before = MPI_Wtime();
  ::sched_yield();
  if (MPI_Wtime() - before > kLateYield) naps_ = kNaps;
}

void Post::progress() {
  receive();
  complete();
  listen(MPI_Wtime());
}

void Post::receive() {
  while (true) {
    int is_there = 0;
    MPI_Message message = MPI_MESSAGE_NULL;
    MPI_Status status;
    check(
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, ranks_.communicator, &is_there, &message, &status),
        "MPI_Improbe");
    if (is_there == 0) return;
    int size = 0;
    MPI_Get_count(&status, MPI_BYTE, &size);
    coming_.push_back({.buffer = buffer(static_cast<std::size_t>(size)),
                       .place = {status.MPI_SOURCE, status.MPI_TAG}});
    Moving& moving = coming_.back();
    check(MPI_Imrecv(moving.buffer.data(), size, MPI_BYTE, &message, &moving.request),
          "MPI_Imrecv");
  }
}

void Post::complete() {
  const auto is_done = [](Moving& moving) {
    int flag = 0;
    check(MPI_Test(&moving.request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    return flag != 0;
  };
  for (auto it = leaving_.begin(); it != leaving_.end();) {
    if (!is_done(*it)) {
      ++it;
      continue;
    }
    give_back(std::move(it->buffer));
    it = leaving_.erase(it);
  }
  for (auto it = coming_.begin(); it != coming_.end();) {
    if (!is_done(*it)) {
      ++it;
      continue;
    }
    for (Neighbour& neighbour : neighbours_)
      if (neighbour.rank == it->place.first) neighbour.silence = 0;
    if (it->place.second != kSignOfLife) here_.emplace(it->place, std::move(it->buffer));
    it = coming_.erase(it);
  }
}

void Post::listen(double now) {
  const double listened = std::min(now - last_look_, kLongestLook);
  last_look_ = now;
  for (Neighbour& neighbour : neighbours_) {
    neighbour.silence += listened;
    if (neighbour.silence > patience_)
      throw RankFailure(
          fmt::format("no message from rank {} for {:g} s", neighbour.rank, patience_));
  }
  if (now - last_sign_ < kBetweenSigns) return;
  last_sign_ = now;
  for (const Neighbour& neighbour : neighbours_) {
    MPI_Request request = MPI_REQUEST_NULL;
    check(
        MPI_Isend(nullptr, 0, MPI_BYTE, neighbour.rank, kSignOfLife, ranks_.communicator, &request),
        "MPI_Isend");
    MPI_Request_free(&request);
  }
}

}  // namespace depthcost::bench
