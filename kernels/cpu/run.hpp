// Every operation on the CPU: SIMD for what the machine has, chosen at run time; threads over
// tokens; rows stay in L1 and L2 between the passes of a norm or a softmax. T is float or Bf16; O
// is T or float. Arguments are checked first (kernels/operations/operations.hpp).
#pragma once

#include "kernels/operations/operations.hpp"

namespace depthcost::cpu {

template <class T>
void run(const ResidualAdd<T>& op);
template <class T>
void run(const ResidualAddRmsNorm<T>& op);
template <class T>
void run(const ScaledAddRmsNorm<T>& op);
template <class T>
void run(const HighwayRmsNorm<T>& op);

template <class T>
void run(const AttnResSinglePass<T>& op);
template <class T, class O>
void run(const AttnResPhase1<T, O>& op);
template <class T, class O>
void run(const AttnResPhase2<T, O>& op);

template <class T>
void run(const MhcPre<T>& op);
template <class T>
void run(const MhcPost<T>& op);
template <class T>
void run(const MhcBoundary<T>& op);
template <class T>
void run(const SinglePassMhc<T>& op);
void run(const Sinkhorn& op);

template <class T>
void run(const HcBoundary<T>& op);

template <class T>
void run(const DenseMix<T>& op);

template <class T>
void run(const UnfusedRmsNorm<T>& op);
template <class T>
void run(const UnfusedStack<T>& op);
template <class T>
void run(const UnfusedKeyNorm<T>& op);
template <class T>
void run(const UnfusedScores<T>& op);
template <class T>
void run(const UnfusedMix<T>& op);

template <class T>
void run(const UnfusedMhcCoefficients<T>& op);
template <class T>
void run(const UnfusedMhcPre<T>& op);
template <class T>
void run(const UnfusedMhcPost<T>& op);
template <class T>
void run(const UnfusedMhcResidual<T>& op);
template <class T>
void run(const UnfusedMhcMerge<T>& op);

}  // namespace depthcost::cpu
