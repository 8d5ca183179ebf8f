"""Types of text that Kubernetes, EC2 or a shell accepts, by their patterns."""

from typing import Annotated

from pydantic import Field

# RFC 1123 subdomain, what Kubernetes accepts as the name of a Secret or a claim.
ObjectName = Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")]
# Kubernetes label syntax: an optional DNS prefix and a name; a value may be empty.
LabelKey = Annotated[
    str,
    Field(max_length=317, pattern=r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"),
]
LabelValue = Annotated[str, Field(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$")]
# C identifier, what Kubernetes and a shell both accept.
EnvironmentName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
SubnetId = Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8}([0-9a-f]{9})?$")]
AbsolutePath = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._-]*[A-Za-z0-9_-])+$")]
