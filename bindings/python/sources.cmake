# What of libclient/src the module is made of: all that needs neither sockets of its own nor TLS.
set(spindle_python_parts
  block_pool bulk bulk_impl bulk_io bulk_store bulk_transfer bulk_workers feed_events file_tree fork_guard kept_hashes
  pending_calls received_directory received_file received_place received_stream resolver socket source_directory
  source_stamp stream_source)
list(TRANSFORM spindle_python_parts PREPEND libclient/src/)
list(TRANSFORM spindle_python_parts APPEND .cpp)
