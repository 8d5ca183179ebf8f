"""What several tests need: specifications, rendered manifests, and ways to look at them."""
