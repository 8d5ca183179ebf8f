"""Every rule, one file each. A rule is in force when it stands in this list."""

from __future__ import annotations

from typing import Final

from constructs_pd.planning.rules import (
    pd101_name,
    pd102_namespace,
    pd103_zone,
    pd104_acknowledge,
    pd105_balancer_subnets,
    pd106_literal_secret,
    pd201_instance_type,
    pd202_tensor_parallel,
    pd204_idle_gpus,
    pd205_model,
    pd206_gpudirect,
    pd207_context,
    pd301_tensor_parallel_pair,
    pd401_image,
    pd402_kubernetes,
    pd403_extended_support,
    pd404_kuberay,
)
from constructs_pd.planning.rules.rule import Rule

RULES: Final[tuple[Rule, ...]] = (
    pd101_name.RULE,
    pd102_namespace.RULE,
    pd103_zone.RULE,
    pd104_acknowledge.RULE,
    pd105_balancer_subnets.RULE,
    pd106_literal_secret.RULE,
    pd201_instance_type.RULE,
    pd202_tensor_parallel.RULE,
    pd204_idle_gpus.RULE,
    pd205_model.RULE,
    pd206_gpudirect.RULE,
    pd207_context.RULE,
    pd301_tensor_parallel_pair.RULE,
    pd401_image.RULE,
    pd402_kubernetes.RULE,
    pd403_extended_support.RULE,
    pd404_kuberay.RULE,
)
