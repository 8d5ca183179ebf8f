"""Draws dashboards from recorded data, as Grafana would show them."""
