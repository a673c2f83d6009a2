"""What happens, in order: sweep, phase 1, phase 2. Knows the world through ports only."""
