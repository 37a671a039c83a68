"""The figures as a matplotlib user would draw them: the same data, decimation, panels and files as figures.ts.

    python3 tools/bench/figures.py DATA.json OUT

Written with matplotlib 3.6. Artists are batched (vlines, hlines, one line per series), fonts are embedded as TrueType.
"""
import json
import os
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import StrMethodFormatter  # noqa: E402

BUCKETS = 900
SUCCESS = dict(strong="#0072b2", faint="#8ec3e3")
FAILURE = dict(strong="#b84a00", faint="#f2b48a")
SLOTS = [dict(strong="#0072b2", faint="#9ccbe6", marker="o", face="#0072b2"), dict(strong="#e69f00", faint="#f8d899", marker="^", face="w")]

plt.rcParams.update({
    "font.size": 8, "axes.titlesize": 8.5, "axes.labelsize": 8, "xtick.labelsize": 8, "ytick.labelsize": 8,
    "legend.fontsize": 8, "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": 0.6,
    "axes.grid": True, "grid.color": "#e9e9e9", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "pdf.fonttype": 42, "svg.hashsalt": "figures",
})


def decimate(values, starts, bucket):
    """First, min, max and last of every bucket; NaN between spans so that no line crosses a boundary."""
    xs, ys = [], []
    for start, end in zip(starts[:-1], starts[1:]):
        for first in range(start, end, bucket):
            part = values[first:min(first + bucket, end)]
            keep = np.unique([0, part.argmin(), part.argmax(), len(part) - 1])
            xs.append(first + keep)
            ys.append(part[keep])
        xs.append([end - 0.5])
        ys.append([np.nan])
    return np.concatenate(xs), np.concatenate(ys)


def heading(ax, letter, title):
    ax.set_title(rf"$\bf{{({letter})}}$  {title}", loc="left")


def overview(ax, traces, key, letter, title, label):
    for outcome, style, marker, face in (("success", SUCCESS, "o", SUCCESS["strong"]), ("failure", FAILURE, "v", "none")):
        own = [t for t in traces if t["outcome"] == outcome]
        ax.plot([t["step"] for t in own], [t[key] for t in own], marker, ms=5, mfc=face, mec=style["strong"], label=outcome)
    if key == "delta":
        ax.axhline(0, color="#4d4d4d", lw=0.8, zorder=1)
    ax.set(xlabel="Trainer step", ylabel=label)
    heading(ax, letter, title)


def example(ax, trace, style, letter, name, label_at):
    values = np.asarray(trace["values"])
    boundaries = np.asarray(trace["boundaries"], dtype=int)
    starts = np.concatenate([[0], boundaries + 1, [len(values)]])
    means = np.add.reduceat(values, starts[:-1]) / np.diff(starts)
    x, y = decimate(values, starts, -(-len(values) // BUCKETS))
    ax.vlines(boundaries + 0.5, 0, 1, transform=ax.get_xaxis_transform(), color="#8c8c8c", lw=0.6, ls=":", zorder=1)
    ax.plot(x, y, color=style["faint"], lw=0.5, zorder=2)
    ax.hlines(means, starts[:-1] - 0.5, starts[1:] - 0.5, color=style["strong"], lw=1.6, zorder=3)
    jump = trace["maxBoundaryJump"]
    ax.plot([jump["from_index"], jump["to_index"]], [jump["from"], jump["to"]], color="k", lw=1.3, zorder=4)
    ax.annotate(
        f"largest boundary jump\n{jump['from']:.3f} → {jump['to']:.3f} ({jump['delta']:+.3f})",
        xy=(jump["from_index"] + 0.5, jump["to"]), xytext=label_at, textcoords="offset points", ha="right", va="center",
        bbox=dict(fc="white", ec="none", alpha=0.9, pad=1), arrowprops=dict(arrowstyle="-|>", fc="k", lw=0.8), zorder=5)
    ax.set(xlabel="Retained token index", ylabel="Value")
    margin = 0.06 * np.ptp(values)
    ax.set_ylim(values.min() - margin, values.max() + margin)  # the guides' 0 to 1 must not count
    ax.set_xlim(-len(values) * 0.006, len(values) * 1.006)
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
    ax.grid(axis="x", visible=False)
    heading(ax, letter, f"{name}: step {trace['step']}, {len(values):,} retained tokens in {len(means)} generated spans")


def critic_traces(data):
    figure = plt.figure(figsize=(7.0, 5.9), layout="constrained")
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.925), h_pad=0.03)
    axes = figure.subplot_mosaic([["a", "b"], ["c", "c"], ["d", "d"]], gridspec_kw={"height_ratios": [73, 83, 83]})
    title(figure, "Critic values by outcome and model turn", data["synthetic"])
    overview(axes["a"], data["traces"], "mean", "a", "Mean value of each trace", "Mean value")
    overview(axes["b"], data["traces"], "delta", "b", "Endpoint difference of each trace", "Last \u2212 first value")
    example(axes["c"], data["success"], SUCCESS, "c", "Success example", (-20, -8))
    example(axes["d"], data["failure"], FAILURE, "d", "Failure example", (-20, 60))
    handles = axes["a"].get_legend_handles_labels()[0] + [
        Line2D([], [], color=SUCCESS["strong"], lw=1.6, label="mean of a generated span"),
        Line2D([], [], color=SUCCESS["faint"], lw=1, label="token values"),
        Line2D([], [], color="#8c8c8c", lw=0.9, ls=":", label="turn boundary"),
    ]
    figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, 0.965), ncol=5, frameon=False)
    return figure


