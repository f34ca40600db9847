"""The curves of a run as SVG that stands inside a page: no script, no font, no address."""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import matplotlib as mpl
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trainer.metrics import StepMetrics

COLOURS: Final = ("#2563eb", "#d97706", "#059669", "#9333ea", "#db2777", "#475569")
MANY_STEPS: Final = 40
"""From here on a curve is drawn with its running mean over a twentieth of the steps."""

Series = "Mapping[str, Sequence[float | None]]"


@dataclass(frozen=True)
class Plot:
    """One picture of the report."""

    title: str
    caption: str
    svg: str


def draw_plots(history: Sequence[StepMetrics]) -> list[Plot]:
    """Draw what the report shows of training."""
    steps = [metrics.step for metrics in history]

    def plot(
        title: str,
        caption: str,
        series: Mapping[str, Sequence[float | None]],
        top: float | None = None,
    ) -> Plot:
        return Plot(title, caption, _draw(steps, series, top))

    names = list(history[0].paid)
    return [
        plot(
            "Reward per function",
            "Mean score that was paid, before weights",
            {name: [m.paid[name] for m in history] for name in names},
            1,
        ),
        plot(
            "Accuracy",
            "Fraction of training completions that the verifier found right",
            {"accuracy": [m.accuracy for m in history]},
            1,
        ),
        plot(
            "Groups without a signal",
            "Fraction of groups whose rewards do not differ",
            {
                "all right": [m.groups.all_right for m in history],
                "all wrong": [m.groups.all_wrong for m in history],
            },
            1,
        ),
        plot("Entropy", "Nats per token", {"entropy": [m.entropy for m in history]}),
        plot(
            "Completion length",
            "Mean, in tokens",
            {"length": [m.completion_length for m in history]},
        ),
        plot(
            "Verifier latency",
            "Milliseconds from submitting a batch to its verdicts, and those spent waiting",
            {
                "latency": [1000 * m.verifier.latency_seconds for m in history],
                "waited": [1000 * m.seconds.reward_wait for m in history],
            },
        ),
    ]


def _draw(
    steps: Sequence[int], series: Mapping[str, Sequence[float | None]], top: float | None
) -> str:
    figure = Figure(figsize=(5.4, 2.7), layout="constrained")
    axes = figure.add_subplot()
    for (name, values), colour in zip(series.items(), COLOURS, strict=False):
        numbers = [float("nan") if value is None else value for value in values]
        smooth = len(steps) >= MANY_STEPS
        axes.plot(
            steps,
            numbers,
            color=colour,
            linewidth=1,
            alpha=0.3 if smooth else 1,
            marker="" if len(steps) > 1 else "o",
            label="_" if smooth else name,
        )
        if smooth:
            axes.plot(steps, _running_mean(numbers), color=colour, linewidth=1.9, label=name)
    axes.set_xlabel("step", fontsize=8, color="#64748b")
    axes.tick_params(labelsize=8, colors="#64748b", length=0)
    axes.grid(axis="y", color="#e2e8f0", linewidth=0.8)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color("#cbd5e1")
    if top is not None:
        axes.set_ylim(-0.03 * top, 1.03 * top)
    else:
        axes.set_ylim(bottom=0)
    if len(series) > 1:
        axes.legend(fontsize=8, frameon=False, labelcolor="#334155")
    return _to_svg(figure)


def _running_mean(values: Sequence[float]) -> list[float]:
    width = max(len(values) // 20, 1)
    means = []
    for end in range(1, len(values) + 1):
        window = [v for v in values[max(end - width, 0) : end] if v == v]
        means.append(sum(window) / len(window) if window else float("nan"))
    return means


def _to_svg(figure: Figure) -> str:
    buffer = io.StringIO()
    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with mpl.rc_context({"svg.fonttype": "none", "font.family": "sans-serif"}):
        figure.savefig(buffer, format="svg", transparent=True, metadata=nothing)
    # Inside HTML an <svg> needs neither prologue nor namespaces.
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    return re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)
