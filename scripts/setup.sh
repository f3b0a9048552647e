# shellcheck shell=bash disable=SC2034,SC2154  # $root comes from ./dev, which uses the package lists
# Set-up for ./dev, sourced by it. Every function may be called again: what is there is left alone, what an interrupted
# call left half done is done anew. Everything printed goes to stderr, so that stdout stays the main job's.

say() { printf 'dev: %s\n' "$*" >&2; }
die() { printf 'dev: %s\n' "$*" >&2; exit 2; }

readonly deps="$root/.deps" venv="$root/.deps/venv"
readonly torch_version=2.11.0
readonly build_packages=(g++ cmake ninja-build ccache libcurl4-openssl-dev nlohmann-json3-dev libfmt-dev libcli11-dev
  libboost-context-dev
  libkainjow-mustache-dev libseccomp-dev libssl-dev libgtest-dev libgmock-dev ca-certificates)
readonly venv_packages=(python3 python3-venv)
readonly fuzz_packages=(clang-14)
readonly test_packages=(clang-format-14 clang-tidy-14 git)
readonly browser_packages=(chromium-headless-shell fonts-dejavu-core)  # continuous integration only; Ubuntu has no such packages
readonly cluster_packages=(slurmctld slurmd slurm-client munge)  # continuous integration only: they bring services

# with_lock NAME WHAT COMMAND...: one process at a time in this checkout for each NAME: set-up, build-PRESET, compilers (one
# build at a time: they need the memory), taken in this order. The lock goes with the process that holds it, however it
# ends; the file says who that is and, in the words of WHAT, for what.
with_lock() {
  local file="$deps/lock-$1" what=$2 fd
  shift 2
  { mkdir -p "$deps" && : >>"$file"; } 2>/dev/null ||
    die "cannot write in $deps: run as the user who owns this checkout, or clone it anew"
  exec {fd}>>"$file"
  if ! flock -n "$fd"; then
    say "waiting for $(<"$file")"
    flock "$fd"
  fi
  echo "./dev $dev_command (process $$): $what" >"$file"
  "$@"
  exec {fd}>&-
}

# --- Debian packages -------------------------------------------------------------------------------------------------

installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

