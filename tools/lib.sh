# Shared by the scripts of this folder, which source it first. It leaves the shell in the root of the checkout.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

# What somebody's shell may carry and a build must not depend on.
export LC_ALL=C.UTF-8

say() { printf '%s\n' "$*"; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# The comment at the head of a script is its help text.
show_help() { sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$root/tools/${0##*/}"; }

default_jobs() { nproc 2>/dev/null || echo 2; }

passed=0 failed=0 skipped=0
log_folder=$root/build/logs

# run_step NAME COMMAND...: runs the command with its output in a file and prints one line with its seconds. On failure
# it prints the end of the output and returns 1. It leaves the counts to the caller.
run_step() {
  local name=$1 status=0 start=$SECONDS
  shift
  mkdir -p "$log_folder"
  step_log=$log_folder/${name//[^A-Za-z0-9]/-}.log
  printf '%-44s ' "$name"
  "$@" >"$step_log" 2>&1 </dev/null || status=$?
  if [[ $status == 0 ]]; then
    printf 'ok     %4d s\n' $((SECONDS - start))
    return 0
  fi
  printf 'FAILED %4d s (status %d)\n' $((SECONDS - start)) "$status"
  tail -n 60 "$step_log" | sed 's/^/    /'
  say "    all of it: $step_log"
  return 1
}

# build_tree PRESET JOBS [TARGET...]: configures build/PRESET and builds the targets, all by default.
build_tree() {
  local preset=$1 jobs=$2
  shift 2
  cmake --preset "$preset" &&
    cmake --build "build/$preset" --parallel "$jobs" ${1:+--target "$@"}
}
