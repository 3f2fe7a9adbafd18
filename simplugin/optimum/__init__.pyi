from .bundle_benefit import largest_benefit as largest_benefit
from .fair_sharing import fair_sharing as fair_sharing
from .fair_sharing import weighted_max_min as weighted_max_min
from .steady_state import steady_state as steady_state
from .task_graph_bounds import makespan_bound as makespan_bound
from .task_graph_bounds import own_bounds as own_bounds
