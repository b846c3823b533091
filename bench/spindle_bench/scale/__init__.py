"""What grows with daemons, groups, members and clients."""
