#!/usr/bin/env bash
# lint.sh format | check-format | tidy BUILD_DIR [FILES...]: formatting and clang-tidy, by pinned versions (14).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sources() {
  git ls-files --cached --others --exclude-standard -- {agent,harness,tests}/'*.cpp' {agent,harness,tests}/'*.h' |
    while read -r file; do if [[ -e $file ]]; then echo "$file"; fi; done
}

# <backtrace.h> is GCC's own.
not_for_clang='^harness/emulate/runtime/report.cpp$'

# A source that passed is not looked at again until it, a header, the settings or its compile command changes.
tidy() {
  local build=$1 cache=.cache/tidy shared files=()
  shift
  if ! grep -qs 'VERSION_CODENAME=bookworm' /etc/os-release; then
    echo "lint: clang-tidy skipped: version 14 reads the standard library of Debian 12, and this is another system"
    return
  fi
  mkdir -p "$cache"
  mapfile -t files < <(if (($#)); then printf '%s\n' "$@"; else sources | grep -E '^(agent|harness)/.*\.cpp$' | grep -v "$not_for_clang"; fi)
  shared=$( (cat .clang-tidy; sources | grep '\.h$' | xargs cat) | sha256sum | cut -c1-16)
  export build cache shared
  # shellcheck disable=SC2016  # the inner shell expands it
  printf '%s\n' "${files[@]}" | xargs -P "$(nproc)" -I{} bash -c 'tidy_one "$1"' _ {}
  echo "lint: clang-tidy: ${#files[@]} sources clean"
}

tidy_one() {
  local stamp
  grep -qF "/$1\"" "$build/compile_commands.json" || return 0  # not part of this build
  stamp="$cache/$(printf '%s' "$shared" | cat - "$1" | sha256sum | cut -c1-32)"
  [[ -e $stamp ]] && return
  clang-tidy-14 --quiet -p "$build" "$1" 2> >(grep -v 'warnings\? generated\|^Suppressed\|^Use -header' >&2 || true) &&
    touch "$stamp"
}
export -f tidy_one

case ${1:-} in
  format) sources | xargs clang-format-14 -i ;;
  check-format) sources | xargs clang-format-14 --dry-run -Werror && echo "lint: formatted" ;;
  tidy) shift; tidy "$@" ;;
  *) echo "usage: lint.sh format | check-format | tidy BUILD_DIR [FILES...]" >&2; exit 2 ;;
esac
