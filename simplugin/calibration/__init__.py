"""Parameters of scenarios from measurements."""
