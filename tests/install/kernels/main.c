/* h += f, with the installed library. */
#include <depthcost/depthcost_family.h>
#include <depthcost/depthcost_unfused.h>

int main(void) {
  _Alignas(16) float hidden_state[2] = {1, 2};
  _Alignas(16) float layer_output[2] = {10, 20};
  const depthcost_target target = {.backend = DEPTHCOST_CPU};
  const depthcost_residual_add_args args = {DEPTHCOST_F32, 1, 2, hidden_state, layer_output};
  return depthcost_residual_add(&target, &args) == DEPTHCOST_OK && hidden_state[1] == 22 ? 0 : 1;
}
