# The Debian packages that each script needs, in one place. Sourced by scripts/*.
packages_program="cmake ninja-build g++ libyaml-dev libcli11-dev libfmt-dev nlohmann-json3-dev libeigen3-dev libfast-float-dev libsqlite3-dev zlib1g-dev"
packages_build="$packages_program libhwy-dev libbenchmark-dev"
packages_report="$packages_build gnuplot-nox"
packages_test="$packages_report libgtest-dev librapidcheck-dev libopenmpi-dev openmpi-bin libxml2-utils libnlopt-cxx-dev libboost-context-dev python3-jsonschema python3-yaml"
packages_calibrate="$packages_program libnlopt-cxx-dev"
packages_cluster="$packages_program libhwy-dev libbenchmark-dev libopenmpi-dev openmpi-bin slurm-wlm munge python3"
packages_coverage="clang llvm"
packages_docs="python3-venv"
packages_instructions="valgrind"
packages_wheel="$packages_program libhwy-dev python3-dev python3-venv"
packages_web="emscripten libjs-d3 dpkg-dev chromium chromium-driver"
packages_style="clang-format clang-tidy"
packages_sanitize="clang libomp-dev"

# Installs the missing ones of $@. Without root or sudo it prints the command to run, and exits with
# 2.
install_packages() {
  local missing=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  local as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo)
    elif command -v sudo >/dev/null && [ -t 0 ]; then
      as_root=(sudo)
    else
      echo "run this as root, then again: apt-get update && apt-get install -y --no-install-recommends ${missing[*]}" >&2
      exit 2
    fi
  fi
  echo "installing ${missing[*]}" >&2
  if ! { "${as_root[@]}" apt-get update -qq && DEBIAN_FRONTEND=noninteractive \
    "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}"; } >&2; then
    echo "error: could not install ${missing[*]} (apt-get failed; see above)" >&2
    exit 2
  fi
}
