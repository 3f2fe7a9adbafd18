"""O. Beaumont, L. Carter, J. Ferrante, A. Legrand, L. Marchal and Y. Robert (2008).

Centralized versus distributed schedulers for bag-of-tasks applications. IEEE Transactions on
Parallel and Distributed Systems 19(5), 698-709.
"""
