"""The same work as `traces --no-figures`, as a Python user would write it with json and numpy: extraction from the page,
exact comparison with every NPZ, integrity checks, boundary statistics, and one uncompressed NPZ archive of all arrays.

    python3 tools/bench/peer.py SNAPSHOT_FOLDER OUT_FOLDER
"""
import csv
import hashlib
import json
import math
import pathlib
import sys

import numpy as np

THRESHOLD = 0.1
START = '<script type="application/json" id="data">'


def main(folder, out):
    folder, out = pathlib.Path(folder), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    raw = (folder / 'index.html').read_bytes()
    html_sha256 = hashlib.sha256(raw).hexdigest()
    page = raw.decode('utf-8')
    begin = page.rindex(START) + len(START)
    data = json.loads(page[begin:page.index('</script>', begin)])

    index, rows, archive = [], [], {}
    pooled = {kind: {'transitions': 0, 'sum': 0.0, 'jumps': 0} for kind in ('boundary', 'internal')}
    exceeds = markers = 0
    outcomes = {}
    for i, trace in enumerate(data['traces']):
        path = folder / trace['npz']
        blob = path.read_bytes()
        stored = np.load(path)
        values = np.asarray(trace['values'], dtype=np.float64)
        returns = np.asarray(trace['returns'], dtype=np.float64)
        positions = np.asarray(trace['response_positions'], dtype=np.int64)
        for name, embedded in (('values', values), ('returns', returns), ('response_positions', positions)):
            assert np.array_equal(embedded, stored[name]), (i, name)
            archive[f'trace_{i:03d}_{name}'] = stored[name]
        assert np.isfinite(values).all() and np.isfinite(returns).all()
        assert abs(values.mean() - trace['value_mean']) <= 1e-12
        assert abs(math.sqrt(np.mean((values - returns) ** 2)) - trace['value_rmse']) <= 1e-12
        assert (returns == (1.0 if trace['outcome'] == 'success' else 0.0)).all()
        assert trace['prediction_stage'] == 'before_critic_update'
        gaps = np.diff(positions)
        assert (gaps > 0).all()
        boundary = gaps != 1
        change = np.abs(np.diff(values))
        means = {}
        for kind, mask in (('boundary', boundary), ('internal', ~boundary)):
            part = change[mask]
            pooled[kind]['transitions'] += part.size
            pooled[kind]['sum'] += part.sum()
            pooled[kind]['jumps'] += int((part > THRESHOLD).sum())
            means[kind] = part.mean()
        exceeds += bool(means['boundary'] > means['internal'])
        ends = [text.endswith('<|im_end|>') for text in trace['segment_texts']]
        assert len(ends) == boundary.sum() + 1 and all(ends[:-1])
        markers += sum(ends[:-1])
        at = np.flatnonzero(boundary)
        top = at[np.argmax(change[at])]
        outcomes.setdefault(trace['step'], []).append(trace['outcome'])
        half = len(values) // 2
        rows.append([trace['step'], trace['outcome'], trace['uid'], len(values), int(boundary.sum()), values[0], values[-1],
                     values[-1] - values[0], values.mean(), values[:half].mean(), values[half:].mean(), means['boundary'],
                     means['internal'], int(top), values[top], values[top + 1], values[top + 1] - values[top]])
        index.append({'uid': trace['uid'], 'npz': trace['npz'], 'sha256': hashlib.sha256(blob).hexdigest()})
    assert all(sorted(o) == ['failure', 'success'] for o in outcomes.values())
    assert len({r[2] for r in rows}) == len(rows)

    statistics = {'traces': len(rows), 'tokens': sum(r[3] for r in rows), 'boundaries_with_end_marker': markers,
                  'traces_boundary_exceeds_internal': exceeds}
    for kind, p in pooled.items():
        statistics[kind] = {'transitions': p['transitions'], 'mean_abs_change': p['sum'] / p['transitions'],
                            'jumps': p['jumps'], 'jump_rate': p['jumps'] / p['transitions']}
    statistics['jump_rate_ratio'] = statistics['boundary']['jump_rate'] / statistics['internal']['jump_rate']
    (out / 'critic-trace-statistics.json').write_text(json.dumps(statistics, indent=2))
    (out / 'critic-trace-index.json').write_text(json.dumps(
        {'html_sha256': html_sha256, 'snapshot_time': data['snapshot_time'], 'traces': index}, indent=2))
    with open(out / 'critic-trace-trajectories.csv', 'w', newline='') as file:
        csv.writer(file).writerows(sorted(rows, key=lambda r: r[:3]))
    np.savez(out / 'critic-trace-arrays.npz', **archive)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
