// In the handler only what is async-signal-safe: kill, write, nanosleep and _exit.
#include "microbench/mpi/last_words.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

namespace depthcost::bench {
namespace {

// Of the ranks on this machine, by rank; 0 for the others.
std::vector<pid_t> processes;  // NOLINT
int own_rank = 0;
volatile sig_atomic_t is_said = 0;

bool is_gone(pid_t process) { return ::kill(process, 0) != 0 && errno == ESRCH; }

void say_who_died(int rank) {
  std::array<char, 64> line{};
  std::strcpy(line.data(), "error: rank ");
  std::size_t end = std::strlen(line.data());
  std::array<char, 12> digits{};
  std::size_t count = 0;
  for (int rest = rank; count == 0 || rest > 0; rest /= 10)
    digits[count++] = static_cast<char>('0' + rest % 10);
  while (count > 0) line[end++] = digits[--count];
  std::strcpy(line.data() + end, " has died\n");
  [[maybe_unused]] const auto written =
      ::write(STDERR_FILENO, line.data(), std::strlen(line.data()));
}

void on_end(int) {
  int dead = -1;
  int lowest_alive = own_rank;
  for (int rank = 0; rank < static_cast<int>(processes.size()); ++rank) {
    const pid_t process = processes[static_cast<std::size_t>(rank)];
    if (process == 0) continue;
    if (is_gone(process))
      dead = rank;
    else if (rank < lowest_alive)
      lowest_alive = rank;
  }
  if (dead >= 0 && lowest_alive == own_rank && is_said == 0) say_who_died(dead);
  // The others look too: a process that ended at once would be taken for the one that died.
  const timespec while_others_look{.tv_sec = 0, .tv_nsec = 200'000'000};
  ::nanosleep(&while_others_look, nullptr);
  ::_exit(1);
}

void on_said(int) { is_said = 1; }

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void leave_last_words(const Ranks& ranks) {
  MPI_Comm here = MPI_COMM_NULL;
  check(MPI_Comm_split_type(ranks.communicator, MPI_COMM_TYPE_SHARED, ranks.rank, MPI_INFO_NULL,
                            &here),
        "MPI_Comm_split_type");
  int num_here = 0;
  MPI_Comm_size(here, &num_here);
  const std::array<int, 2> own{ranks.rank, static_cast<int>(::getpid())};
  std::vector<int> all(2 * static_cast<std::size_t>(num_here));
  check(MPI_Allgather(own.data(), 2, MPI_INT, all.data(), 2, MPI_INT, here), "MPI_Allgather");
  MPI_Comm_free(&here);
  own_rank = ranks.rank;
  processes.assign(static_cast<std::size_t>(ranks.size), 0);
  for (std::size_t i = 0; i < all.size(); i += 2)
    processes[static_cast<std::size_t>(all[i])] = all[i + 1];
  handle(SIGUSR1, on_said);
  handle(SIGTERM, on_end);
}

void forget_last_words() { is_said = 1; }

void silence_last_words() {
  is_said = 1;
  for (const pid_t process : processes)
    if (process != 0 && process != ::getpid()) ::kill(process, SIGUSR1);
}

}  // namespace depthcost::bench
