// Workflow commands that GitHub shows beside a file's lines.
#pragma once

#include <span>
#include <string>

namespace depthcost {

/// GitHub drops what exceeds ten of a kind in one step, in silence.
inline constexpr std::size_t kMostAnnotations = 10;

enum class AnnotationLevel { error, warning };

struct Annotation {
  AnnotationLevel level = AnnotationLevel::error;
  std::string file;
  int line = 1;
  std::string title;
  std::string message;
};

/// One line each: "::error file=F,line=L,title=T::MESSAGE". The first ten of each level, in order.
std::string to_annotations(std::span<const Annotation> annotations);

}  // namespace depthcost
