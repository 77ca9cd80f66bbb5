# Finds nvcc. Sourced by scripts/*.

# True if nvcc is on PATH or where NVIDIA's packages put it; adds it to PATH.
has_nvcc() {
  command -v nvcc >/dev/null && return 0
  [ -x /usr/local/cuda/bin/nvcc ] || return 1
  export PATH="/usr/local/cuda/bin:$PATH"
}
