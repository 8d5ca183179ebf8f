"""How fast a deployment is: a roofline of each step, queues before it, and what follows for how many of each."""