need_packages() {
  local missing=() name as_root=()
  if ! command -v dpkg-query >/dev/null; then
    say "not a Debian or Ubuntu: trusting that what these packages hold is here: $*"
    return
  fi
  for name in "$@"; do installed "$name" || missing+=("$name"); done
  ((${#missing[@]})) || return 0
  if [[ $EUID != 0 ]]; then
    command -v sudo >/dev/null || die "needs these packages and is neither root nor has sudo: apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing Debian packages: ${missing[*]}"
  local apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -o Acquire::Retries=5 -o DPkg::Lock::Timeout=300)
  "${as_root[@]}" dpkg --configure -a >&2 || true  # finishes what an interrupted call left
  "${apt[@]}" update -q >&2 || say "apt-get update failed; trying with the lists that are here"
  "${apt[@]}" install -y -q --no-install-recommends "${missing[@]}" >&2 ||
    die "apt-get could not install: ${missing[*]} (its reason is above); run the same command again once that is solved"
}

# --- Python ----------------------------------------------------------------------------------------------------------

torch_in() { "$1" -c 'import importlib.metadata as m; print(m.version("torch").split("+")[0])' 2>/dev/null; }

# A Python that the user chose with --python is remembered in .deps/python.
use_python() {
  mkdir -p "$deps"
  if [[ $1 == venv ]]; then rm -f "$deps/python"; return; fi
  local path found
  path=$(command -v "$1") || die "--python $1: no such program"
  "$path" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || die "--python $1: needs Python 3.11 or newer"
  found=$(torch_in "$path") || die "--python $1: it has no torch; kagent is pinned to torch $torch_version"
  [[ $found == "$torch_version" ]] ||
    die "--python $1: it has torch $found; kagent's harness is built for $torch_version and loads in no other"
  realpath -s "$path" >"$deps/python"
}

system_python() {
  local candidate
  for candidate in /usr/bin/python3.12 /usr/bin/python3.11 /usr/bin/python3 python3.12 python3.11; do
    "$candidate" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info[:2] not in ((3, 11), (3, 12)))' \
      2>/dev/null && { command -v "$candidate"; return; }
  done
  die "no Python 3.11 or 3.12 with its venv module here; install one, or name one that has torch: ./dev build --python PY"
}

# make_venv DIR REQUIREMENTS MODULE NEED_MB SIZE: a venv in DIR with what scripts/REQUIREMENTS pins, which brings MODULE;
# SIZE says in words what is downloaded.
# Its stamp names what was installed; .installing is there while pip works, so that an interrupted installation is thrown
# away rather than mended (pip's own cache keeps the downloads).
make_venv() {
  local dir=$1 wanted="$root/scripts/$2" module=$3 need_mb=$4 size=$5 stamp base free_mb
  stamp="$dir/.kagent-$(sha256sum <"$wanted" | cut -c1-16)"
  [[ -e $stamp ]] && "$dir/bin/python" -c '' 2>/dev/null && return
  need_packages "${venv_packages[@]}"
  if [[ -e $dir/.installing ]] || ! "$dir/bin/python" -c 'import pip' 2>/dev/null; then rm -rf "$dir"; fi
  if [[ ! -d $dir ]]; then
    base=$(system_python)
    free_mb=$(df -Pm "$deps" | awk 'NR == 2 {print $4}')
    ((free_mb >= need_mb)) || die "$module takes $need_mb MB in $deps and only $free_mb MB are free"
    say "making $dir with $base"
    mkdir "$dir" && touch "$dir/.installing"
    "$base" -m venv "$dir" >&2
  fi
  touch "$dir/.installing"
  say "installing what scripts/$2 names ($size to download)"
  pip_install "$dir/bin/python" "$wanted"
  "$dir/bin/python" -c "import $module" || die "$module was installed and does not import (the reason is above)"
  rm -f "$dir"/.kagent-* "$dir/.installing"
  touch "$stamp"
}

pip_install() {
  local attempt
  for attempt in 1 2 3; do
    "$1" -m pip install -q --disable-pip-version-check --no-input --retries 10 --timeout 60 -r "$2" >&2 && return
    ((attempt == 3)) || { say "pip failed; trying again"; sleep 5; }
  done
  die "pip could not install $2 (its reason is above); run the same command again once that is solved"
}

# A real server that speaks the providers' dialects offline, for tests of the HTTP providers.
need_litellm() { LITELLM_LOCAL_MODEL_COST_MAP=True make_venv "$deps/litellm" requirements-litellm.txt litellm 1500 "about 100 MB"; }

# Sets $python, the one that has torch.
need_python() {
  if [[ -e $deps/python ]]; then
    python=$(<"$deps/python")
    [[ -x $python ]] || die "$python, chosen with --python, is gone; choose again: ./dev build --python PY (or venv)"
  else
    make_venv "$venv" requirements.txt torch 6000 "about 2.5 GB"
    python="$venv/bin/python"
  fi
}

# --- build -----------------------------------------------------------------------------------------------------------

# A translation unit that includes torch takes 1.5 GB.
jobs_for_memory() {
  local by_memory cores
  cores=$(nproc)
  by_memory=$(awk '/MemAvailable/ {print int($2 / 1500000)}' /proc/meminfo)
  ((by_memory >= 1)) || by_memory=1
  echo $((cores < by_memory ? cores : by_memory))
}

# build_preset PRESET [TARGET]: builds it if it is not up to date. What another ./dev builds meanwhile, of another preset,
# is waited for only where there is something to build.
build_preset() { with_lock "build-$1" "build/$1" build_if_needed "$@"; }
build_if_needed() { is_up_to_date "$@" || with_lock compilers "build/$1" configure_and_build "$@"; }

# The stamp of a preset configured for this Python.
stamp_of() {
  printf '%s' "$root/build/$1/.configured-$(printf '%s' "$python" | cat - "$root/CMakePresets.json" | sha256sum | cut -c1-16)"
}

is_up_to_date() {
  [[ -e $(stamp_of "$1") && -e $root/build/$1/build.ninja ]] || return
  ninja -C "$root/build/$1" -n "${2:-all}" 2>/dev/null | grep -q 'no work to do'
}

# configure_and_build PRESET [TARGET]: configures the preset if it never was, or for another Python, and builds it; ninja sees to
# everything else.
configure_and_build() {
  local dir="$root/build/$1" stamp
  stamp=$(stamp_of "$1")
  if [[ ! -e $stamp || ! -e $dir/build.ninja ]]; then
    say "configuring build/$1"
    mkdir -p "$dir"
    (cd "$root" && cmake --preset "$1" -DKAGENT_PYTHON="$python") >"$dir/cmake.log" 2>&1 ||
      { cat "$dir/cmake.log" >&2; die "cmake failed (its reason is above)"; }
    rm -f "$dir"/.configured-*
    touch "$stamp"
    [[ ! $python ]] || summary >&2
  fi
  ninja -C "$dir" -j"$(jobs_for_memory)" "${2:-all}" >&2 || die "the build failed (the compiler's reason is above)"
}

# What was found, in a page.
summary() {
  "$python" "$root/scripts/summary.py" "$(c++ --version | head -1)" "$(cmake --version | head -1)" || true
}
