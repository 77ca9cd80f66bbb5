// Turns exceptions into statuses: nothing is thrown across the C interface.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

#include "kernels/c/depthcost.h"

namespace depthcost::c {

/// A failure with a status of its own. Invalid arguments and exhausted memory are exceptions of the
/// standard library.
class Failure : public std::runtime_error {
 public:
  Failure(depthcost_status status, const std::string& text)
      : std::runtime_error(text), status_(status) {}
  depthcost_status status() const { return status_; }

 private:
  depthcost_status status_;
};

/// Text of a fixed size, so that it can report that memory is exhausted.
class ErrorText {
 public:
  const char* text() const { return text_.data(); }

  void set(const char* text) noexcept {
    const std::size_t length = std::min(std::strlen(text), text_.size() - 1);
    std::memcpy(text_.data(), text, length);
    text_[length] = '\0';
  }

 private:
  std::array<char, 1024> text_{};  // the longest of ours are below 200
};

template <class Action>
depthcost_status guarded(ErrorText& error, const Action& action) noexcept {
  const auto failed = [&](depthcost_status status, const char* text) {
    error.set(text);
    return status;
  };
  error.set("");
  try {
    action();
    return DEPTHCOST_OK;
  } catch (const Failure& failure) {
    return failed(failure.status(), failure.what());
  } catch (const std::invalid_argument& invalid) {
    return failed(DEPTHCOST_INVALID_ARGUMENT, invalid.what());
  } catch (const std::bad_alloc&) {
    return failed(DEPTHCOST_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& unforeseen) {
    return failed(DEPTHCOST_INTERNAL_ERROR, unforeseen.what());
  } catch (...) {
    return failed(DEPTHCOST_INTERNAL_ERROR, "unknown exception");
  }
}

}  // namespace depthcost::c
