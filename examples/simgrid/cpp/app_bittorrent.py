"""Peers that exchange the pieces of a file: SimGrid's ``app-bittorrent``."""

from dataclasses import dataclass, field
from pathlib import Path

from simplugin import simulate

PIECES, BLOCKS, BLOCK_SIZE, REQUESTED = 10, 5, 16384, 2
MOST_PEERS, UNCHOKE_PERIOD, LIMIT = 50, 30, 10000
SIZES = {
    "handshake": 68,
    "choke": 5,
    "unchoke": 5,
    "interested": 5,
    "not interested": 5,
    "have": 9,
    "bitfield": 6,
    "request": 17,
    "piece": BLOCK_SIZE,
}


async def tracker(me, end):
    me.log("Tracker launched.")
    box, known, coming = me.mailbox("tracker"), [], None
    while me.now < float(end):
        coming = coming or box.get_async()
        if not coming.test():
            await me.sleep_for(1)
            continue
        peer, coming = coming.result, None
        known = sorted({*known, peer})
        count = min(MOST_PEERS, len(known))
        answer = me.random.choice(known, count, replace=False).tolist()
        me.mailbox(str(peer)).put_detached(answer, 1)
    me.log("Tracker is leaving")


@dataclass
class Message:
    kind: str
    sender: int
    pieces: frozenset[int] = frozenset()
    piece: int = -1
    blocks: range = range(0)


@dataclass
class Connection:
    """State of a connection to another peer."""

    number: int
    pieces: set[int] = field(default_factory=set)
    speed: float = 0.0
    last_unchoke: float = 0.0
    current: int = -1
    am_interested: bool = False
    is_interested: bool = False
    is_choked: bool = True  # by me
    chokes_me: bool = True


