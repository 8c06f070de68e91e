"""Drawings of meta-evaluations."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from grammeter.core import FloatArray
from grammeter.meta import TESTED, BetaSweep, MetricMeta, SystemMeta, Windows
from grammeter.rendering import (
    beta_curve,
    check_figure,
    format_number,
    metric_scatters,
    save_figure,
    williams_map,
    window_curve,
)


def check_figures(*paths: str | Path | None) -> None:
    """Refuse figures that could not be drawn in the end, before the work."""
    for path in filter(None, paths):
        check_figure(path)


def draw_systems(result: SystemMeta, path: str | Path) -> None:
    """Draw each metric's scores against people's."""
    scores = {name: metric.scores for name, metric in result.items()}
    captions = {name: _caption(metric) for name, metric in result.items()}
    label = result.design.human.partition("|")[0]  # of a signature only the method
    drawn = metric_scatters(result.human, scores, human_label=label, captions=captions)
    save_figure(drawn, path)


def draw_williams(result: SystemMeta, path: str | Path) -> None:
    """Draw the p-values of Williams' test as squares; none where there is no cell."""
    pvalues = {
        kind: np.array(
            [[rows[a][b].pvalue if b in rows[a] else math.nan for b in result] for a in result]
        )
        for kind, rows in result.williams.items()
    }
    save_figure(williams_map(tuple(result), pvalues), path)


def draw_windows(windows: Windows, path: str | Path) -> None:
    """Draw the correlations by window, those of systems that people cannot tell apart marked."""
    curves: dict[str, dict[str, FloatArray]] = {}
    for kind in TESTED:
        curves[kind] = {}
        for name in windows.signatures:
            row = [window.metrics[name][kind] for window in windows]
            curves[kind][name] = np.array([(c.value, c.low, c.high) for c in row])
    names = [f"{window.first}-{window.last}" for window in windows]
    alike = [window.one_cluster for window in windows]
    save_figure(window_curve(names, curves, alike=alike), path)


def draw_betas(sweep: BetaSweep, path: str | Path) -> None:
    """Draw both correlations over beta."""
    columns = (column.tolist() for column in (sweep.betas, sweep.pearson, sweep.spearman))
    save_figure(beta_curve(*columns), path)


def _caption(metric: MetricMeta) -> str:
    caption = ", ".join(f"{kind} {format_number(metric[kind].value, 3)}" for kind in TESTED)
    return caption + (", sign turned" if "meta-direction" in dict(metric.signature) else "")
