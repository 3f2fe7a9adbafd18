"""Plain data that every layer hands upwards: rows of metrics, tables, curves, charts, claims."""
