"""A GRPO trainer that is paid by the verifier services."""
