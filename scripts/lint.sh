#!/usr/bin/env bash
# lint.sh format | check-format | tidy BUILD_DIR [FILES...]: formatting and clang-tidy, by pinned versions (14).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

sources() {
  git ls-files --cached --others --exclude-standard -- {agent,harness,tests}/'*.cpp' {agent,harness,tests}/'*.h' |
    while read -r file; do if [[ -e $file ]]; then echo "$file"; fi; done
}

tidy() {
  if ! grep -qs 'VERSION_CODENAME=bookworm' /etc/os-release; then
    echo "lint: clang-tidy skipped: version 14 reads the standard library of Debian 12, and this is another system"
    return
  fi
  python3 -B scripts/tidy.py "$@"
}

case ${1:-} in
  format) sources | xargs clang-format-14 -i ;;
  check-format) sources | xargs clang-format-14 --dry-run -Werror && echo "lint: formatted" ;;
  tidy) shift; tidy "$@" ;;
  *) echo "usage: lint.sh format | check-format | tidy BUILD_DIR [FILES...]" >&2; exit 2 ;;
esac
