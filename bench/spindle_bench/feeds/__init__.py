"""Feeds over real daemons and sockets, beside other systems that carry streams, and beside TCP."""
