"""Kills a part of a deployment while clients ask, and waits until it serves again."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from constructs_pd.manifests.serve_config import APPLICATION_NAME
from constructs_pd.rehearsal.dashboard import replicas
from constructs_pd.rehearsal.exchange import NoAnswerError
from constructs_pd.rehearsal.load import Load
from constructs_pd.rehearsal.local_ray import LocalRay, restart
from constructs_pd.rehearsal.losses import lost_node_id, lost_replicas, victims
from constructs_pd.rehearsal.steps import Steps
from constructs_pd.rehearsal.supervised import Supervised
from constructs_pd.rehearsal.supervisor import descendants
from constructs_pd.rehearsal.survival import Lost

#: How long clients ask before anything is lost, and for how long nothing may fail afterwards.
STEADY_SECONDS: Final = 10.0
CALM_SECONDS: Final = 20.0
#: Between the numbers of two losses' requests: no prompt is asked twice, or a prefix cache would stand in.
NUMBERS_PER_LOSS: Final = 10_000
_POLL_SECONDS: Final = 0.5


@dataclass(frozen=True)
class Served:
    """A deployment that serves.

    Attributes:
        ray: Its Ray cluster.
        supervised: What runs its processes.
        port: Where it listens.
        model: The model's name.
        context_tokens: The longest context, in tokens.
        timeout_seconds: How long it may take to serve again, in seconds.
    """

    ray: LocalRay
    supervised: Supervised
    port: int
    model: str
    context_tokens: int
    timeout_seconds: float

    def lose(self, loss: str, index: int, steps: Steps) -> Lost:
        """Kill a part under load and return what happened.

        Raises:
            RehearsalError: There is no such part, or a node does not come back.
        """
        with (
            steps.step(f"lose {loss}"),
            Load(self.port, self.model, (index + 1) * NUMBERS_PER_LOSS, self.context_tokens) as load,
        ):
            time.sleep(STEADY_SECONDS)
            running = replicas(self.ray.dashboard.serve(), APPLICATION_NAME)
            node_id, processes = lost_node_id(loss, self.ray), victims(loss, running, self.ray)
            gone = lost_replicas(loss, running, self.ray)
            below = set[int]().union(*(descendants(replica.process) | {replica.process} for replica in gone))
            lost_at = time.monotonic()
            for process in processes:
                with suppress(ProcessLookupError):
                    os.kill(process, signal.SIGKILL)
            steps.tell(f"killed {len(processes)} processes of {loss}")
            if node_id is not None:
                restart(self.ray, node_id, self.supervised, steps.tell)
            replaced_at = self._replaced({replica.replica_id for replica in gone}, lost_at + self.timeout_seconds)
            left = len(below & descendants(self.supervised.process))
            steps.tell("every replica runs again" if replaced_at else "not every replica runs again")
            answers_again = replaced_at is not None and _is_calm(load, replaced_at, lost_at + self.timeout_seconds)
        return Lost(loss, lost_at, replaced_at, answers_again, left, load.ended())

    def _replaced(self, gone: Collection[str], deadline: float) -> float | None:
        """Wait until every replica runs and none of those that were lost, and return when that was."""
        while time.monotonic() < deadline:
            try:
                if is_whole(self.ray.dashboard.serve()["applications"][APPLICATION_NAME], gone):
                    return time.monotonic()
            except NoAnswerError:
                pass
            time.sleep(_POLL_SECONDS)
        return None


def is_whole(application: dict[str, Any], gone: Collection[str]) -> bool:
    """Whether each deployment of Serve's state has all its replicas, without those that are gone."""
    states = Counter[str]()
    for name, deployment in application["deployments"].items():
        for replica in deployment["replicas"]:
            if replica["state"] == "RUNNING" and replica["replica_id"] not in gone:
                states[name] += 1
    return application["status"] == "RUNNING" and all(
        states[name] >= deployment["target_num_replicas"] for name, deployment in application["deployments"].items()
    )


def _is_calm(load: Load, replaced_at: float, deadline: float) -> bool:
    """Wait for a while in which requests are answered, none fails and none hangs, and return whether there was one."""
    while time.monotonic() < deadline:
        time.sleep(_POLL_SECONDS)
        ended, waits_since, now = load.ended(), load.waits_since(), time.monotonic()
        calm_from = max([replaced_at, *(request.ended for request in ended if not request.is_answered)])
        answered = any(request.begun >= calm_from for request in ended)
        # Half as long: else what hangs from now on would not be seen before the end.
        waits = waits_since is not None and now - waits_since > CALM_SECONDS / 2
        if now - calm_from >= CALM_SECONDS and answered and not waits:
            return True
    return False
