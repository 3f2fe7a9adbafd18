"""Rounds of pricing as passes of numpy over all agents: the reference of the compiled ones."""

import math
from dataclasses import replace

import numpy as np

from simplugin.core.elementary import power
from simplugin.pricing.policies.gradient import (
    GradientState,
    inverse_marginal,
    next_memory,
    next_price,
    next_rate,
    task_price,
)
from simplugin.pricing.policies.market import (
    CEILING,
    FLOOR,
    GROWTH,
    LEAST,
    MEMORY,
    REBALANCE,
    SIZE,
    STRENGTH,
    best_throughput,
    inverted,
)


def over_links(sharing, values):
    """Return sums over links of values of agents."""
    below = sharing.link >= 0
    return np.bincount(sharing.link[below], values[below], sharing.n_links)


def host_demand(sharing, inverse):
    """Return the denominator of Eq. (17) for each host, agents in order."""
    share = np.where(sharing.computes, (sharing.flop**2 * inverse)[sharing.application], 0.0)
    return np.bincount(sharing.host, share, sharing.n_hosts)


def link_demand(sharing, inverse, count):
    """Return the denominator of Eq. (18) for each link, agents in order."""
    return over_links(sharing, count * (sharing.byte**2 * inverse)[sharing.application])


def gradient_round(method, sharing, utility, state):
    """Return the state after one more round of the report's rule."""
    reading, owner = method.reading, sharing.application
    flow = sharing.gather(state.rate)
    throughput = flow[sharing.masters]
    received = state.received if reading.late else throughput
    steps = method.steps.of_agents(owner)
    price = task_price(sharing, state.host_price, state.link_price)
    if reading.normalised:
        pull = 1 - inverse_marginal(received, sharing.weight, utility.alpha)[owner] * price
    else:
        known = np.maximum(received[owner], steps.least)
        pull = sharing.weight[owner] * utility.marginal(known) - price
    rate = next_rate(state.rate, state.memory, pull, steps)
    rate = np.where(sharing.computes, rate, 0.0)
    loaded, seen = state.rate, throughput
    if reading.seidel:
        loaded, flow = rate, sharing.gather(rate)
        seen = flow[sharing.masters]
    demands = 1.0, 1.0
    if method.scaled:
        worth = seen if reading.fresh else received
        inverse = inverse_marginal(worth, sharing.weight, utility.alpha)
        count = state.count if reading.counted else np.ones(sharing.n_agents)
        demands = host_demand(sharing, inverse), link_demand(sharing, inverse, count)
    on_links = over_links(sharing, sharing.byte[owner] * flow)
    sizes = np.asarray(method.steps.host), np.asarray(method.steps.link)
    host = state.host_price, sharing.host_load(loaded), sharing.speed, demands[0], sizes[0]
    link = state.link_price, on_links, sharing.bandwidth, demands[1], sizes[1]
    memory = next_memory(state.rate, state.memory, steps)
    prices = next_price(*host), next_price(*link)
    return GradientState(rate, memory, *prices, throughput, state.count)


def market_round(method, sharing, utility, state):
    """Return the state after one more round of markets."""
    asked, owner = state.slots, sharing.application
    offer, price = clear(state)
    plan, worth, reached = planned(sharing, utility, state, 2 * offer - state.request)
    paid, part = state.metric * (state.request - offer), state.part
    if method.feasible:
        part = carried(sharing, asked, offer)
    bounded = np.clip(reached, LEAST * asked.alone, asked.alone)
    value = (sharing.weight * utility.marginal(bounded))[owner]
    size = np.minimum(asked.bound, bounded[owner])
    missed = plan - offer
    shift = state.metric * (offer - state.offer) / value
    left = (missed * inverted(size)) ** 2 + ((paid - state.paid) / value) ** 2
    moved = shift**2 + (state.metric * missed / value) ** 2
    sums = np.stack([asked.total(left), asked.total(moved)], axis=1)
    after = replace(
        state,
        offer=offer,
        plan=plan,
        paid=paid,
        price=price,
        reached=reached,
        residual=MEMORY * state.residual + sums,
        part=part,
        number=state.number + 1,
    )
    if after.number >= state.next_metric:
        after = adapted(sharing, after, value, size)
    inverse = inverted(after.metric)
    request = offer + worth * inverse + (method.relaxation - 1) * missed
    return replace(after, request=cleared(asked, request))


