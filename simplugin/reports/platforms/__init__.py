"""Drawings of platforms: layout, items, and ink."""
