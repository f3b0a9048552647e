#!/usr/bin/env bash
# Baselines on this machine's GPU, from the timing tests to a verdict that shows what was kept:
#   tests/gpu/baselines.sh BUILD OUT [TASKS]
# BUILD: build/release; OUT: a folder for the JSON of everything; TASKS: 3/4,3/9,3/43,3/50 unless given. 3/9 is judged, so keep it among them.
# KAGENT_PYTHON as everywhere. Some 4 minutes for these four, most of it torch.compile; exit code 0 if all went as it should.
set -uo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath "$1") out=$2 tasks=${3:-3/4,3/9,3/43,3/50}
mkdir -p "$out"
export KAGENT_ROOT=$root KAGENT_CACHE=$out/cache KAGENT_BUILD=$build
python=${KAGENT_PYTHON:-python3}
failed=0
check() { echo "== $1: $2"; [[ $2 == ok ]] || failed=1; }
said() { if "$@"; then echo ok; else echo "FAILED ($?)"; fi; }

"$python" -B "$root/tests/harness/measure/measure_test.py" > "$out/measure_test.txt" 2>&1
check "timing tests" "$(said test $? -eq 0)"
tail -4 "$out/measure_test.txt"
"$build/bin/kagent" baselines --tasks "$tasks" --json > "$out/baselines.json"
check "measured" "$(said test $? -eq 0)"
begin=$SECONDS
"$build/bin/kagent" baselines --tasks "$tasks" 2> /dev/null | tee "$out/baselines.txt"
check "kept: shown again within 60 s, not measured" "$(said test $((SECONDS - begin)) -lt 60)"
"$build/bin/kagent" judge --task 3/9 --answer "$root/tests/answers/3-9.md" --json > "$out/verdict-3-9.json"
check "judged" "$(said test $? -eq 0)"
check "the verdict has them" "$(said "$python" - "$out/verdict-3-9.json" << 'PY'
import json, sys
b = json.load(open(sys.argv[1]))["baselines"]
for kind, timed in b.items():
    print(kind, {k: timed.get(k) for k in ("from_cache", "passes_official_check", "note", "speedup")}, file=sys.stderr)
assert {"compile", "compile_reduce_overhead"} <= b.keys() and b["compile"]["from_cache"] and "low" not in b["compile"]["speedup"]
assert isinstance(b["eager"]["passes_official_check"], bool)
PY
)"
exit $failed
