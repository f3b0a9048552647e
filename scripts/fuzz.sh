#!/usr/bin/env bash
# fuzz.sh BIN_DIR SECONDS [TARGET...]: runs the fuzz targets one after another, each from its corpus. What it finds goes
# to .cache/fuzz/TARGET: inputs that reach new code into corpus/, inputs that fail beside it, its output into log.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
bin=$1 seconds=$2
shift 2
known=$(ls tests/fuzz/corpus)
# shellcheck disable=SC2086  # one word a target
(($#)) || set -- $known
failed=()
for target in "$@"; do
  [[ -x $bin/fuzz_$target ]] || { echo "fuzz: no target $target; there are:" $known >&2; exit 2; }
  finds=.cache/fuzz/$target
  mkdir -p "$finds/corpus"
  echo "fuzz: $target for $seconds s"
  nice "$bin/fuzz_$target" -max_total_time="$seconds" -rss_limit_mb=2048 -timeout=10 -print_final_stats=1 \
    -artifact_prefix="$finds/" "$finds/corpus" "tests/fuzz/corpus/$target" >"$finds/log" 2>&1 || failed+=("$target")
  # The last line of progress has the coverage: "#123 DONE cov: 45 ft: ..."
  grep -E '^#[0-9]+.*cov:' "$finds/log" | tail -1 || true
done
for target in "${failed[@]}"; do
  echo "fuzz: $target failed; see .cache/fuzz/$target/log, and for the input:"
  grep -o 'Test unit written to .*' ".cache/fuzz/$target/log" || true
done
((${#failed[@]} == 0))
