"""From a plan to plain dictionaries and strings: what goes into custom resources. Imports no jsii, no Node process."""
