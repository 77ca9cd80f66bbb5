// mpirun ends every process when one of them dies, and may not say whose number it was. Who is
// ended so looks which process of this machine is gone, and says it.
#pragma once

#include "microbench/mpi/session.hpp"

namespace depthcost::bench {

/// From now on SIGTERM makes the lowest rank that is left say "error: rank R has died", where R ran
/// on the same machine; all end with exit code 1. Collective.
void leave_last_words(const Ranks& ranks);

/// This rank says itself why all of them end: nobody else on this machine need to.
void silence_last_words();

/// All ranks end in good order: this one is to say nothing.
void forget_last_words();

}  // namespace depthcost::bench
