"""R. Bertin, A. Legrand, C. Touati (2007), on fair sharing of a grid by prices.

R. Bertin, A. Legrand, C. Touati (2007). Toward a fully decentralized algorithm for multiple
bag-of-tasks application scheduling on grids. Research report, and slides of the same title.
"""