class Peer:
    def __init__(self, me, number, *, has_file):
        self.me = me
        self.number = number
        self.box = me.mailbox(str(number))
        self.blocks = {
            (piece, block) for piece in range(PIECES) for block in range(BLOCKS) if has_file
        }
        self.pieces = set(range(PIECES)) if has_file else set()
        self.counts = [0] * PIECES
        self.current = set()
        self.others = {}
        self.active = []
        self.turn = 0

    @property
    def is_complete(self):
        return len(self.pieces) == PIECES

    def send(self, other, kind, piece=-1, blocks=range(0)):
        message = Message(kind, self.number, frozenset(self.pieces), piece, blocks)
        self.me.mailbox(str(other)).put_detached(message, SIZES[kind])

    def wanted(self, other):
        return other.pieces - self.pieces

    # ---- downloads ----

    def missing_block(self, piece):
        missing = (block for block in range(BLOCKS) if (piece, block) not in self.blocks)
        return next(missing, -1)

    def request(self, other, piece):
        other.current = piece
        if (first := self.missing_block(piece)) >= 0:
            blocks = range(first, min(first + REQUESTED, BLOCKS))
            self.send(other.number, "request", piece, blocks)

    def request_new_piece(self, other):
        if (piece := self.choose_piece(other)) >= 0:
            self.current.add(piece)
            self.request(other, piece)

    def choose_piece(self, other):
        """Return the piece to ask for: one that was begun, else a random or a rare one."""
        wanted = sorted(self.wanted(other))
        free = [piece for piece in wanted if piece not in self.current]
        begun = [piece for piece in free if self.missing_block(piece) > 0]
        if begun:
            return begun[0]
        if wanted and len(self.current) >= PIECES - len(self.pieces):
            choice = wanted
        elif len(self.pieces) < 4:
            choice = free
        else:
            least = min((self.counts[piece] for piece in free), default=0)
            choice = [piece for piece in free if self.counts[piece] == least]
        return int(self.me.random.choice(choice)) if choice else -1

    def drop(self, other, piece):
        self.current.discard(piece)
        other.current = -1

    def receive_piece(self, other, piece, blocks):
        if piece in self.pieces:
            self.request_new_piece(other)
            return
        self.blocks |= {(piece, block) for block in blocks}
        if self.missing_block(piece) >= 0:
            self.request(other, piece)
            return
        self.drop(other, piece)
        self.pieces.add(piece)
        for each in self.others.values():
            self.send(each.number, "have", piece)
        for each in self.others.values():
            if each.am_interested and not self.wanted(each):
                each.am_interested = False
                self.send(each.number, "not interested")

    # ---- uploads ----

    def update_active(self, other):
        self.active = [each for each in self.active if each is not other]
        if other.is_interested and not other.is_choked:
            self.active.append(other)

    def update_choked(self):
        """Choke a peer that is served, and serve another one."""
        waiting = [each for each in self.others.values() if each.is_interested and each.is_choked]
        if not waiting and not self.active:
            return
        self.turn = (self.turn + 1) % 3
        choked = self.active.pop(0) if self.active else None
        chosen = None
        if waiting and self.is_complete:
            chosen = min(waiting, key=lambda each: each.last_unchoke)
        elif waiting and self.turn == 0:
            chosen = waiting[int(self.me.random.integers(len(waiting)))]
        elif waiting:
            chosen = max(waiting, key=lambda each: each.speed)
        if choked is not None:
            choked.is_choked = True
            self.send(choked.number, "choke")
        if chosen is not None:
            chosen.is_choked = False
            chosen.last_unchoke = self.me.now
            self.update_active(chosen)
            self.send(chosen.number, "unchoke")

    # ---- messages ----

    def handle(self, message):
        sender, piece = message.sender, message.piece
        if message.kind == "handshake":
            if sender not in self.others:
                self.others[sender] = Connection(sender)
                self.send(sender, "handshake")
            self.send(sender, "bitfield")
            return
        other = self.others[sender]
        match message.kind:
            case "bitfield":
                other.pieces = set(message.pieces)
                for each in message.pieces:
                    self.counts[each] += 1
                self.tell_interest(other)
            case "have":
                other.pieces.add(piece)
                self.counts[piece] += 1
                self.tell_interest(other)
            case "interested" | "not interested":
                other.is_interested = message.kind == "interested"
                self.update_active(other)
            case "unchoke":
                other.chokes_me = False
                if other.am_interested:
                    self.request_new_piece(other)
            case "choke":
                other.chokes_me = True
                self.drop(other, other.current)
            case "request":
                if not other.is_choked and piece in self.pieces:
                    self.send(sender, "piece", piece, message.blocks)
            case "piece":
                self.receive_piece(other, piece, message.blocks)

    def tell_interest(self, other):
        if not other.am_interested and self.wanted(other):
            other.am_interested = True
            self.send(other.number, "interested")
            if not other.chokes_me:
                self.request_new_piece(other)

    async def run(self, end):
        """Handle messages that have come; in between, choose whom to serve."""
        for other in self.others:
            self.send(other, "handshake")
        gets = [self.box.get_async() for _ in range(MOST_PEERS)]
        next_update, last = self.me.now + UNCHOKE_PERIOD, self.me.now
        while self.me.now < end:
            if gets[0].test():
                message = gets.pop(0).result
                gets.append(self.box.get_async())
                self.handle(message)
                other = self.others[message.sender]
                if self.me.now > last:
                    other.speed = 0.6 * other.speed + 0.4 / (self.me.now - last)
                last = self.me.now
            elif self.me.now >= next_update:
                if self.pieces:
                    self.update_choked()
                next_update += UNCHOKE_PERIOD
            else:
                await self.me.sleep_for(1)


async def peer(me, number, end, has_file="0"):
    self = Peer(me, int(number), has_file=has_file == "1")
    me.log(f"Hi, I'm joining the network with id {self.number}")
    await me.mailbox("tracker").put(self.number, 1, timeout=LIMIT)
    for other in await self.box.get(timeout=LIMIT):
        if other != self.number:
            self.others[other] = Connection(other)
    await self.run(float(end))
    status = "".join("1" if piece in self.pieces else "0" for piece in range(PIECES))
    me.log(f"Here is my current status: {status}")


def main(examples: Path, platform: str, deployment: str):
    simulate(platform, deployment, functions={"tracker": tracker, "peer": peer})
