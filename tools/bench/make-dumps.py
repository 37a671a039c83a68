"""Writes the dumps that the benchmark reads: a padded batch as NPZ and a rollout as slime dumps it, with the same samples.

    python3 tools/bench/make-dumps.py FOLDER SAMPLES [TURN [STEP]]

A sample has ten turns of TURN (1,000) tokens with mask 1, and 200 others after each turn but the last. Rows are padded to one length. The `.pt` file is
written without torch: `torch.save` writes a ZIP archive of a pickle and of raw storages.
"""
import io
import pathlib
import pickle
import sys
import types
import zipfile

import numpy as np

TURNS, OBSERVED, PADDING = 10, 200, 500


def rebuild_tensor():
    """Stands for torch._utils._rebuild_tensor_v2, which is named in the pickle and never called."""


class Storage:
    def __init__(self, key, array):
        self.key, self.array = key, array


class Tensor:
    def __init__(self, storage):
        self.storage = storage

    def __reduce__(self):
        return rebuild_tensor, (self.storage, 0, self.storage.array.shape, (1,), False, {})


def storage_class(name):
    cls = type(name, (), {})
    cls.__module__ = 'torch'
    return cls


STORAGES = {'float32': storage_class('FloatStorage'), 'int32': storage_class('IntStorage'), 'int64': storage_class('LongStorage')}


def name_torch():
    torch, utils = types.ModuleType('torch'), types.ModuleType('torch._utils')
    for cls in STORAGES.values():
        setattr(torch, cls.__name__, cls)
    utils._rebuild_tensor_v2, torch._utils = rebuild_tensor, utils
    rebuild_tensor.__module__, rebuild_tensor.__name__, rebuild_tensor.__qualname__ = 'torch._utils', '_rebuild_tensor_v2', '_rebuild_tensor_v2'
    sys.modules.update({'torch': torch, 'torch._utils': utils})


class Pickler(pickle.Pickler):
    def persistent_id(self, item):
        if isinstance(item, Storage):
            return 'storage', STORAGES[item.array.dtype.name], item.key, 'cpu', item.array.size
        return None


class TorchFile:
    def __init__(self):
        self.storages = []

    def tensor(self, array):
        storage = Storage(str(len(self.storages)), array)
        self.storages.append(storage)
        return Tensor(storage)

    def save(self, path, value):
        data = io.BytesIO()
        Pickler(data, protocol=2).dump(value)
        with zipfile.ZipFile(path, 'w') as archive:
            archive.writestr('rollout/data.pkl', data.getvalue())
            archive.writestr('rollout/byteorder', 'little')
            for storage in self.storages:
                archive.writestr(f'rollout/data/{storage.key}', storage.array.tobytes())
            archive.writestr('rollout/version', '3\n')


def main(folder, samples, length_of_turn=1000, step=1):
    name_torch()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(6 + step)
    turn = np.ones(length_of_turn + OBSERVED, dtype=np.int32)
    turn[length_of_turn:] = 0
    mask = np.tile(turn, TURNS)[:-OBSERVED]
    length = mask.size
    values = np.zeros((samples, length + PADDING), dtype=np.float32)
    returns, masks = np.zeros_like(values), np.zeros(values.shape, dtype=np.int32)
    file, rows = TorchFile(), []
    for i in range(samples):
        outcome = float(i % 2)
        values[i, :length] = np.clip(0.5 + 0.02 * random.standard_normal(length).cumsum() / 10, -2, 2)
        returns[i, :length] = outcome
        masks[i, :length] = mask
        rows.append({'rollout_position': i, 'sample_index': i, 'tokens': file.tensor(random.integers(0, 150000, length + 100)),
                     'total_lengths': length + 100, 'response_lengths': length, 'rewards': outcome, 'truncated': 0,
                     'loss_masks': file.tensor(mask), 'values': file.tensor(values[i, :length].copy()),
                     'returns': file.tensor(returns[i, :length].copy())})
    score = np.arange(samples, dtype=np.float64) % 2
    lengths = np.full(samples, length, dtype=np.int64)
    np.savez(folder / f'step_{step}.npz', values=values, returns=returns, response_mask=masks, response_length=lengths, score=score)
    file.save(folder / f'{step}.pt', {'format_version': 2, 'rollout_id': step, 'rank': 0, 'samples': rows, 'dp_shards': [list(range(samples))]})


if __name__ == '__main__':
    main(sys.argv[1], *map(int, sys.argv[2:]))
