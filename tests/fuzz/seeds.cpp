#include "tests/fuzz/seeds.h"

namespace spindle_fuzz {

Seeds all_seeds() {
  Seeds seeds;
  add_link_frame_seeds(seeds);
  add_control_seeds(seeds);
  add_client_frame_seeds(seeds);
  add_client_engine_seeds(seeds);
  add_config_seeds(seeds);
  add_message_content_seeds(seeds);
  add_node_seeds(seeds);
  add_tls_seeds(seeds);
  add_bundle_seeds(seeds);
  add_raptorq_seeds(seeds);
  add_bulk_frame_seeds(seeds);
  add_bulk_resume_seeds(seeds);
  add_bulk_list_seeds(seeds);
  add_bulk_receiver_seeds(seeds);
  add_bulk_holder_seeds(seeds);
  add_mesh_frame_seeds(seeds);
  add_datagram_seeds(seeds);
  return seeds;
}

}  // namespace spindle_fuzz
