"""Platforms of given shapes: stars, trees, tori, random graphs."""
