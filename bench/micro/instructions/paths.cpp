#include "bench/micro/instructions/paths.h"

#include <algorithm>

#include "bench/micro/admission_chain.h"
#include "bench/micro/instructions/daemon_line.h"
#include "bench/micro/instructions/feed_relay.h"
#include "bench/micro/instructions/order_layers.h"
#include "tests/support/payload_frames.h"

namespace spindled::bench {

namespace {

namespace protocol = spindle::protocol;
using spindle::Service;

constexpr std::size_t kBatch = 32;            // messages of a client at a time
constexpr std::size_t kWarmUpMessages = 512;  // after so many nothing grows any more

/// Calls `round`, which handles `batch` messages, for the messages that are counted and those before them.
template <typename Round>
std::size_t repeat(Meter& meter, std::size_t messages, std::size_t batch, Round&& round) {
  for (std::size_t done = 0; done < kWarmUpMessages; done += batch) round();
  meter.start();
  std::size_t done = 0;
  for (; done < messages; done += batch) round();
  return done;
}

std::size_t encode(Meter& meter, std::size_t bytes, std::size_t messages) {
  const std::vector<std::uint8_t> payload(bytes);
  protocol::RequestWriter writer;
  writer.start({});
  writer.open();
  const auto batch = [&] {
    for (std::size_t i = 0; i < kBatch; ++i) {
      SPINDLE_CHECK(!writer.multicast(Service::agreed, "group", std::span(payload), {}));
    }
    while (!writer.output().empty()) writer.consume(writer.output().size());
  };
  return repeat(meter, messages, kBatch, [&] { meter.counted(batch); });
}

std::vector<std::uint8_t> delivered_batch(std::size_t bytes) {
  const std::vector<std::uint8_t> payload(bytes);
  const protocol::MessageHead head{4, 0, "#writer#a", {"group"}, static_cast<std::uint32_t>(bytes), payload};
  std::vector<std::uint8_t> batch;
  for (std::size_t i = 0; i < kBatch; ++i) spindle::test::append_message_frame(batch, head);
  return batch;
}

std::size_t decode(Meter& meter, std::size_t bytes, std::size_t messages) {
  protocol::ClientEngine engine;
  engine.start({});
  std::vector<std::uint8_t> welcome;
  protocol::write_welcome(welcome, {protocol::kClientVersionMax, "#reader#c"});
  engine.handle_bytes(welcome);
  const std::vector<std::uint8_t> input = delivered_batch(bytes);
  const auto batch = [&] {
    engine.handle_bytes(input);
    SPINDLE_CHECK(engine.take_events().size() == kBatch);
  };
  return repeat(meter, messages, kBatch, [&] { meter.counted(batch); });
}

template <std::size_t kCongested>
std::size_t admit(Meter& meter, std::size_t bytes, std::size_t messages) {
  Chain chain(1, 1, kCongested);
  DefinedSet& set = chain.set(0, 0);
  const auto message = [&] { SPINDLE_CHECK(chain.send(set, bytes)); };
  return repeat(meter, messages, 1, [&] { meter.counted(message); });
}

std::size_t order(Meter& meter, std::size_t bytes, std::size_t messages) {
  OrderLayers layers(meter, bytes);
  return repeat(meter, messages, OrderLayers::kMessages, [&] { layers.round(); });
}

/// On the way through three daemons.
auto on_the_line(CountedParts counted, std::size_t readers, Service service) {
  return [=](Meter& meter, std::size_t bytes, std::size_t messages) {
    DaemonLine line(meter, counted, readers, bytes, service);
    return repeat(meter, messages, DaemonLine::kBatch, [&] { line.round(); });
  };
}

template <std::size_t kMembers>
std::size_t feed_packet(Meter& meter, std::size_t bytes, std::size_t messages) {
  FeedRelay relay(meter, kMembers, bytes);
  return repeat(meter, messages, 1, [&] { relay.forward_packet(); });
}

std::size_t feed_nak(Meter& meter, std::size_t bytes, std::size_t messages) {
  FeedRelay relay(meter, 2, bytes);
  return repeat(meter, messages, 1, [&] { relay.turn_nak(); });
}

constexpr CountedParts kFirstDaemon{false, {true, false, false}, false};
constexpr CountedParts kRelay{false, {false, true, false}, false};
constexpr CountedParts kLastDaemon{false, {false, false, true}, false};
constexpr CountedParts kEverything{true, {true, true, true}, true};

}  // namespace

std::span<const Path> paths() {
  static const Path all[] = {
      {"encode", "a client's library makes messages into frames", encode},
      {"admit", "a daemon decides whether a message may enter, no link being congested", admit<0>},
      {"admit-priced", "the same with a congested link on the way", admit<1>},
      {"send", "a daemon reads a client's messages and passes them on", on_the_line(kFirstDaemon, 1, Service::agreed)},
      {"forward", "a relay passes fifo messages on", on_the_line(kRelay, 1, Service::fifo)},
      {"relay-and-order", "a relay passes agreed messages on, and orders them",
       on_the_line(kRelay, 1, Service::agreed)},
      {"order", "the order layers of three daemons, all of which send", order},
      {"deliver-1", "a daemon passes messages from a link on to one client",
       on_the_line(kLastDaemon, 1, Service::agreed)},
      {"deliver-10", "the same to ten clients", on_the_line(kLastDaemon, 10, Service::agreed)},
      {"decode", "a client's library makes frames into events", decode},
      {"feed-packet", "a relay without a cache passes packets of a feed on to one member", feed_packet<1>},
      {"feed-packet-2", "the same to two members", feed_packet<2>},
      {"feed-nak", "a relay turns requests for packets of a feed to a replier", feed_nak},
      {"whole", "client to client, through three daemons", on_the_line(kEverything, 1, Service::agreed)},
  };
  return all;
}

}  // namespace spindled::bench
