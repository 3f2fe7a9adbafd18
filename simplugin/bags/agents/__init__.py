"""The actors of a tree's nodes."""
