// Messages between stages: they are sent and received while a stage does other work, as long as the
// stage calls progress() now and then. Neighbours send each other heartbeats, so that a process
// that has died or hangs is noticed by its neighbours.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "microbench/mpi/transport.hpp"

namespace depthcost::bench {

class Messenger {
 public:
  /// A neighbour from which nothing was received for `timeout` seconds, in which it should have
  /// sent five heartbeats, is taken for dead.
  Messenger(const Ranks& ranks, double timeout, MessageMemory& memory,
            std::size_t piece_bytes = kPieceBytes);
  Messenger(const Messenger&) = delete;
  Messenger& operator=(const Messenger&) = delete;

  const Ranks& ranks() const { return ranks_; }

  /// A vector in the host's memory, of `size` bytes; its content is undefined.
  Region vector(std::size_t size) { return vectors_.take(size); }
  /// A message of `size` bytes; its content is undefined.
  Region message(std::size_t size) { return messages_.take(size); }
  /// Copies the vector to the message's bytes from `offset` on, or these to the vector.
  void write(const Region& message, std::size_t offset, const Region& vector);
  void read(Region& vector, const Region& message, std::size_t offset);

  /// Returns at once. tag > 0.
  void send(int to, int tag, Region&& message);
  /// Returns when the receiver has begun to receive the message, and it has left.
  void send_synchronously(int to, int tag, Region&& message);
  /// Waits for the message of that rank and tag.
  Region receive(int from, int tag);
  /// Waits until everything has left.
  void flush();
  /// Waits until all ranks are here.
  void barrier();
  /// Waits until MPI_Wtime() has come to `time`.
  void wait_until(double time);

  /// Advances all messages. Throws RankFailure for a neighbour that is silent for too long.
  void progress();

 private:
  using Key = std::pair<int, int>;  // rank and tag
  struct Neighbour {
    int rank = 0;
    double silence = 0;  // seconds in which this process has looked for messages
  };

  void idle();
  void receive_matched();
  void heard_from(int rank);
  void check_heartbeats(double now);

  Ranks ranks_;
  double timeout_;
  MessageMemory& memory_;
  Pool messages_;
  Pool vectors_{kHostAllocator};
  std::unique_ptr<Transport> transport_;
  double last_look_ = 0;
  double last_heartbeat_ = 0;
  int naps_ = 0;  // how often to sleep before the core is tried again
  std::multimap<Key, Region> inbox_;
  std::vector<Message> arrived_;
  std::vector<Neighbour> neighbours_;
};

}  // namespace depthcost::bench
