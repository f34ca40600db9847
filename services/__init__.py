"""The verifier services: an application factory, a door for the queue, a folder a verifier."""
