// The descriptors of every operation: descriptor(operation) says what it moves on a device.
#pragma once

#include "kernels/cuda/altup_variants.hpp"
#include "kernels/cuda/attnres/depth_attention_variants.hpp"
#include "kernels/cuda/attnres/phase1_variants.hpp"
#include "kernels/cuda/backward/backward_variants.hpp"
#include "kernels/cuda/dense_mix_variants.hpp"
#include "kernels/cuda/eager_gated_variants.hpp"
#include "kernels/cuda/eager_variants.hpp"
#include "kernels/cuda/gated_residual/gated_residual_variants.hpp"
#include "kernels/cuda/hyper_connections_variants.hpp"
#include "kernels/cuda/mhc/mhc_variants.hpp"
#include "kernels/cuda/residual_variants.hpp"
