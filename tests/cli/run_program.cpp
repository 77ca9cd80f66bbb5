// posix_spawn and wait4, which says what the child used.
#include "tests/cli/run_program.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <stdexcept>
#include <string_view>
#include <thread>

#include "tests/temporary_folder.hpp"

namespace depthcost::test {
namespace {

// Nothing takes so long, sanitized on a busy machine either.
constexpr std::chrono::seconds kPatience{120};

class FileActions {
 public:
  FileActions() { ::posix_spawn_file_actions_init(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }

  void write_to(int descriptor, const std::string& file) {
    ::posix_spawn_file_actions_addopen(&actions_, descriptor, file.c_str(),
                                       O_WRONLY | O_CREAT | O_TRUNC, 0600);
  }
  void run_in(const std::string& folder) {
    ::posix_spawn_file_actions_addchdir_np(&actions_, folder.c_str());
  }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  posix_spawn_file_actions_t actions_;
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  for (std::string& text : strings) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// Ours, with some variables replaced. What CI says of our own run is not the program's.
std::vector<std::string> environment_with(std::vector<std::string> replacements) {
  replacements.emplace_back("GITHUB_STEP_SUMMARY=");
  std::vector<std::string> variables;
  const auto add = [&](const std::string& variable) {
    const std::string name = variable.substr(0, variable.find('=') + 1);
    const bool is_there = std::any_of(variables.begin(), variables.end(),
                                      [&](const auto& it) { return it.starts_with(name); });
    if (!is_there) variables.push_back(variable);
  };
  for (const std::string& replacement : replacements) add(replacement);
  for (char** variable = environ; *variable != nullptr; ++variable) add(*variable);
  return variables;
}

/// The status of waitpid(), after a kill if need be.
int wait_for(pid_t pid, rusage& usage) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  int status = 0;
  while (true) {
    const pid_t ended = ::wait4(pid, &status, WNOHANG, &usage);
    if (ended == pid) return status;
    if (ended < 0 && errno != EINTR) throw std::runtime_error("wait4 failed");
    if (std::chrono::steady_clock::now() > deadline) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

Outcome run_program(const Invocation& invocation) {
  const TemporaryFolder folder;
  FileActions actions;
  actions.write_to(STDOUT_FILENO,
                   invocation.output.empty() ? folder.path("out") : invocation.output);
  actions.write_to(STDERR_FILENO,
                   invocation.errors.empty() ? folder.path("err") : invocation.errors);
  if (!invocation.folder.empty()) actions.run_in(invocation.folder);
  const std::string program = invocation.program.empty() ? DEPTHCOST_PROGRAM : invocation.program;
  std::vector<std::string> arguments{program};
  arguments.insert(arguments.end(), invocation.arguments.begin(), invocation.arguments.end());
  std::vector<std::string> replacements = invocation.variables;
  if (!invocation.path.empty()) replacements.push_back("PATH=" + invocation.path);
  std::vector<std::string> environment = environment_with(std::move(replacements));
  pid_t pid = -1;
  if (::posix_spawn(&pid, program.c_str(), actions.get(), nullptr, pointers(arguments).data(),
                    pointers(environment).data()) != 0)
    throw std::runtime_error("cannot start " + program);
  rusage usage{};
  const int status = wait_for(pid, usage);
  Outcome outcome;
  if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
  if (invocation.output.empty()) outcome.output = content_of(folder.path("out"));
  if (invocation.errors.empty()) outcome.errors = content_of(folder.path("err"));
  outcome.peak_megabytes = static_cast<double>(usage.ru_maxrss) * 1024 / 1e6;
  return outcome;
}

void expect_refusal(const Outcome& outcome, const std::string& line) {
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors, line + "\n");
  EXPECT_EQ(outcome.output, "");
}

void expect_lost_file(const Outcome& outcome, const std::string& line) {
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_EQ(outcome.errors, line + "\n");
  EXPECT_NE(outcome.output, "");
}

}  // namespace depthcost::test
