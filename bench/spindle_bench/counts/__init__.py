"""Instructions per message, as callgrind counts them."""
