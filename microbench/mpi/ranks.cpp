// MPI returns its errors (MPI_ERRORS_RETURN), so that they become exceptions.
#include "microbench/mpi/ranks.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cstdio>

#include "scenarios/text/input_error.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost::bench {
namespace {

/// Written with one call, so that the lines of several ranks do not mix.
void say(const std::string& line) {
  const std::string text = line + "\n";
  std::fflush(stdout);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
}

int end_with_all(int exit_code) {
  // Without the barrier mpirun would end the others as soon as one returns a code that is not 0.
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
  return exit_code;
}

/// mpirun, which forwards what it reads from a pipe, may end at an abort without reading on. So
/// this waits until the pipe is empty, for a second at most.
void wait_until_read(int descriptor) {
  constexpr timespec kBetweenLooks{.tv_sec = 0, .tv_nsec = 1'000'000};
  for (int look = 0; look < 1000; ++look) {
    int unread = 0;
    if (::ioctl(descriptor, FIONREAD, &unread) != 0 || unread == 0) return;
    ::nanosleep(&kBetweenLooks, nullptr);
  }
}

[[noreturn]] void end_all(const std::string& line) {
  say(line);
  wait_until_read(STDERR_FILENO);
  MPI_Abort(MPI_COMM_WORLD, 1);
  ::_exit(1);
}

}  // namespace

void check(int status, const char* call) {
  if (status == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(status, text.data(), &length);
  throw RankFailure(fmt::format("{} failed ({})", call, text.data()));
}

void require_ranks(const Ranks& ranks, int expected, const std::string& what) {
  if (ranks.size == expected) return;
  throw BadInput(fmt::format("error: {} process{} started (mpirun -n {}: {})", ranks.size,
                             ranks.size == 1 ? "" : "es", expected, what));
}

std::string read_on_first(const Ranks& ranks, const std::string& path) {
  std::string text;  // of the file, or why it cannot be read
  std::array<long, 2> length_and_error{};
  if (ranks.is_first()) {
    try {
      text = load_text(path, kMaxMeasuredBytes);
    } catch (const InputError& error) {
      text = error.what();
      length_and_error[1] = 1;
    }
    length_and_error[0] = static_cast<long>(text.size());
  }
  check(MPI_Bcast(length_and_error.data(), 2, MPI_LONG, 0, ranks.communicator), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length_and_error[0]));
  check(MPI_Bcast(text.data(), static_cast<int>(length_and_error[0]), MPI_CHAR, 0,
                  ranks.communicator),
        "MPI_Bcast");
  if (length_and_error[1] != 0) throw BadInput(text);
  return text;
}

int run_ranks(int argc, char** argv, const std::function<int(const Ranks&)>& program) {
  Ranks ranks;
  if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
    std::fputs("error: MPI_Init failed\n", stderr);
    return 2;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &ranks.communicator);
  MPI_Comm_rank(ranks.communicator, &ranks.rank);
  MPI_Comm_size(ranks.communicator, &ranks.size);
  try {
    const int exit_code = program(ranks);
    MPI_Comm_free(&ranks.communicator);
    return end_with_all(exit_code);
  } catch (const BadInput& error) {
    if (ranks.is_first()) say(error.what());
    return end_with_all(2);
  } catch (const std::exception& error) {
    end_all(fmt::format("error: rank {}: {}", ranks.rank, error.what()));
  }
}

}  // namespace depthcost::bench
