"""The same work as `traces DUMP --no-figures --no-arrow`, as a Python user would write it with numpy: reads values, returns and
mask, keeps the tokens with mask 1, computes the statistics of boundaries, and writes one uncompressed NPZ archive of all arrays.

    python3 tools/bench/peer-dumps.py DUMP OUT_FOLDER
"""
import csv
import json
import math
import pathlib
import pickle
import sys
import zipfile

import numpy as np

THRESHOLD = 0.1
DTYPES = {'FloatStorage': np.float32, 'IntStorage': np.int32, 'LongStorage': np.int64}


def tensor(storage, offset, shape, stride, *_):
    archive, dtype, key = storage
    return lambda: np.frombuffer(archive.read(f'rollout/data/{key}'), dtype=dtype)[offset:].reshape(shape)


class Unpickler(pickle.Unpickler):
    def __init__(self, file, archive):
        super().__init__(file)
        self.archive = archive

    def find_class(self, module, name):
        return tensor if name == '_rebuild_tensor_v2' else DTYPES[name]

    def persistent_load(self, pid):
        return self.archive, pid[1], pid[2]


def samples_of(path):
    if path.suffix == '.npz':
        batch = np.load(path)
        values, returns, masks = batch['values'], batch['returns'], batch['response_mask']
        for i, (length, score) in enumerate(zip(batch['response_length'], batch['score'])):
            yield values[i, :length], returns[i, :length], masks[i, :length], float(score)
        return
    with zipfile.ZipFile(path) as archive, archive.open('rollout/data.pkl') as file:
        for sample in Unpickler(file, archive).load()['samples']:
            yield sample['values'](), sample['returns'](), sample['loss_masks'](), sample['rewards']


def main(path, out):
    path, out = pathlib.Path(path), pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    rows, archive = [], {}
    pooled = {kind: {'transitions': 0, 'sum': 0.0, 'jumps': 0} for kind in ('boundary', 'internal')}
    exceeds = 0
    for i, (all_values, all_returns, mask, score) in enumerate(samples_of(path)):
        positions = np.flatnonzero(mask).astype(np.int32)
        own, own_returns = all_values[positions], all_returns[positions]
        for name, array in (('values', own), ('returns', own_returns), ('response_positions', positions)):
            archive[f'trace_{i:03d}_{name}'] = array
        values, returns = own.astype(np.float64), own_returns.astype(np.float64)
        assert np.isfinite(values).all() and np.isfinite(returns).all()
        rmse = math.sqrt(np.mean((values - returns) ** 2))
        boundary = np.diff(positions) != 1
        change = np.abs(np.diff(values))
        means = {}
        for kind, chosen in (('boundary', boundary), ('internal', ~boundary)):
            part = change[chosen]
            pooled[kind]['transitions'] += part.size
            pooled[kind]['sum'] += part.sum()
            pooled[kind]['jumps'] += int((part > THRESHOLD).sum())
            means[kind] = part.mean()
        exceeds += bool(means['boundary'] > means['internal'])
        at = np.flatnonzero(boundary)
        top = at[np.argmax(change[at])]
        half = len(values) // 2
        rows.append([i, 'success' if score > 0 else 'failure', len(values), int(boundary.sum()), values[0], values[-1],
                     values[-1] - values[0], values.mean(), rmse, values[:half].mean(), values[half:].mean(), means['boundary'],
                     means['internal'], int(top), values[top], values[top + 1], values[top + 1] - values[top]])
    statistics = {'traces': len(rows), 'tokens': sum(r[2] for r in rows), 'traces_boundary_exceeds_internal': exceeds}
    for kind, p in pooled.items():
        statistics[kind] = {'transitions': p['transitions'], 'mean_abs_change': p['sum'] / p['transitions'],
                            'jumps': p['jumps'], 'jump_rate': p['jumps'] / p['transitions']}
    (out / 'critic-trace-statistics.json').write_text(json.dumps(statistics, indent=2))
    with open(out / 'critic-trace-trajectories.csv', 'w', newline='') as file:
        csv.writer(file).writerows(rows)
    np.savez(out / 'critic-trace-arrays.npz', **archive)


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
