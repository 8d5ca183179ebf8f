"""How well the planner's estimates agree with what others measured."""
