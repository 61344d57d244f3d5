"""Rows in blocks: sources of blocks, engines that pass over them, and the lock-step solver."""
