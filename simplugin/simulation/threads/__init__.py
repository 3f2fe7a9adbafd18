"""The reference back end: every actor is an actor of SimGrid's own Python bindings, in a thread.

Each coroutine is driven in its thread, request by request: the thread waits at a semaphore of
SimGrid's until the awaited activities are over. Executions, parallel tasks and transfers are
SimGrid's own; queues, time limits and the order of events at one date are a few lines of Python.
It is slow, small and obviously right; the conformance suite compares the default back end with it.

Modules from the bottom up: `refused` (operations it lacks), `record` (totals and trace), `world`
(timers and requests), `activity`, `work` (on hosts and links), `meeting`, `synchro`, `actor`,
`engine`.

A thread calls nothing of SimGrid's but its semaphore, and the switches of hosts and links. All
else, such as starts and cancellations, is queued and done between two events of the simulation, in
the order of the requests: an actor that is being killed with its host may call nothing. The
compiled driver calls back between events, says when an activity has ended and how much of it was
left, and gives executions their priority and bound, which the bindings do not.
"""
