// Through zlib.
#include "profile/traces/unpacked_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <string_view>

#include "scenarios/text/input_error.hpp"
#include "scenarios/text/input_text.hpp"

namespace depthcost {
namespace {

constexpr unsigned kBufferBytes = 1 << 18;

gzFile as_gz(void* file) { return static_cast<gzFile>(file); }

/// Without blocking: the path may have become a FIFO since it was looked at, and some files of the
/// system wait for what is yet to come. Nothing where it cannot be opened.
gzFile opened_by_zlib(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
  if (file < 0) return nullptr;
  const gzFile packed = gzdopen(file, "rb");
  if (packed == nullptr) ::close(file);
  return packed;
}

}  // namespace

void UnpackedFile::Closer::operator()(void* file) const { gzclose(as_gz(file)); }

UnpackedFile::UnpackedFile(const std::string& path, std::uintmax_t max_bytes)
    : path_(path), max_bytes_(max_bytes), file_(opened_by_zlib(path)), buffer_(kBufferBytes) {
  if (!file_) throw InputError({path_, 1, 1}, "cannot read the file (gzip cannot open it)");
  gzbuffer(as_gz(file_.get()), kBufferBytes);
}

std::optional<char> UnpackedFile::first_character() {
  if (sgetc() == traits_type::eof()) return std::nullopt;
  std::string_view read(gptr(), static_cast<std::size_t>(egptr() - gptr()));
  if (read.starts_with(kByteOrderMark)) read.remove_prefix(kByteOrderMark.size());
  const std::size_t at = read.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos) return std::nullopt;
  return read[at];
}

UnpackedFile::int_type UnpackedFile::underflow() {
  const int count = gzread(as_gz(file_.get()), buffer_.data(), kBufferBytes);
  int state = Z_OK;
  gzerror(as_gz(file_.get()), &state);
  if (state != Z_OK && state != Z_STREAM_END)
    throw InputError({path_, 1, 1}, fmt::format("broken gzip file ({})",
                                                state == Z_BUF_ERROR ? "it ends too early"
                                                                     : "its content is damaged"));
  if (count <= 0) return traits_type::eof();
  read_bytes_ += static_cast<std::uintmax_t>(count);
  if (read_bytes_ > max_bytes_)
    throw InputError({path_, 1, 1},
                     fmt::format("trace too large (at most {} MB; profile fewer steps)",
                                 max_bytes_ / 1'000'000));
  setg(buffer_.data(), buffer_.data(), buffer_.data() + count);
  return traits_type::to_int_type(buffer_.front());
}

}  // namespace depthcost
