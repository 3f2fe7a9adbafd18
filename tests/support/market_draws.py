"""Markets of bundles drawn by Hypothesis."""

import numpy as np
from hypothesis import strategies as st

from simplugin.workloads.bundle_markets import BundleMarket


@st.composite
def bundle_markets(
    draw: st.DrawFn, most_peers: int = 6, most_tasks: int = 40, least_alpha: float = 1e-9
) -> BundleMarket:
    """Draw a market, some with equal tasks, with caps, or with a discount rate for each peer."""
    n, m = draw(st.integers(1, most_peers)), draw(st.integers(1, most_tasks))
    value = st.sampled_from([0.3, 1.0, 2.0, 2 / 3, 4.0, 7.0]) | st.floats(1e-2, 1e2)
    alpha = st.sampled_from([least_alpha, 1e-3, 0.1, 0.25, 0.5, 0.75]) | st.floats(1e-5, 0.95)
    values = draw(st.lists(value, min_size=n, max_size=n))
    alphas = draw(alpha | st.lists(alpha, min_size=n, max_size=n))
    limits = st.lists(st.integers(0, m), min_size=n, max_size=n)
    caps = draw(st.just([m] * n) | limits)
    caps[0] += max(0, m - sum(caps))
    return BundleMarket(values, m, caps, 1 - np.array(alphas))
