"""Waiting before a phase: requests that arrive at random, one queue, and several equal servers.

The mean is Allen's and Cunneen's approximation of M/G/c, exact for one server (Pollaczek, Khinchine) and for
exponential times (Erlang C). Those that wait at all are taken to wait exponentially long, which is exact for M/M/c.
Source: Allen, Probability, Statistics, and Queueing Theory, 2nd ed. 1990, section 5.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log
from typing import Final

# More are reckoned as so many that are as busy, which wait no less.
_MOST_SERVERS: Final = 500


@dataclass(frozen=True, slots=True)
class Waiting:
    """How long requests wait, in seconds; without end where more arrive than are served.

    Attributes:
        share: The share of the requests that waits at all.
        mean: The mean of all requests.
    """

    share: float
    mean: float

    def quantile(self, share: float) -> float:
        """Return the time that so large a share of the requests does not wait longer than."""
        if self.mean == inf:
            return inf
        if self.share <= 1 - share:
            return 0.0
        return self.mean / self.share * log(self.share / (1 - share))


NONE = Waiting(0.0, 0.0)
ENDLESS = Waiting(1.0, inf)


def erlang_c(servers: int, offered: float) -> float:
    """Return the share of requests that find all servers busy.

    Args:
        servers: How many there are.
        offered: How many would be busy on average; fewer than there are.
    """
    if offered <= 0:
        return 0.0
    if servers > _MOST_SERVERS:
        servers, offered = _MOST_SERVERS, offered / servers * _MOST_SERVERS
    blocked = 1.0  # Erlang B, by its recursion: nothing overflows
    for number in range(1, servers + 1):
        blocked = offered * blocked / (number + offered * blocked)
    busy = offered / servers
    return blocked / (1 - busy * (1 - blocked))


def waiting(rate: float, seconds: float, servers: int, variation: float) -> Waiting:
    """Return how long requests wait.

    Args:
        rate: Requests that arrive in a second, independently of each other.
        seconds: The mean time that a server takes for one.
        servers: How many there are.
        variation: The coefficient of variation of that time: 0 where all are alike, 1 where it is exponential.
    """
    offered = rate * seconds
    if offered <= 0:
        return NONE
    if offered >= servers:
        return ENDLESS
    share = erlang_c(servers, offered)
    return Waiting(share, share * seconds / (servers - offered) * (1 + variation**2) / 2)
