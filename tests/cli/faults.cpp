// A library that is loaded before others (LD_PRELOAD). It lets the n-th call of one kind fail, or a
// signal come just before it: FAULT=rename:2, FAULT=SIGTERM@rename:2. Calls count from the moment
// at which main() sets how it takes signals.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t number, size_t size);
void* __libc_realloc(void* old, size_t size);
}

namespace {

// NOLINTBEGIN: names are those of the functions that stand behind.
std::atomic<bool> is_counting = false;
std::atomic<long> num_calls = 0;

struct Fault {
  char kind[16] = {};
  long nth = 0;
  int signal = 0;
};

/// Without an allocation.
Fault fault_asked() {
  Fault fault;
  const char* text = std::getenv("FAULT");
  if (text == nullptr) return fault;
  if (std::strncmp(text, "SIGTERM@", 8) == 0) {
    fault.signal = SIGTERM;
    text += 8;
  }
  std::sscanf(text, "%15[a-z]:%ld", fault.kind, &fault.nth);
  return fault;
}

/// Whether this call must fail.
bool fails(const char* kind) {
  static const Fault fault = fault_asked();
  if (!is_counting || std::strcmp(kind, fault.kind) != 0 || ++num_calls != fault.nth) return false;
  if (fault.signal == 0) return true;
  ::kill(::getpid(), fault.signal);
  return false;
}

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

int failure(int error) {
  errno = error;
  return -1;
}

}  // namespace

extern "C" {

sighandler_t signal(int number, sighandler_t handler) noexcept {
  is_counting = true;
  return next<sighandler_t (*)(int, sighandler_t)>("signal")(number, handler);
}

void* malloc(size_t size) {
  if (!fails("malloc")) return __libc_malloc(size);
  errno = ENOMEM;
  return nullptr;
}

void* calloc(size_t number, size_t size) {
  if (!fails("malloc")) return __libc_calloc(number, size);
  errno = ENOMEM;
  return nullptr;
}

void* realloc(void* old, size_t size) {
  if (!fails("malloc")) return __libc_realloc(old, size);
  errno = ENOMEM;
  return nullptr;
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  if (fails("write")) return failure(ENOSPC);
  return next<ssize_t (*)(int, const void*, size_t)>("write")(descriptor, bytes, size);
}

int fsync(int descriptor) {
  if (fails("fsync")) return failure(EIO);
  return next<int (*)(int)>("fsync")(descriptor);
}

int link(const char* from, const char* to) noexcept {
  if (fails("link")) return failure(EIO);
  return next<int (*)(const char*, const char*)>("link")(from, to);
}

int rename(const char* from, const char* to) noexcept {
  if (fails("rename")) return failure(EIO);
  return next<int (*)(const char*, const char*)>("rename")(from, to);
}

int mkdir(const char* path, mode_t mode) noexcept {
  if (fails("mkdir")) return failure(ENOSPC);
  return next<int (*)(const char*, mode_t)>("mkdir")(path, mode);
}

int open(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const mode_t mode = va_arg(rest, mode_t);
  va_end(rest);
  if ((flags & O_CREAT) != 0 && fails("open")) return failure(EMFILE);
  return next<int (*)(const char*, int, mode_t)>("open")(path, flags, mode);
}

}  // extern "C"
// NOLINTEND
