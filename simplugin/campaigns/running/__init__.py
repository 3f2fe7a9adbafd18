"""Doing jobs: processes of this host or workers of a cluster, and the coordinator."""
