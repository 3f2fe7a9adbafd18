"""One layer that starts, supervises and ends the processes of simulations and runs."""
