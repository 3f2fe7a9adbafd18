"""Examples that ``simplugin new`` writes: each a module with its test, and its scenario."""