def cleared(asked, values):
    """Return values, 0 where there is no slot."""
    return np.where(asked.bound > 0, values, 0.0)


def clear(state):
    """Return offers and prices: all bids of a pass at once, those that stay again."""
    asked, capacity = state.slots, state.slots.capacity
    price = np.zeros(len(capacity))
    left = np.flatnonzero(state.request > 0)
    resource, demand = asked.resource[left], asked.demand.ravel()[left]
    request, offer = state.request.ravel()[left], np.zeros_like(state.request)
    give = demand * inverted(state.metric.ravel()[left])
    give = np.divide(demand, state.metric.ravel()[left], out=give, where=give > 0)
    while True:
        wanted = np.bincount(resource, demand * request, len(capacity))
        yielded = np.bincount(resource, demand * give, len(capacity))
        np.divide(wanted - capacity, yielded, out=price, where=yielded > 0)
        np.maximum(price, 0.0, out=price)
        stays = request > price[resource] * give
        offer.ravel()[left] = np.where(stays, request - price[resource] * give, 0.0)
        if np.all(stays):
            return offer, price
        going = np.zeros(len(capacity), dtype=bool)
        going[resource[~stays]] = True
        stays &= going[resource]
        left, resource, demand = left[stays], resource[stays], demand[stays]
        request, give = request[stays], give[stays]


def planned(sharing, utility, state, answer):
    """Return plans and worths of slots, and throughputs, level by level."""
    slack, share, parent, pull = state.slack, state.share, sharing.parent, state.metric[1]
    middle, push = answer[0].copy(), pull * answer[1]
    for level in reversed(sharing.levels[1:]):
        sent = share[level] * (middle[level] + slack[level] * push[level])
        np.add.at(middle, parent[level], sent)
    masters = sharing.masters
    reached, value = best_throughput(middle[masters], slack[masters], sharing.weight, utility)
    nu, above = np.zeros(sharing.n_agents), np.zeros(sharing.n_agents)
    nu[masters] = value
    for level in sharing.levels[1:]:
        above[level] = nu[parent[level]]
        nu[level] = share[level] * (above[level] + (push[level] - pull[level] * middle[level]))
    plan = np.stack([answer[0] + nu * inverted(state.metric[0]), middle + slack * nu])
    worth = np.stack([nu, above - nu])
    return cleared(state.slots, plan), cleared(state.slots, worth), reached


def carried(sharing, asked, offer):
    """Return the part of each offer that the links on its way carry."""
    flow, part = offer[0].copy(), np.ones(sharing.n_agents)
    room = np.where(asked.demand[1] > 0, offer[1], math.inf)
    for level in reversed(sharing.levels[1:]):
        passed = np.minimum(flow[level], room[level])
        np.divide(passed, flow[level], out=part[level], where=flow[level] > 0)
        np.add.at(flow, sharing.parent[level], passed)
    for level in sharing.levels[1:]:
        part[level] *= part[sharing.parent[level]]
    return part


def adapted(sharing, state, value, size):
    """Return the state with the next metric."""
    asked, (left, moved) = state.slots, state.residual.T
    known = (left > 0) & (moved > 0)
    ratio = np.divide(left, moved, out=np.ones_like(left), where=known)
    balance = state.balance * np.clip(power(ratio, STRENGTH), *REBALANCE)
    with np.errstate(invalid="ignore", divide="ignore"):
        cost = np.minimum(asked.demand * asked.of_resources(state.price) / value, CEILING)
        part = np.minimum(state.offer / size, CEILING)
        pull = np.sqrt((cost + FLOOR) / (part + FLOOR))
        metric = SIZE * value / size * pull * asked.of_resources(balance)
    metric = cleared(asked, metric)
    slack, share = inverted(metric[0]), np.ones(sharing.n_agents)
    for level in reversed(sharing.levels[1:]):
        share[level] = 1 / (1 + metric[1, level] * slack[level])
        np.add.at(slack, sharing.parent[level], slack[level] * share[level])
    step = state.step * GROWTH
    due = state.number + max(1, round(step))
    changed = replace(state, metric=metric, slack=slack, share=share)
    return replace(changed, balance=balance, next_metric=due, step=step)
