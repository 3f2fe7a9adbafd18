"""Files from and to data classes: platform and deployment XML, task graphs."""
