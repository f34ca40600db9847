"""Plugs for other RL stacks: a thin file each, imported only by those who use it."""
