// The segments before the type are the operation.
#include "microbench/results/case_name.hpp"

#include <algorithm>
#include <cstdlib>

namespace depthcost::bench {
namespace {

bool is_type(std::string_view part) { return part == "bf16" || part == "f32"; }

void take(CaseName& name, std::string_view part) {
  const auto colon = part.find(':');
  if (colon != std::string_view::npos)
    name.numbers[part.substr(0, colon)] = std::atof(std::string(part.substr(colon + 1)).c_str());
  else if (part == "cold" || part == "hot")
    name.temperature = part;
  else if (part == "again")
    name.is_again = true;
  else
    name.launch = part;
}

}  // namespace

CaseName parse_case_name(std::string_view text) {
  CaseName name;
  name.backend = text.substr(0, text.find('/'));
  const std::size_t first = std::min(text.size(), name.backend.size() + 1);
  for (std::size_t begin = first; begin < text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    if (!name.type.empty())
      take(name, part);
    else if (is_type(part))
      name.type = part;
    else
      name.operation = text.substr(first, end - first);
    begin = end + 1;
  }
  return name;
}

}  // namespace depthcost::bench
