"""The readers: whoever will read a rendered manifest in the end, asked for its verdict in a test.

Each module runs the real validator (the Kubernetes schema, the operator's CRDs, Ray's own classes) instead
of a description of it, so a test fails when the reader itself would refuse.
"""
