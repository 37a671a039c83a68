#!/bin/sh
# Submits an array of SHARDS tasks and a merge that waits for them, and prints both job numbers.
#
#   deploy/slurm/submit.sh SHARDS OUT PATH… [options of `traces`]
#
# OUT and every PATH lie in a folder that all nodes see. Read from the environment:
#   CRITIC_TRACES   command that runs the program on a node (default: critic-traces)
#   MERGE_OPTIONS   options of `merge`, such as --no-figures (default: none)
#   TASKS           tasks to run, such as 3 or 3,5: those alone, and then the merge (default: all)
set -eu
[ $# -ge 3 ] || { sed -n '4p' "$0" >&2; exit 2; }
SHARDS=$1 OUT=$2
shift 2
case $SHARDS in '' | *[!0-9]* | 0*) echo "submit.sh: wrong number of shards: $SHARDS, expected 1 or more" >&2; exit 2 ;; esac
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
: "${CRITIC_TRACES:=critic-traces}" "${MERGE_OPTIONS:=}" "${TASKS:=0-$((SHARDS - 1))}"
export SHARDS OUT CRITIC_TRACES MERGE_OPTIONS
array=$(sbatch --parsable --export=ALL --array="$TASKS" "$here/shard.sbatch" "$@")
# afterany: the merge starts too where a task failed, and names it.
merge=$(sbatch --parsable --export=ALL --dependency="afterany:${array%%;*}" "$here/merge.sbatch")
echo "array ${array%%;*}, merge ${merge%%;*}"
