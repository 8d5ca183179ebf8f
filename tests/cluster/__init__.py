"""A real control plane on loopback: etcd, API server, controllers, scheduler and the KubeRay operator, from Go modules.

There is no kubelet: pods are created and bound, and never start.
"""
