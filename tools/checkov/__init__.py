"""`make checkov`: what checkov finds in the reference deployment, beside what is accepted with a reason."""
