// Long work that Ctrl-C ends.
#pragma once

#include <nanobind/nanobind.h>

#include <chrono>
#include <future>
#include <type_traits>

#include "model/base/progress.hpp"

namespace depthcost::python {

// How often Python is asked for signals.
inline constexpr std::chrono::milliseconds kSignalPeriod{50};

/// The result of work(progress), which runs on a thread of its own without the interpreter's lock.
/// If Python raises on a signal meanwhile, the work is stopped and the exception thrown.
template <class Work>
auto interruptible(const Work& work) {
  Progress progress;
  auto result = std::async(std::launch::async, [&] { return work(progress); });
  const nanobind::gil_scoped_release released;
  while (result.wait_for(kSignalPeriod) != std::future_status::ready) {
    const nanobind::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() == 0) continue;
    nanobind::python_error raised;
    progress.is_stopped = true;
    const nanobind::gil_scoped_release again;
    result.wait();
    const nanobind::gil_scoped_acquire to_throw;
    throw raised;
  }
  return result.get();
}

}  // namespace depthcost::python
