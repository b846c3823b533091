// A slow link a short way from those who send over it.
#pragma once

#include <string>
#include <vector>

#include "tests/sim/ask_admin.h"
#include "tests/sim/scenario.h"

namespace spindled::sim {

class Bottleneck : public Scenario {
 protected:
  /// d000 - d001 - d002, of which the second link carries a hundredth of the first; further daemons behind them.
  void simulate_bottleneck(std::uint64_t seed, std::size_t daemons = 3) {
    NodeConfig node;
    node.admission.queue_packets = 50;
    simulate_cluster(seed, Shape::line, daemons, node);
    PathProperties narrow;
    narrow.bytes_per_second = 250'000;
    narrow.send_buffer = 4096;
    sim().network().set_path(1, 2, narrow);
  }
  /// A client behind the slow link, the only member of these groups. The caller has to look for a fatal failure.
  SimClient& add_receiver(const std::vector<std::string>& groups) {
    SimClient& far = sim().add_client(sim().host(2), "far");
    for (const std::string& group : groups) far.join(group);
    for (const std::string& group : groups) await_group_view({&far}, group);
    return far;
  }
  spindle::admin::FlowReply flow(std::size_t host, std::uint32_t limit = 0) {
    spindle::admin::Request request;
    request.mutable_flow()->set_limit(limit);
    return ask_admin(sim(), host, request).flow();
  }
  /// What d001 says of the slow link.
  static spindle::admin::PricedLink narrow_link(const spindle::admin::FlowReply& reply) {
    for (const spindle::admin::PricedLink& link : reply.links()) {
      if (link.peer() == "d002") return link;
    }
    return {};
  }
  /// A client that has far more to send than the network takes.
  SimClient& add_flooder(std::size_t host, const std::string& name, const std::string& group, std::size_t messages) {
    SimClient& client = sim().add_client(sim().host(host), name);
    for (std::size_t i = 0; i < messages; ++i) client.multicast({group}, {.size = 1000, .self_discard = true});
    return client;
  }
};

}  // namespace spindled::sim
