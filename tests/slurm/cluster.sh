#!/bin/bash
# A Slurm cluster of this one machine, without root's services: its own configuration, key, ports and state in a folder.
#
#   cluster.sh start FOLDER [NODES]   prints the line `export SLURM_CONF=...`; NODES virtual nodes (default 2)
#   cluster.sh stop FOLDER
#
# exit 77: Slurm is not installed, or is another version than this was written for and does not start (a test is then
# skipped).
set -euo pipefail

command=${1:?start or stop}
folder=$(realpath -m "${2:?a folder}")

free_port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# True once the command that follows succeeds; waits for 15 s at most.
within_15_s() {
  for _ in $(seq 150); do
    if "$@" > "$folder/last" 2>&1; then return 0; fi
    sleep 0.1
  done
  cat "$folder/last" >&2
  return 1
}

start_nodes() {
  local i
  for i in $(seq "$1"); do /usr/sbin/slurmd -N "n$i" || return 1; done
  within_15_s bash -c "[ \"\$(sinfo -h -t idle -o %D)\" = $1 ]"
}

start() {
  local nodes=${1:-2}
  for program in slurmctld slurmd munged sbatch scontrol; do
    if ! PATH=$PATH:/usr/sbin command -v "$program" > /dev/null; then
      echo "$program is not installed: apt-get install slurmctld slurmd slurm-client munge" >&2
      exit 77
    fi
  done
  mkdir -p "$folder"/{munge,state,spool,log,pid}
  chmod 700 "$folder"/munge
  local user port socket
  user=$(id -un)
  socket=$folder/munge/socket
  dd if=/dev/urandom of="$folder/munge/key" bs=1024 count=1 status=none
  chmod 600 "$folder/munge/key"
  /usr/sbin/munged --force --key-file="$folder/munge/key" --socket="$socket" --pid-file="$folder/pid/munged" \
    --log-file="$folder/log/munged" --seed-file="$folder/munge/seed"

  port=$(free_port)
  cat > "$folder/slurm.conf" <<CONF
ClusterName=kagent
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
AuthInfo=socket=$socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool/%n
SlurmctldPidFile=$folder/pid/slurmctld
SlurmdPidFile=$folder/pid/%n
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/%n
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
SchedulerParameters=batch_sched_delay=0,sched_interval=1,requeue_delay=1
ReturnToService=2
SlurmdTimeout=10
KillWait=2
MinJobAge=300
JobRequeue=1
CONF
  for i in $(seq "$nodes"); do
    mkdir -p "$folder/spool/n$i"
    echo "NodeName=n$i NodeHostname=$(hostname -s) NodeAddr=127.0.0.1 Port=$(free_port) CPUs=1 RealMemory=500" >> "$folder/slurm.conf"
  done
  echo "PartitionName=main Nodes=n[1-$nodes] Default=YES MaxTime=INFINITE State=UP" >> "$folder/slurm.conf"

  export SLURM_CONF=$folder/slurm.conf
  # Written for Debian 12's Slurm 22.05; another version that does not start so says nothing about kagent.
  local failed=1
  if [[ $(sbatch --version) != *" 22.05"* ]]; then
    failed=77
    echo 'CgroupPlugin=disabled' > "$folder/cgroup.conf"  # later versions look for cgroups where none are asked for
  fi
  if ! /usr/sbin/slurmctld -c || ! start_nodes "$nodes"; then
    tail -n 20 "$folder"/log/* >&2
    stop
    exit $failed
  fi
  echo "export SLURM_CONF=$SLURM_CONF"
}

# Ends the process of a pid file, and nothing that is not called so.
end() {
  local name=$1 file=$2 pid
  pid=$(cat "$file" 2> "$folder/last") || return 0
  [ "$(cat "/proc/$pid/comm" 2> "$folder/last")" = "$name" ] || return 0
  kill "$pid" || return 0
  for _ in $(seq 100); do [ -e "/proc/$pid" ] || return 0; sleep 0.1; done
  kill -KILL "$pid" || return 0
}

stop() {
  export SLURM_CONF=$folder/slurm.conf
  timeout 5 scancel --quiet --user="$(id -un)" > "$folder/last" 2>&1 || true
  for file in "$folder"/pid/n*; do end slurmd "$file"; done
  end slurmctld "$folder/pid/slurmctld"
  end munged "$folder/pid/munged"
}

case $command in
  start) start "${3:-2}" ;;
  stop) stop ;;
  *) echo "unknown: $command" >&2; exit 2 ;;
esac
