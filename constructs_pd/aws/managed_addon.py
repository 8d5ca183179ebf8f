"""An add-on that EKS manages."""

from __future__ import annotations

import json
from collections.abc import Mapping

from aws_cdk import aws_eks_v2
from constructs import Construct

from constructs_pd.aws.pod_role import pod_role
from constructs_pd.aws.tags import tag_list
from constructs_pd.planning.cluster_plan import AddonPlan


def managed_addon(
    scope: Construct, *, addon: AddonPlan, cluster_name: str, tags: Mapping[str, str]
) -> aws_eks_v2.CfnAddon:
    """Return the add-on, with a role for its pods where they need one.

    The L2 Addon knows no pod identity and keeps the add-on's software when it is deleted.
    """
    associations = None
    if addon.permissions is not None:
        role = pod_role(scope, f"{addon.name}-role", permissions=addon.permissions, tags=tags)
        associations = [
            aws_eks_v2.CfnAddon.PodIdentityAssociationProperty(
                role_arn=role.role_arn, service_account=addon.permissions.service_account
            )
        ]
    return aws_eks_v2.CfnAddon(
        scope,
        addon.name,
        addon_name=addon.name,
        addon_version=addon.version,
        cluster_name=cluster_name,
        configuration_values=json.dumps(addon.configuration) if addon.configuration else None,
        pod_identity_associations=associations,
        preserve_on_delete=False,
        resolve_conflicts="OVERWRITE",
        tags=tag_list(tags),
    )
