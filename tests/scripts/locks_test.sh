#!/usr/bin/env bash
# Two ./dev in one checkout: what is up to date waits for no other preset's build, builds take turns, who waits says for
# whom. The compilers are played by a touch of a file, the first of which waits to be let go.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work/release"

# dev_builds COMMAND PRESET: as ./dev COMMAND does it.
dev_builds() {
  bash -c '
    set -euo pipefail
    root=$1 dev_command=$3
    source "$2/scripts/setup.sh"
    is_up_to_date() { [[ -e $root/$1 ]]; }
    configure_and_build() {
      say "builds $1"
      touch "$root/begun"
      until [[ -e $root/go ]]; do sleep 0.05; done
      touch "$root/$1"
    }
    build_preset "$4"' _ "$work" "$source" "$@" 2>"$work/said-$1"
}
fails() { echo "locks_test: $*" >&2; grep . "$work"/said-* >&2; touch "$work/go"; exit 1; }
until_there() { for ((i = 0; i < 400; i++)); do "$@" && return; sleep 0.05; done; fails "waited in vain for: $*"; }

source=$1
dev_builds test dev &
until_there test -e "$work/begun"
dev_builds kagent release
[[ ! -s $work/said-kagent ]] || fails "an up-to-date preset waited or built"
dev_builds fuzz fuzz &
dev_builds tidy dev &
until_there grep -qs 'waiting for ./dev test (process [0-9]*): build/dev' "$work/said-fuzz"
until_there grep -qs 'waiting for ./dev test (process [0-9]*): build/dev' "$work/said-tidy"
[[ ! -e $work/fuzz ]] || fails "two builds at once"
touch "$work/go"
wait
grep -q 'builds fuzz' "$work/said-fuzz" || fails "the one that waited did not build"
! grep -q 'builds' "$work/said-tidy" || fails "what another built was built again"
