"""A port that transfers side by side share in equal time, whatever their bandwidths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simplugin.errors import ActivityError, TimeoutException

if TYPE_CHECKING:
    from simplugin.bags.agents.stations import Deeds
    from simplugin.simulation.api import Activity, Actor

# How many turns the shortest of the transfers under way gets.
TURNS = 4


class Port:
    """Takes turns between the transfers of several senders, one at a time.

    SimGrid would share links by bytes, and has no ports. Here each transfer goes at the full
    bandwidth of its link during its turn, and rests in the others'.

    Parameters
    ----------
    me : Actor
        On its host.
    deeds : Deeds
        Where to count how long it was sending.
    """

    def __init__(self, me: Actor, deeds: Deeds) -> None:
        self.under_way: list[tuple[Activity, float]] = []
        self.entered = me.semaphore(0)
        self._me, self._deeds, self._since = me, deeds, 0.0

    async def share(self, transfer: Activity, needed: float) -> None:
        """Wait for a transfer that takes turns with others.

        Parameters
        ----------
        transfer : Activity
            It has just been started.
        needed : float
            How long it would take alone [s].
        """
        if needed <= 0:
            # Nothing that would take a turn.
            await transfer
            return
        if self.under_way:
            transfer.suspend()
        else:
            self._since = self._me.now
        self.under_way.append((transfer, needed))
        self.entered.release()
        try:
            await transfer
        finally:
            self.under_way = [each for each in self.under_way if each[0] is not transfer]
            if len(self.under_way) == 1:
                self.under_way[0][0].resume()
            elif not self.under_way:
                self._deeds.port_busy += self._me.now - self._since

    async def take_turns(self, me: Actor) -> None:
        """Let the transfers that are under way go on in turn."""
        while True:
            await self.entered.acquire()
            while len(self.under_way) > 1:
                for turn in list(self.under_way):
                    if turn in self.under_way and len(self.under_way) > 1:
                        await self._turn(me, turn[0])

    async def _turn(self, me: Actor, transfer: Activity) -> None:
        """Let one transfer go on alone for a while."""
        for each, _ in self.under_way:
            if each is not transfer:
                each.suspend()
        transfer.resume()
        length = min(needed for _, needed in self.under_way) / TURNS
        try:
            await transfer.wait(timeout=length)
        except TimeoutException:
            return
        except ActivityError:
            # Its sender deals with it.
            pass
        # Let its sender note that it is over.
        await me.yield_()
