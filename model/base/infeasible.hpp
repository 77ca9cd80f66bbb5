// What the user asks for cannot exist; what() says the problem and (why). The reader adds the
// position.
#pragma once

#include <stdexcept>

namespace depthcost {

class Infeasible : public std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

}  // namespace depthcost
