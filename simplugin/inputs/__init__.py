"""Validation of what users write: sections, quantities, references, parameters and messages."""
