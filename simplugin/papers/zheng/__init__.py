"""Global benefit of task bundles on markets of computing peers.

M. Zheng, Z. Hu, P. Xiao, M. Zheng, K. Zhang (2011). A Global Benefit Maximization Task-Bundle
Allocation. Network and Parallel Computing, NPC 2011, Lecture Notes in Computer Science 6985.
"""
