// The seeds of the fuzz corpora, by subject.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace spindle_fuzz {

struct Seed {
  std::string subject;  // the folder: the fuzz target's name without "_fuzz"
  std::string name;
  std::string bytes;
};

using Seeds = std::vector<Seed>;

Seeds all_seeds();

void add_link_frame_seeds(Seeds& seeds);
void add_control_seeds(Seeds& seeds);
void add_client_frame_seeds(Seeds& seeds);
void add_client_engine_seeds(Seeds& seeds);
void add_config_seeds(Seeds& seeds);
void add_message_content_seeds(Seeds& seeds);
void add_node_seeds(Seeds& seeds);
void add_tls_seeds(Seeds& seeds);
void add_bundle_seeds(Seeds& seeds);
void add_raptorq_seeds(Seeds& seeds);
void add_bulk_frame_seeds(Seeds& seeds);
void add_bulk_resume_seeds(Seeds& seeds);
void add_bulk_list_seeds(Seeds& seeds);
void add_bulk_receiver_seeds(Seeds& seeds);
void add_bulk_holder_seeds(Seeds& seeds);
void add_mesh_frame_seeds(Seeds& seeds);
void add_datagram_seeds(Seeds& seeds);

inline std::string as_string(const std::vector<std::uint8_t>& bytes) { return {bytes.begin(), bytes.end()}; }
inline std::string one_byte(unsigned value) { return std::string(1, static_cast<char>(value)); }

}  // namespace spindle_fuzz
