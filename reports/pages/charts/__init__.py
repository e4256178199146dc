"""Our own charts: their geometry is worked out here, and ``templates/charts.html.j2`` draws them as SVG."""
