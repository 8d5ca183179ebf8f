"""Monitors, recording rules and alerts of a deployment, as plain data."""
