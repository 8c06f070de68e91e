"""The figures of results, drawn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from grammeter.core import Figure, Result
from grammeter.rendering import charts, curves
from grammeter.rendering.page import Drawing
from grammeter.rendering.svg import save_figure

CHARTS: Mapping[str, Callable[..., Drawing]] = {
    chart.__name__: chart
    for chart in (
        charts.agreement_matrix,
        charts.head_to_head_map,
        charts.rank_ranges,
        charts.williams_map,
        curves.beta_curve,
        curves.learning_curve,
        curves.metric_scatters,
        curves.series_curves,
        curves.window_curve,
    )
}


def draw(figure: Figure) -> Drawing:
    """Draw a figure that a result offers."""
    return CHARTS[figure.chart](**figure.data)


def save_figures(result: Result, paths: Mapping[str, str | Path | None]) -> None:
    """Draw figures of a result, by name, into files; those without a path are left out."""
    for name, path in paths.items():
        if path:
            save_figure(draw(result.figures()[name]), path)
