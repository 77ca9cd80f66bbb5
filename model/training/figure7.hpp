// [attnres] Fig. 7: losses of models of one size in other shapes.
#pragma once

#include <array>

namespace depthcost {

/// Width over depth against heads over depth, both by decoder layers, at 6.5e19 operations
/// and 2.3e8 active parameters.
inline constexpr std::array<double, 5> kFigure7Widths{15, 30, 45, 60, 75};
inline constexpr std::array<double, 5> kFigure7Heads{0.7, 0.6, 0.5, 0.4, 0.3};

using Figure7 = std::array<std::array<double, 5>, 5>;  // [heads][widths]

/// [attnres] Fig. 7 (a). The starred cell of the last row stands where the text puts it, at
/// width 60.
inline constexpr Figure7 kFigure7Baseline{{{2.017, 1.909, 1.875, 1.851, 1.858},
                                           {1.990, 1.902, 1.862, 1.852, 1.862},
                                           {1.973, 1.883, 1.859, 1.849, 1.854},
                                           {1.952, 1.868, 1.850, 1.849, 1.857},
                                           {1.926, 1.857, 1.851, 1.847, 1.858}}};

/// [attnres] Fig. 7 (b); its star at width 45.
inline constexpr Figure7 kFigure7AttnRes{{{1.954, 1.890, 1.843, 1.828, 1.824},
                                          {1.931, 1.863, 1.830, 1.817, 1.818},
                                          {1.917, 1.841, 1.819, 1.812, 1.817},
                                          {1.893, 1.823, 1.815, 1.813, 1.813},
                                          {1.877, 1.816, 1.802, 1.820, 1.806}}};

}  // namespace depthcost
