"""Files into validated objects: values with their lines, unit-aware types, located messages."""
