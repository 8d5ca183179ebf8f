"""The command line: what the planner decides and knows, for people and for programs."""
