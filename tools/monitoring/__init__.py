"""Looks at monitoring with a real Prometheus: names that are exported, rules that are evaluated."""
