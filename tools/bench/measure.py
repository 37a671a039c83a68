"""Runs one command to its end and prints what the operating system counted for it, as JSON:
wall, user and system seconds, peak resident memory in KiB, exit code.

    python3 tools/bench/measure.py COMMAND [ARGUMENT...]
"""
import json
import os
import sys
import time

start = time.perf_counter()
pid = os.fork()
if pid == 0:
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, 1)
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
print(json.dumps({'wall': time.perf_counter() - start, 'user': usage.ru_utime, 'sys': usage.ru_stime,
                  'peakKiB': usage.ru_maxrss, 'code': os.waitstatus_to_exitcode(status)}))
