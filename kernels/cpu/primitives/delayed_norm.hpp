// A norm that runs one row behind the code that forms the rows.
// Included once per Highway target, hence the toggle in place of #pragma once.
#if defined(DEPTHCOST_KERNELS_CPU_PRIMITIVES_DELAYED_NORM) == defined(HWY_TARGET_TOGGLE)
#ifdef DEPTHCOST_KERNELS_CPU_PRIMITIVES_DELAYED_NORM
#undef DEPTHCOST_KERNELS_CPU_PRIMITIVES_DELAYED_NORM
#else
#define DEPTHCOST_KERNELS_CPU_PRIMITIVES_DELAYED_NORM
#endif

#include "kernels/cpu/primitives/row.hpp"
#include "kernels/cpu/primitives/threads.hpp"
#include "kernels/cpu/primitives/workspace.hpp"

HWY_BEFORE_NAMESPACE();
namespace depthcost::cpu::HWY_NAMESPACE {

/// The layer inputs of a range of tokens.
template <class T>
struct NextInputs {
  std::size_t hidden_size = 0;
  NextNorm norm;
  T* output = nullptr;  // x (T, d)
  StorePolicy policy = StorePolicy::cached;
};

/// Rows as form(token) makes them: the block functor that it returns leaves a block at (offset,
/// where), and returns what is to be normalised. formed(token) is another that returns it again.
/// Row t is formed while row t - 1 is normalised, so that memory is read and written all the time,
/// which two passes in turn would not do.
template <class T, class Form, class Formed>
HWY_INLINE void norm_behind(const NextInputs<T>& inputs, TokenRange tokens, const Form& form,
                            const Formed& formed) {
  const std::size_t d = inputs.hidden_size;
  const float* gain = inputs.norm.gain;
  double scale = 0;  // of row t - 1
  for (std::size_t t = tokens.begin; t <= tokens.end; ++t) {
    Pair squares = zeros();
    const auto form_row = [&](const auto& before_block) HWY_ATTR {
      const auto form_block = form(t);
      for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
        before_block(i, where);
        const Pair h = form_block(i, where);
        squares = multiply_add(h, h, squares);
      });
    };
    if (t == tokens.begin) {
      form_row([](std::size_t, auto) HWY_ATTR {});
    } else {
      T* x = inputs.output + (t - 1) * d;
      const Vec factor = broadcast(static_cast<float>(scale));
      const auto formed_block = formed(t - 1);
      with_policy(inputs.policy, x, [&](auto chosen) HWY_ATTR {
        const auto norm = [&](std::size_t i, auto where) HWY_ATTR {
          norm_block(formed_block(i, where), factor, gain + i, x + i, where, chosen);
        };
        // The norm first: its load would wait for the store of the sum where rows are 4 KiB apart.
        if (t == tokens.end)
          for_each_block(d, norm);
        else
          form_row(norm);
      });
    }
    scale = inverse_rms(sum(squares), d, inputs.norm.eps);
  }
  hwy::FlushStream();
}

/// Rows that wait in scratch for their norm: that of token t and of the one before.
class FormedRows {
 public:
  FormedRows(Buffer<float>& buffer, std::size_t hidden_size)
      : stride_(padded(hidden_size)), rows_(buffer.at_least(2 * stride_)) {}

  HWY_INLINE float* row(std::size_t token) const { return rows_ + token % 2 * stride_; }

 private:
  std::size_t stride_;
  float* rows_;
};

/// As norm_behind, for rows that wait in scratch. Without a gain a row is the layer's input itself.
template <class T, class Form>
HWY_INLINE void next_inputs(const NextInputs<T>& inputs, TokenRange tokens, Buffer<float>& buffer,
                            const Form& form) {
  const std::size_t d = inputs.hidden_size;
  if (inputs.norm.gain != nullptr) {
    const FormedRows rows(buffer, d);
    const auto form_and_keep = [&](std::size_t t) HWY_ATTR {
      float* row = rows.row(t);
      return [row, form_block = form(t)](std::size_t i, auto where) HWY_ATTR {
        const Pair h = form_block(i, where);
        store_raw(row + i, h);
        return h;
      };
    };
    const auto formed = [&](std::size_t t) HWY_ATTR {
      const float* row = rows.row(t);
      return [row](std::size_t i, auto) HWY_ATTR { return load_raw(row + i); };
    };
    return norm_behind(inputs, tokens, form_and_keep, formed);
  }
  for (std::size_t t = tokens.begin; t < tokens.end; ++t) {
    T* x = inputs.output + t * d;
    const auto form_block = form(t);
    with_policy(inputs.policy, x, [&](auto chosen) HWY_ATTR {
      for_each_block(d, [&](std::size_t i, auto where) HWY_ATTR {
        store_rounded(x + i, form_block(i, where), where, chosen);
      });
    });
  }
  hwy::FlushStream();
}

}  // namespace depthcost::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // DEPTHCOST_KERNELS_CPU_PRIMITIVES_DELAYED_NORM
