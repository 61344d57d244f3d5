"""The commands of `clearning` on tables, a file each; what they need is imported when they run."""
