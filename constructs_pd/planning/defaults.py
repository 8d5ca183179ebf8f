"""Numbers that the planner decides by default, each with its reason. Nothing else in the package has a default."""

from typing import Final

# Labels. The same two keys stand on nodes and on pods: a pod of a role runs on a node of that role.
DEPLOYMENT_LABEL: Final = "constructs-pd/deployment"
ROLE_LABEL: Final = "constructs-pd/role"
# The AWS tag that says the same of instances, volumes and whatever else costs money.
DEPLOYMENT_TAG: Final = DEPLOYMENT_LABEL

# NVIDIA's device plugin 0.20.0 runs only on nodes with this label when Node Feature Discovery is absent, and
# tolerates only this taint (its chart's values.yaml).
GPU_PRESENT_LABEL: Final = ("nvidia.com/gpu.present", "true")
GPU_TAINT_KEY: Final = "nvidia.com/gpu"

# The ray-llm image is built for x86_64 only; a Graviton node would fail with "exec format error".
ARCHITECTURE_LABEL: Final = ("kubernetes.io/arch", "amd64")

# What a worker pod leaves of what the kubelet leaves: for the node's DaemonSets (CNI, kube-proxy, device plugins,
# monitoring), and because an AMI may set 10 GiB of huge pages aside for EFA, which Karpenter's table does not know.
NODE_RESERVE_CPU_CORES: Final = 2
NODE_RESERVE_MEMORY_GIB: Final = 10

# Shared memory: Ray's object store plus vLLM's and NCCL's own segments. It counts against the pod's memory.
WORKER_SHARED_MEMORY_GIB: Final = 16
WORKER_OBJECT_STORE_GIB: Final = 8

# The head runs the GCS, the dashboard and the Serve controller; it must fit an m7i.xlarge (4 vCPU, 16 GiB) beside
# the operators, which is the system node of AWS's sample.
HEAD_CPU_REQUEST_CORES: Final = 2
HEAD_CPU_LIMIT_CORES: Final = 4
HEAD_SHARED_MEMORY_GIB: Final = 2
HEAD_OBJECT_STORE_GIB: Final = 1

# Ray Serve LLM's replica actor takes one CPU of the first bundle (Ray 2.58.0 llm_server.py).
REPLICA_ACTOR_CPU_CORES: Final = 1

# Ray's own ratio is two ingress replicas per model replica (RAY_SERVE_LLM_ROUTER_TO_MODEL_REPLICA_RATIO, Ray 2.58.0
# constants.py); each is an actor of 1 CPU.
INGRESSES_PER_DECODE_REPLICA: Final = 2
INGRESS_CPU_CORES: Final = 1
# The custom Ray resource that decode pods offer and ingress replicas ask for.
INGRESS_RAY_RESOURCE: Final = "pd-ingress"
# A small fraction, so that a decode pod also takes the ingress replicas of a neighbour that drains.
INGRESS_RESOURCE_SHARE: Final = 0.01

# Ray 2.58.0 nixl.py: prefill 20000, decode 22000, plus one per rank. Stated, so that policies can name them.
NIXL_PORT_PREFILL: Final = 20000
NIXL_PORT_DECODE: Final = 22000

# KubeRay 1.7.0 constant.go.
GCS_PORT: Final = 6379
DASHBOARD_PORT: Final = 8265
SERVE_PORT: Final = 8000
METRICS_PORT: Final = 8080
# Ray 2.58.0 serve/_private/proxy.py; "/" is the application's and answers 404. It answers 503 while a proxy drains.
SERVE_HEALTH_PATH: Final = "/-/healthz"
DASHBOARD_AGENT_PORT: Final = 52365
# Ray chooses these at random unless told otherwise (Ray 2.58.0, ray start --help). Stated, so that policies can name
# them; the range of workers is Ray's own default.
NODE_MANAGER_PORT: Final = 6380
OBJECT_MANAGER_PORT: Final = 6381
RUNTIME_ENV_AGENT_PORT: Final = 6382
DASHBOARD_AGENT_GRPC_PORT: Final = 6383
FIRST_RAY_WORKER_PORT: Final = 10002
LAST_RAY_WORKER_PORT: Final = 19999

