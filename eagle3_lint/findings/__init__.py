"""What the rules report, and which comments silence it."""
