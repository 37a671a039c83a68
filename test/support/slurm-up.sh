#!/bin/sh
# Starts a Slurm of one node on loopback, as root, with Debian's slurm-wlm and munge:
#
#   slurm-up.sh DIR PORT PORT
#
# All it writes lies in DIR, and it uses two free ports. The node has four CPUs, whatever the machine has. A job that does not end
# when it is told to is killed two seconds later. DIR/slurm.conf is the value of SLURM_CONF, and DIR/*.pid name what runs.
set -eu
mkdir -p "$1/state" "$1/spool"
dir=$(CDPATH='' cd -- "$1" && pwd)
host=$(uname -n)
host=${host%%.*}
cat >"$dir/slurm.conf" <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$2
SlurmdPort=$3
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
MailProg=/bin/true
MinJobAge=86400
KillWait=2
SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 RealMemory=8192
PartitionName=test Nodes=$host Default=YES MaxTime=INFINITE
CONF
# Nothing here uses control groups. A container may have none, which only the plugin of the first version takes.
echo CgroupPlugin=cgroup/v1 >"$dir/cgroup.conf"
export SLURM_CONF="$dir/slurm.conf"
mungekey --create --keyfile="$dir/munge.key"
munged --force --socket="$dir/munge.socket" --key-file="$dir/munge.key" --pid-file="$dir/munged.pid" \
  --log-file="$dir/munged.log" --seed-file="$dir/munge.seed"
slurmctld
slurmd
tries=0
until sinfo --noheader --format=%t 2>/dev/null | grep -q idle; do
  tries=$((tries + 1))
  [ "$tries" -lt 300 ] || { echo "slurm-up.sh: the node did not come up, see $dir/*.log" >&2; exit 1; }
  sleep 0.2
done
