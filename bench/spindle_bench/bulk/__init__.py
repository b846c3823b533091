"""Bulk channels over real daemons and sockets, beside plain TCP and other programs that bring a file to many hosts."""
