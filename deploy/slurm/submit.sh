#!/bin/sh
# Submits an array of SHARDS tasks and a merge that waits for them, and prints both job numbers.
#
#   deploy/slurm/submit.sh SHARDS OUT PATH… [options of `traces`]
#
# OUT and every PATH lie in a folder that all nodes see. CRITIC_TRACES is the command that runs the program there.
set -eu
[ $# -ge 3 ] || { sed -n '4p' "$0" >&2; exit 2; }
SHARDS=$1 OUT=$2
shift 2
case $SHARDS in '' | *[!0-9]* | 0*) echo "submit.sh: wrong number of shards: $SHARDS, expected 1 or more" >&2; exit 2 ;; esac
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
: "${CRITIC_TRACES:=critic-traces}"
export SHARDS OUT CRITIC_TRACES
array=$(sbatch --parsable --export=ALL --array="0-$((SHARDS - 1))" "$here/shard.sbatch" "$@")
# afterany: a failed task is named by the merge, and the merge is not left waiting for ever.
merge=$(sbatch --parsable --export=ALL --dependency="afterany:${array%%;*}" "$here/merge.sbatch")
echo "array ${array%%;*}, merge ${merge%%;*}"
