"""Actors of a market: users, a global scheduler, local schedulers and computing peers."""
