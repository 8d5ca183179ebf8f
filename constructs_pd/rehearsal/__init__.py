"""A rehearsal: the plan's own Serve application on this machine, without GPUs, with one raylet per planned pod."""
