"""Reproductions of the papers: their statements, measured and judged."""
