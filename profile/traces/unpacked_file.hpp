// A file's content as a stream, unpacked if it was packed by gzip.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <streambuf>
#include <string>
#include <vector>

namespace depthcost {

class UnpackedFile : public std::streambuf {
 public:
  /// Reading more than `max_bytes` of content throws InputError, as does a packed file that is cut
  /// or broken. Throws InputError if the file cannot be opened.
  UnpackedFile(const std::string& path, std::uintmax_t max_bytes);

  /// The first character that is no blank, which stays to be read. Nothing where the file begins
  /// with 256 KiB of blanks, or holds nothing else.
  std::optional<char> first_character();

 protected:
  int_type underflow() override;

 private:
  struct Closer {
    void operator()(void* file) const;
  };

  std::string path_;
  std::uintmax_t max_bytes_;
  std::uintmax_t read_bytes_ = 0;
  std::unique_ptr<void, Closer> file_;  // of zlib, which reads an unpacked file as it is
  std::vector<char> buffer_;
};

}  // namespace depthcost