def title(figure, text, synthetic):
    figure.suptitle(text, fontsize=10, fontweight="bold", x=0.01, y=0.99, va="top", ha="left")
    if synthetic:
        figure.text(0.99, 0.988, "synthetic replica", ha="right", va="top", color="#595959")


def curve_panel(ax, panel, letter, x_title):
    scale = panel["scale"]
    if scale["kind"] == "symlog":
        ax.set_yscale("symlog", linthresh=scale["linear_to"])
    elif scale["kind"] == "log":
        ax.set_yscale("log")
    hidden = 0
    for series in panel["series"]:
        style = SLOTS[series["slot"]]
        x, y = np.asarray(series["x"]), np.asarray(series["y"])
        if scale["kind"] == "log":
            hidden += int((y <= 0).sum())
            y = np.where(y > 0, y, np.nan)
        if panel["sparse"]:
            ax.plot(x, y, style["marker"], color=style["strong"], mfc=style["face"], ms=4.5, lw=1, ls="--")
            continue
        if series["smooth"] is not None:
            ax.plot(x, y, color=style["faint"], lw=0.7, zorder=2)
            y = series["smooth"]
        ax.plot(x, y, style["marker"], color=style["strong"], mfc=style["face"], ms=4.5, ls="-", zorder=3,
                lw=0.9 if series["smooth"] is None else 1.6, markevery=max(1, len(x) // 6))
    for guide in panel["guides"]:
        color = "#595959" if guide["series"] is None else SLOTS[guide["series"]]["strong"]
        ax.axhline(guide["value"], color=color, lw=1, ls=":", zorder=4)
        ax.annotate(guide["label"], xy=(1, guide["value"]), xycoords=ax.get_yaxis_transform(), ha="right", va="bottom")
    for mark in panel["series"][0]["marks"]:
        ax.plot([mark["x"]], [mark["y"]], "o", mfc="none", mec="k", ms=7, mew=0.8, zorder=5)
        ax.annotate(mark["label"], xy=(mark["x"], mark["y"]), xytext=(4, 10), textcoords="offset points")
    ax.set(ylabel=panel["yTitle"], xlabel=x_title)
    heading(ax, letter, panel["title"] + (f" ({hidden} not shown: \u2264 0)" if hidden else ""))


def curves(data):
    figure, axes = plt.subplots(2, 2, figsize=(7.0, 348 / 72), layout="constrained", sharex=True)
    figure.get_layout_engine().set(rect=(0, 0, 1, 0.905), h_pad=0.03)
    title(figure, data["title"], data["synthetic"])
    for k, (ax, panel) in enumerate(zip(axes.flat, data["panels"])):
        curve_panel(ax, panel, "abcd"[k], data["xTitle"] if k >= 2 else None)
    handles = [
        Line2D([], [], color=SLOTS[s["slot"]]["strong"], marker=SLOTS[s["slot"]]["marker"], mfc=SLOTS[s["slot"]]["face"], ms=4.5,
               lw=1.6, label=s["title"])
        for s in data["panels"][0]["series"]
    ]
    figure.legend(handles=handles, loc="upper left", bbox_to_anchor=(0.0, 0.957), ncol=5, frameon=False)
    return figure


def main():
    path, out = sys.argv[1:3]
    with open(path, encoding="utf-8") as file:
        data = json.load(file)
    os.makedirs(out, exist_ok=True)
    jobs = [(c["name"], curves, c) for c in data["curves"]] + [("08-critic-traces", critic_traces, data["criticTraces"])]
    for name, draw, what in jobs:
        figure = draw(what)
        for extension, metadata in (("png", {}), ("svg", {"Date": None}), ("pdf", {"CreationDate": None})):
            figure.savefig(os.path.join(out, f"{name}.{extension}"), dpi=300, metadata=metadata)
        plt.close(figure)


if __name__ == "__main__":
    main()
