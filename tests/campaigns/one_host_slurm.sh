#!/bin/sh
# Slurm on this host alone, without systemd or cgroups, for test_slurm.py. As root, on Debian 12:
#
#   apt-get install --no-install-recommends slurmctld slurmd slurm-client munge
#   tests/campaigns/one_host_slurm.sh start /tmp/slurm
#   SLURM_CONF=/tmp/slurm/slurm.conf pytest tests/campaigns/test_slurm.py
#   tests/campaigns/one_host_slurm.sh stop /tmp/slurm
#
# It uses no file of an installed Slurm's own, and its ports are not the usual ones.
set -eu

usage() { echo "usage: $0 start|stop DIRECTORY" >&2; exit 2; }
[ $# -eq 2 ] || usage
directory=$2

ended() { # Wait until the process of a PID file is gone.
    [ -s "$1" ] || return 0
    pid=$(cat "$1")
    kill "$pid" 2>/dev/null || return 0
    for _ in $(seq 100); do
        kill -0 "$pid" 2>/dev/null || return 0
        sleep 0.1
    done
    kill -9 "$pid"
}

case $1 in
stop)
    export SLURM_CONF="$directory/slurm.conf"
    scancel --user "$(id -un)" 2>/dev/null || true
    for program in slurmd slurmctld munged; do
        ended "$directory/$program.pid"
    done
    ;;
start)
    mkdir -p "$directory/state" "$directory/spool"
    chmod 755 "$directory"
    [ -s "$directory/munge.key" ] || head -c 1024 /dev/urandom > "$directory/munge.key"
    chmod 600 "$directory/munge.key"
    host=$(hostname -s)
    cores=$(nproc)
    memory=$(awk '/MemTotal/ { print int($2 / 1024 * 0.9) }' /proc/meminfo)
    cat > "$directory/slurm.conf" <<CONF
ClusterName=one_host
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=16817
SlurmdPort=16818
SlurmUser=$(id -un)
AuthType=auth/munge
AuthInfo=socket=$directory/munge.socket
CredType=cred/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SwitchType=switch/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
KillWait=2
StateSaveLocation=$directory/state
SlurmdSpoolDir=$directory/spool
SlurmctldPidFile=$directory/slurmctld.pid
SlurmdPidFile=$directory/slurmd.pid
SlurmctldLogFile=$directory/slurmctld.log
SlurmdLogFile=$directory/slurmd.log
NodeName=$host NodeAddr=127.0.0.1 CPUs=$cores RealMemory=$memory State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    export SLURM_CONF="$directory/slurm.conf"
    munged --force --key-file="$directory/munge.key" --socket="$directory/munge.socket" \
        --pid-file="$directory/munged.pid" --log-file="$directory/munged.log" \
        --seed-file="$directory/munged.seed"
    slurmctld -c
    slurmd -c
    for _ in $(seq 100); do
        sinfo --noheader --format=%T 2>/dev/null | grep -q idle && exit 0
        sleep 0.2
    done
    echo "no host of Slurm became idle; see $directory/*.log" >&2
    exit 1
    ;;
*) usage ;;
esac
