"""Types of text that Kubernetes, EC2 or a shell accepts, by their patterns."""

import math
from datetime import date
from typing import Annotated, Final, TypeVar

from pydantic import AfterValidator, Field, JsonValue
from pydantic_core import PydanticCustomError

# Kubernetes documentation, Object Names and IDs; RFC 1035 and RFC 1123.
DNS_1035_LABEL: Final = r"[a-z]([-a-z0-9]*[a-z0-9])?"
DNS_1123_LABEL: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{DNS_1123_LABEL}(\.{DNS_1123_LABEL})*"
_LABEL_NAME: Final = r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"

# What Kubernetes accepts as the name of a Secret or a claim.
ObjectName = Annotated[str, Field(max_length=253, pattern=rf"^{_SUBDOMAIN}$")]
# Kubernetes label syntax: an optional DNS prefix and a name; a value may be empty.
LabelKey = Annotated[str, Field(max_length=317, pattern=rf"^({_SUBDOMAIN}/)?{_LABEL_NAME}$")]
LabelValue = Annotated[str, Field(pattern=rf"^({_LABEL_NAME})?$")]
# C identifier, what Kubernetes and a shell both accept.
EnvironmentName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
# No container starts with a NUL in its environment.
EnvironmentValue = Annotated[str, Field(pattern=r"^[^\x00]*$")]
SubnetId = Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8}([0-9a-f]{9})?$")]
AmiId = Annotated[str, Field(pattern=r"^ami-[0-9a-f]{8}([0-9a-f]{9})?$")]
# EKS API, CreateCluster.
ClusterName = Annotated[str, Field(pattern=r"^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$")]
# IPv4 addresses; what the range may be is a rule's matter.
Cidr = Annotated[str, Field(pattern=r"^(\d{1,3}\.){3}\d{1,3}/\d{1,2}$")]
PlacementGroupName = Annotated[str, Field(pattern=r"^[ -~]{1,255}$")]
# What every AWS service accepts in tags.
TagKey = Annotated[str, Field(pattern=r"^[A-Za-z0-9 _.:/=+@-]{1,128}$")]
TagValue = Annotated[str, Field(pattern=r"^[A-Za-z0-9 _.:/=+@-]{0,256}$")]
AbsolutePath = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._-]*[A-Za-z0-9_-])+$")]


Text = TypeVar("Text", bound=str)


def unique(names: tuple[Text, ...]) -> tuple[Text, ...]:
    """Return a list that holds each name once.

    Raises:
        PydanticCustomError: It holds one more than once.
    """
    if len(set(names)) < len(names):
        raise PydanticCustomError("duplicate", "the list holds a name more than once")
    return names


def ends_with_a_day(release: str) -> str:
    """Return the release of an AMI, whose last eight digits are the day on which it was built.

    Raises:
        PydanticCustomError: There is no such day.
    """
    try:
        date.fromisoformat(release.rpartition("-")[2])
    except ValueError as error:
        raise PydanticCustomError("day", "the last eight digits are no day of the calendar") from error
    return release


def finite(value: JsonValue) -> JsonValue:
    """Return a value of JSON whose numbers are all finite: Python reads others in YAML, and JSON has none.

    Raises:
        PydanticCustomError: A number is infinite or no number.
    """
    if isinstance(value, float) and not math.isfinite(value):
        raise PydanticCustomError("finite_number", "a number must be finite, not {value}", {"value": str(value)})
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        finite(inner)
    return value


# A release of an EKS AMI: the Kubernetes patch version and the day of its build.
AmiRelease = Annotated[str, Field(pattern=r"^1\.\d+\.\d+-\d{8}$"), AfterValidator(ends_with_a_day)]
FiniteJson = Annotated[JsonValue, AfterValidator(finite)]
# A list that Kubernetes keeps as a set.
ObjectNames = Annotated[tuple[ObjectName, ...], Field(strict=False), AfterValidator(unique)]
