# Where nvcc is. Sourced by scripts/*.

# True where nvcc is on PATH or where NVIDIA's packages put it; then it is on PATH.
has_nvcc() {
  command -v nvcc >/dev/null && return 0
  [ -x /usr/local/cuda/bin/nvcc ] || return 1
  export PATH="/usr/local/cuda/bin:$PATH"
}
