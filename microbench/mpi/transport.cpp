// MPI's calls, and the two ways to use them.
#include "microbench/mpi/transport.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <list>
#include <map>

namespace depthcost::bench {
namespace {

MPI_Request begin_send(const Ranks& ranks, const std::byte* data, std::size_t size,
                       const Message& message, SendMode mode) {
  MPI_Request request = MPI_REQUEST_NULL;
  const auto count = static_cast<int>(size);
  if (mode == SendMode::standard)
    check(MPI_Isend(data, count, MPI_BYTE, message.rank, message.tag, ranks.communicator, &request),
          "MPI_Isend");
  else
    check(
        MPI_Issend(data, count, MPI_BYTE, message.rank, message.tag, ranks.communicator, &request),
        "MPI_Issend");
  return request;
}

bool is_done(MPI_Request& request) {
  int flag = 0;
  check(MPI_Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
  return flag != 0;
}

std::size_t size_of(const MPI_Status& status) {
  int size = 0;
  check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
  return static_cast<std::size_t>(size);
}

/// One message of MPI's for each of ours.
class DirectTransport : public Transport {
 public:
  DirectTransport(const Ranks& ranks, Pool& messages) : ranks_(ranks), messages_(messages) {}

  void send(Message&& message, SendMode mode) override;
  void receive(MPI_Message matched, const MPI_Status& status) override;
  void progress(std::vector<Message>& arrived) override;
  bool has_sent_all() const override { return outgoing_.empty(); }

 private:
  struct Transfer {
    Message message;
    MPI_Request request = MPI_REQUEST_NULL;
  };

  Ranks ranks_;
  Pool& messages_;
  std::list<Transfer> outgoing_;
  std::list<Transfer> incoming_;
};

void DirectTransport::send(Message&& message, SendMode mode) {
  outgoing_.push_back({std::move(message)});
  Transfer& transfer = outgoing_.back();
  const Region& content = transfer.message.content;
  transfer.request = begin_send(ranks_, content.data(), content.size(), transfer.message, mode);
}

void DirectTransport::receive(MPI_Message matched, const MPI_Status& status) {
  const std::size_t size = size_of(status);
  incoming_.push_back({{status.MPI_SOURCE, status.MPI_TAG, messages_.take(size)}});
  Transfer& transfer = incoming_.back();
  check(MPI_Imrecv(transfer.message.content.data(), static_cast<int>(size), MPI_BYTE, &matched,
                   &transfer.request),
        "MPI_Imrecv");
}

void DirectTransport::progress(std::vector<Message>& arrived) {
  outgoing_.remove_if([](Transfer& transfer) { return is_done(transfer.request); });
  incoming_.remove_if([&](Transfer& transfer) {
    if (!is_done(transfer.request)) return false;
    arrived.push_back(std::move(transfer.message));
    return true;
  });
}

constexpr std::size_t kMostPieces = 2;  // of a message: one is copied, one is on the wire [ours]

/// Each message begins with its size, so that the receiver has a place for the pieces, which follow
/// in order; bytes of a message are sent once, as without staging. A sender holds two pieces of a
/// message at a time. A receiver accepts whatever comes, so that no order of sends can block.
class StagedTransport : public Transport {
 public:
  StagedTransport(const Ranks& ranks, MessageMemory& memory, Pool& messages,
                  std::size_t piece_bytes);

  void send(Message&& message, SendMode mode) override;
  void receive(MPI_Message matched, const MPI_Status& status) override;
  void progress(std::vector<Message>& arrived) override;
  bool has_sent_all() const override { return outgoing_.empty(); }

 private:
  enum class State { copying, on_wire };
  struct Piece {
    Region host;
    std::size_t offset = 0;  // in the message
    std::size_t size = 0;
    State state = State::copying;
    MessageMemory::CopyId copy = 0;
    MPI_Request request = MPI_REQUEST_NULL;
  };
  struct Outgoing {
    Message message;
    SendMode mode = SendMode::standard;
    std::uint64_t size = 0;
    MPI_Request size_request = MPI_REQUEST_NULL;
    std::size_t begun = 0;  // bytes
    std::list<Piece> pieces{};
  };
  struct Incoming {
    Region content;
    std::size_t matched = 0;  // bytes
    std::size_t here = 0;
    std::list<Piece> pieces{};
  };

  void begin_pieces(Outgoing& outgoing);
  bool has_left(Outgoing& outgoing);
  bool is_here(Incoming& incoming);

  Ranks ranks_;
  MessageMemory& memory_;
  Pool& messages_;
  Pool staging_;
  std::size_t piece_bytes_;
  std::list<Outgoing> outgoing_;
  std::map<std::pair<int, int>, Incoming> incoming_;  // by rank and tag
};

StagedTransport::StagedTransport(const Ranks& ranks, MessageMemory& memory, Pool& messages,
                                 std::size_t piece_bytes)
    : ranks_(ranks),
      memory_(memory),
      messages_(messages),
      staging_(memory.staging()),
      piece_bytes_(piece_bytes) {}

void StagedTransport::send(Message&& message, SendMode mode) {
  outgoing_.push_back({.message = std::move(message), .mode = mode});
  Outgoing& outgoing = outgoing_.back();
  outgoing.size = outgoing.message.content.size();
  outgoing.size_request = begin_send(ranks_, reinterpret_cast<const std::byte*>(&outgoing.size),
                                     sizeof outgoing.size, outgoing.message, mode);
  begin_pieces(outgoing);
}

void StagedTransport::begin_pieces(Outgoing& outgoing) {
  while (outgoing.begun < outgoing.size && outgoing.pieces.size() < kMostPieces) {
    Piece& piece = outgoing.pieces.emplace_back();
    piece.host = staging_.take(piece_bytes_);
    piece.offset = outgoing.begun;
    piece.size = std::min<std::size_t>(piece_bytes_, outgoing.size - outgoing.begun);
    piece.copy = memory_.begin_copy(Way::to_host, piece.host.data(),
                                    outgoing.message.content.data() + piece.offset, piece.size);
    outgoing.begun += piece.size;
  }
}

bool StagedTransport::has_left(Outgoing& outgoing) {
  for (Piece& piece : outgoing.pieces) {
    if (piece.state == State::on_wire) continue;
    // The receiver knows a piece's place by what has come before it.
    if (!memory_.is_done(piece.copy)) break;
    piece.state = State::on_wire;
    piece.request =
        begin_send(ranks_, piece.host.data(), piece.size, outgoing.message, outgoing.mode);
  }
  outgoing.pieces.remove_if(
      [](Piece& piece) { return piece.state == State::on_wire && is_done(piece.request); });
  begin_pieces(outgoing);
  return outgoing.pieces.empty() && is_done(outgoing.size_request);
}

void StagedTransport::receive(MPI_Message matched, const MPI_Status& status) {
  const auto [found, is_new] = incoming_.try_emplace({status.MPI_SOURCE, status.MPI_TAG});
  Incoming& incoming = found->second;
  if (is_new) {
    std::uint64_t size = 0;
    check(MPI_Mrecv(&size, sizeof size, MPI_BYTE, &matched, MPI_STATUS_IGNORE), "MPI_Mrecv");
    incoming.content = messages_.take(size);
    return;
  }
  Piece& piece = incoming.pieces.emplace_back();
  piece.size = size_of(status);
  piece.offset = incoming.matched;
  piece.state = State::on_wire;
  incoming.matched += piece.size;
  if (incoming.matched > incoming.content.size() || piece.size > piece_bytes_)
    throw RankFailure(fmt::format("a piece of {} bytes has come from rank {} for a message of {}",
                                  piece.size, status.MPI_SOURCE, incoming.content.size()));
  piece.host = staging_.take(piece_bytes_);
  check(MPI_Imrecv(piece.host.data(), static_cast<int>(piece.size), MPI_BYTE, &matched,
                   &piece.request),
        "MPI_Imrecv");
}

bool StagedTransport::is_here(Incoming& incoming) {
  incoming.pieces.remove_if([&](Piece& piece) {
    if (piece.state == State::on_wire && is_done(piece.request)) {
      piece.state = State::copying;
      piece.copy = memory_.begin_copy(Way::from_host, incoming.content.data() + piece.offset,
                                      piece.host.data(), piece.size);
    }
    if (piece.state == State::on_wire || !memory_.is_done(piece.copy)) return false;
    incoming.here += piece.size;
    return true;
  });
  return incoming.here == incoming.content.size();
}

void StagedTransport::progress(std::vector<Message>& arrived) {
  outgoing_.remove_if([&](Outgoing& outgoing) { return has_left(outgoing); });
  for (auto it = incoming_.begin(); it != incoming_.end();) {
    if (!is_here(it->second)) {
      ++it;
      continue;
    }
    arrived.push_back({it->first.first, it->first.second, std::move(it->second.content)});
    it = incoming_.erase(it);
  }
}

}  // namespace

std::unique_ptr<Transport> transport_for(const Ranks& ranks, MessageMemory& memory, Pool& messages,
                                         std::size_t piece_bytes) {
  if (memory.reach() == Reach::by_mpi) return std::make_unique<DirectTransport>(ranks, messages);
  return std::make_unique<StagedTransport>(ranks, memory, messages, piece_bytes);
}

}  // namespace depthcost::bench
