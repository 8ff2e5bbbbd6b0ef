"""What a run remembers for the next: facts by content, and whole answers by everything that they depend on."""
