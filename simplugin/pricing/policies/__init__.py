"""Methods of sharing by prices: pure iterations, and pure decisions about tasks."""
