// How messages get from process to process: directly where MPI reaches their memory, else staged in
// pieces through the host's memory, of which one is copied while another is on the wire.
#pragma once

#include <memory>
#include <vector>

#include "microbench/mpi/message_memory.hpp"
#include "microbench/mpi/ranks.hpp"

namespace depthcost::bench {

/// What is sent, and the rank that it goes to or has come from. tag > 0.
struct Message {
  int rank = 0;
  int tag = 0;
  Region content;
};

/// MPI's modes: done when the message may be written to again, or when it is also being received.
enum class SendMode { standard, synchronous };

class Transport {
 public:
  Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;
  virtual ~Transport() = default;

  /// Returns at once. At most one message of a rank and tag at a time.
  virtual void send(Message&& message, SendMode mode) = 0;
  /// Receives what MPI has matched; returns at once.
  virtual void receive(MPI_Message matched, const MPI_Status& status) = 0;
  /// Advances every transfer, and adds to `arrived` what is complete now.
  virtual void progress(std::vector<Message>& arrived) = 0;
  /// Whether nothing is left to send.
  virtual bool has_sent_all() const = 0;
};

/// Bytes of a piece: copying it to a device takes ten times as long as to begin that. [ours]
constexpr std::size_t kPieceBytes = std::size_t{4} << 20U;

/// The one that memory.reach() asks for; `messages` is a pool of memory.messages().
std::unique_ptr<Transport> transport_for(const Ranks& ranks, MessageMemory& memory, Pool& messages,
                                         std::size_t piece_bytes);

}  // namespace depthcost::bench
