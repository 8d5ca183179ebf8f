"""The page of what a change costs."""

from __future__ import annotations

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import RolloutEffects
from tools.pages.table import NOTE, table


def rollout_page() -> str:
    """Return what each kind of change does to a running service."""
    head = (
        "# How a change is rolled out\n\n"
        "Change the specification, run `make synth`, deploy the stacks, apply `dist/` again. What then happens\n"
        "depends on what changed and, for the manifests, on `upgrade.strategy`. A plan carries the same as data:\n"
        "`plan.rollout`. Where several fields change at once, under `new_cluster` a second cluster takes all that the\n"
        "RayService says.\n\n"
        "| part | what it is |\n|---|---|\n"
        "| application | the applications of `serveConfigV2`: engines and their arguments |\n"
        "| proxies | the rest of `serveConfigV2`: options of Serve's HTTP proxies |\n"
        "| pods | the cluster in the RayService, as far as KubeRay compares it |\n"
        "| group_sizes, tolerations | its numbers of pods and its tolerations, which KubeRay does not compare |\n"
        "| service | the RayService's own labels, annotations and fields |\n"
        "| objects | Namespace, ServiceAccount, Services, Ingress and disruption budgets |\n"
        "| identity | the RayService's name and namespace |\n"
        "| nodes | the stack of the GPU nodes |\n"
        "| cluster | the stacks of the cluster and its add-ons, where the specification has one made |\n\n"
        "| effect | meaning |\n|---|---|\n"
        "| in_place | it reaches the running service |\n"
        "| second_cluster | KubeRay starts a second RayCluster with it, moves the traffic, then deletes the first |\n"
        "| ignored | it stays in the RayService and reaches nothing that runs |\n"
        "| new_service | it is another object; the old one stays |\n"
        "| nodes_replaced | EKS replaces the nodes one at a time: new ones first, in a reservation old ones |\n"
        "| second_node_group | CloudFormation makes a second node group beside the first, then deletes the first |\n"
        "| new_stack | it is another stack; the old one stays |\n"
        "| remade | CloudFormation makes a resource of it anew and deletes the first; the note says which |\n\n"
        "A field stands for everything below it as well. What a field that every deployment has does to a cluster\n"
        "that is made here stands in the note.\n\n"
    )
    rows = [
        (
            row.change,
            ", ".join(f"`{field}`" for field in row.fields),
            _effects(row.none),
            _effects(row.new_cluster),
            row.note,
            row.source,
        )
        for row in load_catalog().rollout.values()
    ]
    columns = ("what changes", "fields", "`none`", "`new_cluster`", "what follows", "source")
    return NOTE + head + table(columns, rows)


def _effects(effects: RolloutEffects) -> str:
    return "<br>".join(f"{part}: {effect}" for part, effect in effects.items()) or "nothing changes"
