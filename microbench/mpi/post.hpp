// Messages between stages: sent and received beside whatever a stage does, as long as it looks
// after them now and then. Neighbours tell each other every second that they are alive, so that a
// process which has died or stands still is noticed by whoever would wait for it.
#pragma once

#include <cstddef>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "microbench/mpi/session.hpp"

namespace depthcost::bench {

using Buffer = std::vector<std::byte>;

class Post {
 public:
  /// A neighbour of which nothing was heard for `patience` seconds is taken for dead.
  Post(const Ranks& ranks, double patience);
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  const Ranks& ranks() const { return ranks_; }

  /// Of that size, its content undefined; one that was given back if there is any.
  Buffer buffer(std::size_t size);
  void give_back(Buffer&& buffer);

  /// Returns at once; `message` is given back once it has left. tag > 0.
  void send(int to, int tag, Buffer&& message);
  /// As send(), but waits until the receiver has begun to take the message, and it has left.
  void deliver(int to, int tag, Buffer&& message);
  /// Waits for the message of that rank and tag.
  Buffer take(int from, int tag);
  /// Waits until everything has left.
  void flush();
  /// Until all ranks are here.
  void meet();
  /// Until MPI_Wtime() has come to `time`.
  void wait_until(double time);

  /// Lets messages come and go. Throws RankFailure for a neighbour that is silent.
  void progress();

 private:
  using Place = std::pair<int, int>;  // rank and tag
  struct Moving {
    Buffer buffer;
    MPI_Request request = MPI_REQUEST_NULL;
    Place place{};
  };
  struct Neighbour {
    int rank = 0;
    double silence = 0;  // seconds in which we listened
  };

  void idle();
  void receive();
  void complete();
  void listen(double now);

  Ranks ranks_;
  double patience_;
  double last_look_ = 0;
  double last_sign_ = 0;
  int naps_ = 0;  // until the core is asked for again
  std::list<Moving> leaving_;
  std::list<Moving> coming_;
  std::multimap<Place, Buffer> here_;
  std::vector<Neighbour> neighbours_;
  std::vector<Buffer> free_;
};

}  // namespace depthcost::bench