# Margins between time limits, in seconds; timeouts.py says which must outlast which.
# Between an inner limit and the next one outwards, so that the inner one answers.
REQUEST_MARGIN_SECONDS: Final = 5
KEEP_ALIVE_MARGIN_SECONDS: Final = 5
TERMINATION_MARGIN_SECONDS: Final = 30
# Ray 2.58.0 serve/_private/constants.py, DEFAULT_GRACEFUL_SHUTDOWN_WAIT_LOOP_S: how often a stopping replica looks
# whether requests are left.
REPLICA_WAIT_LOOP_SECONDS: Final = 2
# For how long a balancer may still send requests to a pod that stops: what Ray's own proxies allow for it where they
# drain (Ray 2.58.0 serve/_private/constants.py, RAY_SERVE_PROXY_MIN_DRAINING_PERIOD_S).
DEREGISTRATION_LAG_SECONDS: Final = 30
# What the defaults add to the longest generation.
IDLE_MARGIN_SECONDS: Final = 2 * REQUEST_MARGIN_SECONDS
REPLICA_MARGIN_SECONDS: Final = 2 * REQUEST_MARGIN_SECONDS
DRAIN_MARGIN_SECONDS: Final = 2 * REQUEST_MARGIN_SECONDS + DEREGISTRATION_LAG_SECONDS
# Application Load Balancers user guide, HTTP client keepalive duration: its own default.
CLIENT_KEEP_ALIVE_SECONDS: Final = 3600
# EKS user guide, Managed node update behavior: pods that have not left a node then fail the upgrade.
NODE_EVICTION_SECONDS: Final = 900

# Ray 2.58.0 replaces an engine that has died after three failed checks in a row (serve/_private/constants.py), 10 s
# apart in Ray Serve LLM: until then it takes requests and fails them. The check only asks whether the engine runs.
HEALTH_CHECK_SECONDS: Final = 2

# The suite's process; an answer may take 64 MiB of it.
CONFORMANCE_CPU_REQUEST_MILLICORES: Final = 100
CONFORMANCE_CPU_LIMIT_CORES: Final = 1
CONFORMANCE_MEMORY_MIB: Final = 512
# A first start brings nodes up, pulls the image and downloads weights: KubeRay is told to give up no sooner either.
CONFORMANCE_WAIT_SECONDS: Final = 7200
# Twice the suite's own default: an engine compiles kernels for requests of a kind that it has not had.
CONFORMANCE_RUN_SECONDS: Final = 1800
# The image is large, and the node need not have it.
CONFORMANCE_PULL_SECONDS: Final = 1800

# EKS's image with NVIDIA drivers; the AL2 images have ended, and AL2023_x86_64_STANDARD has no driver.
AMI_TYPE: Final = "AL2023_x86_64_NVIDIA"
# AL2023's root device (awslabs/amazon-eks-ami).
ROOT_DEVICE: Final = "/dev/xvda"
# The volume of AWS's sample: the unpacked image, a second one during an upgrade, logs.
ROOT_VOLUME_GIB: Final = 200
# gp3's own IOPS, and four times its own throughput: a node pulls and unpacks 20 GB before it serves.
ROOT_VOLUME_IOPS: Final = 3000
ROOT_VOLUME_THROUGHPUT_MIB_PER_SECOND: Final = 500
# EKS user guide, launch templates: pods reach the instance metadata service over 2 hops.
METADATA_HOP_LIMIT: Final = 2
# A node takes a whole engine with it, so one goes at a time.
MAX_UNAVAILABLE_NODES: Final = 1

# EKS user guide, Send control plane logs to CloudWatch Logs: every kind that there is.
CONTROL_PLANE_LOGS: Final = ("api", "audit", "authenticator", "controllerManager", "scheduler")
# The nodes of the head, the operators and the gateway; they need no GPU driver.
SYSTEM_ROLE: Final = "system"
SYSTEM_AMI_TYPE: Final = "AL2023_x86_64_STANDARD"
# The ray-llm image, unpacked for the head, a second one during an upgrade, the operators' images and logs.
SYSTEM_VOLUME_GIB: Final = 100
SYSTEM_VOLUME_THROUGHPUT_MIB_PER_SECOND: Final = 250
# What the head leaves of a system node: the operators, the balancer's controller, CoreDNS and the DaemonSets.
SYSTEM_RESERVE_MEMORY_MIB: Final = 2560
# The same of its CPU, as they ask for it: VPC CNI and policy agent 25 each (amazon-vpc-cni-k8s, config/master),
# kube-proxy 100, CoreDNS 2 x 100 (EKS add-ons), KubeRay 100 (chart 1.7.0), and 50 for the rest.
SYSTEM_RESERVE_CPU_MILLICORES: Final = 500
# Kubernetes wants a size in a claim; an EFS volume has none.
CLAIM_GIB: Final = 100
# The volume's root directory is for the pods' one user.
CACHE_DIRECTORY_PERMISSIONS: Final = "700"
# The CDK's kubectl is ended after 15 minutes; Helm must give up before.
CHART_TIMEOUT_MINUTES: Final = 10
# The most addresses that the VPC CNI holds on a node: two interfaces of 64, one in use and one in reserve.
ADDRESSES_PER_NODE: Final = 128
