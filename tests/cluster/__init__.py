"""A real control plane on loopback: etcd, API server, controllers, scheduler and the KubeRay operator, from Go modules.

Nodes have no kubelet: KWOK says that they live, and that the workers on them run. No container ever does.
"""
