"""What the papers printed, and the recipe that makes each of their tables again."""
