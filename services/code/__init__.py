"""The code verifier: runs a program in a sandbox, and judges outside it what came back."""
