"""Multi-clusters from descriptions: sites, clusters, switches and a backbone, with draws."""
