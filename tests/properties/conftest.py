"""Properties over the space of specifications: a small fixed run by default, a large one by its profile.

`pytest tests/properties --hypothesis-profile=thorough` runs a hundred times the examples, new ones each time.
"""

import support.strategies_runs  # noqa: F401  # registers the profile before pytest loads it
from support.prometheus import promtool

__all__ = ["promtool"]
