// The reference of every operation: run(operation), or run(operation, accessor).
#pragma once

#include "kernels/reference/altup.hpp"
#include "kernels/reference/attnres.hpp"
#include "kernels/reference/backward/attnres.hpp"
#include "kernels/reference/backward/mhc.hpp"
#include "kernels/reference/backward/residual.hpp"
#include "kernels/reference/dense_mix.hpp"
#include "kernels/reference/eager.hpp"
#include "kernels/reference/eager_gated.hpp"
#include "kernels/reference/eager_mhc.hpp"
#include "kernels/reference/gated_residual.hpp"
#include "kernels/reference/hyper_connections.hpp"
#include "kernels/reference/mhc.hpp"
#include "kernels/reference/residual.hpp"
#include "kernels/reference/scaled_residual.hpp"
