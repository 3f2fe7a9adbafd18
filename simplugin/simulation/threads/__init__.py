"""The reference back end: every actor is an ordinary actor of SimGrid's own Python bindings.

Each coroutine is driven in a thread actor, request by request: what it awaits is done by a
blocking call of the bindings, and the outcome is sent, or thrown, back into it. It is slow and
obviously right; the conformance suite compares the default back end with it.

Modules from the bottom up: `world` (the simulation, its record and the state of its actors),
`activity`, `work` (on hosts and links), `meeting`, `synchro`, `actor`, `engine`.

The bindings lack some functions, which are built from others:

- message queues and condition variables are Python queues; an actor waits there on a signal, a
  transfer that never ends and is cancelled to wake it;
- a mutex is a semaphore of capacity 1, because SimGrid's own can only be unlocked by its living
  owner, so not in the ``finally`` block of an actor that is being killed;
- activities that are assigned later or start after others are started by a daemon when they can
  be, which then waits for them; others wait for its signal;
- a read or write is cancelled by killing the daemon that waits for it;
- whether a disk is on, its properties, energy, figures of plug-ins and the options in force are
  read, and factors of transfers and the available speed of hosts are set, through the compiled
  driver, by name.

It cannot do everything: executions with a bound or several threads, asynchronous executions, reads
and writes with a priority, changes of priorities, direct transfers with a rate, and the remaining
work and the suspension of reads and writes have no binding and raise `SimpluginError`; what a
failed or cancelled activity had already done is unknown, and its amount in the trace is NaN.
"""
