"""The statistics of quality that `diagnose DUMP --no-figures` gives, as a Python user would compute them with numpy and scikit-learn:
explained variance, error, bias and correlation of all tokens, by decile and by turn from either end, pooled and within each outcome;
AUC by decile; calibration in ten bins; changes at boundaries and inside turns with a sweep of thresholds; and of each the 95 %
interval of 2,000 resamples over trajectories, as products of a matrix of weights with one row of sums a trajectory.

    python3 tools/bench/peer-diagnose.py DUMP OUT_FOLDER

It has no audit of the estimator, no fault, no statistic by step (the dump has one step), hashes nothing and does not fsync.
"""
import importlib.util
import json
import pathlib
import sys
import warnings

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import explained_variance_score, mean_squared_error, roc_auc_score

RESAMPLES, DECILES, BINS, TURNS, AT_ONCE = 2000, 10, 10, 32, 100
SWEEP = np.array([0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10])

spec = importlib.util.spec_from_file_location('peer_dumps', pathlib.Path(__file__).with_name('peer-dumps.py'))
peer_dumps = importlib.util.module_from_spec(spec)
spec.loader.exec_module(peer_dumps)


def sums(values, returns, cuts):
    """n and the sums of V, R, V^2, R^2, (R - V)^2 of each part between cuts."""
    parts = np.stack([np.ones_like(values), values, returns, values ** 2, returns ** 2, (returns - values) ** 2])
    return np.add.reduceat(parts, cuts, axis=1).T


def errors(s):
    """[... x 6] sums to explained variance, mse, bias, correlation."""
    n, v, r, vv, rr, ee = np.moveaxis(s, -1, 0)
    with np.errstate(all='ignore'):
        v, r = v / n, r / n
        var_v, var_r, mse = vv / n - v * v, rr / n - r * r, ee / n
        var_e = mse - (r - v) ** 2
        return np.stack([1 - var_e / var_r, mse, v - r, (var_v + var_r - var_e) / 2 / np.sqrt(var_v * var_r)], -1)


def interval(resampled):
    return np.nanpercentile(resampled, [2.5, 97.5], axis=0)


def auc(weights, score, outcome):
    """AUC of each row of weights: pairs of a success and a failure, ties half."""
    order = np.argsort(score, kind='stable')
    starts = np.flatnonzero(np.r_[True, np.diff(score[order]) != 0])
    w, y = weights[:, order], outcome[order]
    positive, negative = np.add.reduceat(w * y, starts, axis=1), np.add.reduceat(w * (1 - y), starts, axis=1)
    below = np.cumsum(negative, axis=1) - negative / 2
    with np.errstate(all='ignore'):
        return (positive * below).sum(1) / positive.sum(1) / negative.sum(1)


def trajectory(values, returns, positions):
    n = len(values)
    starts = np.flatnonzero(np.r_[True, np.diff(positions) != 1])
    whole = sums(values, returns, [0])
    deciles = sums(values, returns, -(-np.arange(DECILES) * n // DECILES))
    turns = sums(values, returns, starts)[:TURNS]
    from_start, from_end = np.zeros((2, TURNS, 6))
    from_start[:len(turns)], from_end[:len(turns)] = turns, turns[::-1]
    change, boundary = np.abs(np.diff(values)), np.diff(positions) != 1
    kinds = [[part.size, part.sum(), *(part.size - np.searchsorted(np.sort(part), SWEEP, side='right'))]
             for part in (change[boundary], change[~boundary])]
    return whole, deciles, from_start, from_end, np.array(kinds)


def quality(of, outcome, value_bins, random):
    whole, deciles, from_start, from_end, kinds = (np.stack([record[i] for record in of]) for i in range(5))
    n = len(of)
    cells = np.concatenate([whole, deciles, from_start, from_end], axis=1)
    score = cells[:, 1:1 + DECILES, 1] / cells[:, 1:1 + DECILES, 0]
    resampled = {'errors': [], 'changes': [], 'auc': [], 'calibration': []}
    for _ in range(0, RESAMPLES, AT_ONCE):
        weights = random.multinomial(n, np.full(n, 1 / n), AT_ONCE).astype(np.float64)
        resampled['errors'].append(errors((weights @ cells.reshape(n, -1)).reshape(AT_ONCE, -1, 6)))
        k = (weights @ kinds.reshape(n, -1)).reshape(AT_ONCE, 2, -1)
        with np.errstate(all='ignore'):
            resampled['changes'].append(k[..., 1:] / k[..., :1])
        if value_bins is None:
            continue
        resampled['auc'].append(np.stack([auc(weights, score[:, d], outcome) for d in range(DECILES)], -1))
        b = (weights @ value_bins.reshape(n, -1)).reshape(AT_ONCE, BINS, 3)
        resampled['calibration'].append(np.abs(b[..., 2] - b[..., 1]).sum(1) / b[..., 0].sum(1))
    intervals = {name: interval(np.concatenate(list_)).tolist() for name, list_ in resampled.items() if list_}
    total = kinds.sum(0)
    return {'errors': errors(cells.sum(0)).tolist(), 'changes': (total[:, 1:] / total[:, :1]).tolist(), 'intervals': intervals}, score


def main(path, out):
    # turns that no trajectory has are nan
    warnings.simplefilter('ignore')
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    records, outcomes, all_values, all_returns = [], [], [], []
    for values, returns, mask, score in peer_dumps.samples_of(pathlib.Path(path)):
        positions = np.flatnonzero(mask)
        own, own_returns = values[positions].astype(np.float64), returns[positions].astype(np.float64)
        assert np.isfinite(own).all() and np.isfinite(own_returns).all()
        records.append(trajectory(own, own_returns, positions))
        outcomes.append(float(score > 0))
        all_values.append(own)
        all_returns.append(own_returns)
    outcome = np.array(outcomes)
    values, returns = np.concatenate(all_values), np.concatenate(all_returns)
    edges = np.quantile(values, np.arange(1, BINS) / BINS)
    value_bins = []
    for own, y in zip(all_values, outcomes):
        b = np.searchsorted(edges, own, side='right')
        count = np.bincount(b, minlength=BINS)
        value_bins.append(np.stack([count, np.bincount(b, own, BINS), count * y], -1))
    random = np.random.default_rng(0)
    result, score = quality(records, outcome, np.stack(value_bins), random)
    result['explained_variance'] = explained_variance_score(returns, values)
    result['mse'] = mean_squared_error(returns, values)
    result['auc_by_decile'] = [roc_auc_score(outcome, score[:, d]) for d in range(DECILES)]
    inside = np.clip(values, 0, 1)
    result['calibration'] = [list_.tolist() for list_ in calibration_curve(np.repeat(outcome, [len(v) for v in all_values]), inside, n_bins=BINS, strategy='quantile')]
    for name, y in (('success', 1), ('failure', 0)):
        result[name], _ = quality([r for r, o in zip(records, outcomes) if o == y], None, None, random)
    (out / 'quality.json').write_text(json.dumps(result))


if __name__ == '__main__':
    main(sys.argv[1], sys.argv[2])
