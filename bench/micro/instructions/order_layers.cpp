#include "bench/micro/instructions/order_layers.h"

#include <map>

namespace spindled::bench {

namespace {

constexpr std::size_t kLayers = 3;

View view_of(MemberIndex self) {
  View view;
  view.id = {1, "a"};
  for (const char* name : {"a", "b", "c"}) view.members.push_back({name, 1});
  view.self = self;
  return view;
}

NodeConfig config_of(const View& view) {
  NodeConfig config;
  config.name = view.members[view.self].name;
  return config;
}

}  // namespace

/// One daemon's, which keeps what it sends until that is passed on.
struct OrderLayers::Layer final : StreamTransport, OrderedMessages {
  struct Frame {
    MemberSet to;
    LinkFrame type{};
    std::vector<std::uint8_t> content;
  };

  Layer(Meter& counting, const View& view)
      : meter(counting), context(config_of(view), silence, 1), order(context, *this, *this) {
    order.install(now, view, {});
  }

  // StreamTransport
  void handle(LinkFrame type, FrameHandler handler) override { handlers[type] = std::move(handler); }
  void multicast(const MemberSet& to, const Slice& head, const Slice& tail) override {
    meter.not_counted([&] {
      std::vector<std::uint8_t> body(head.data(), head.data() + head.size());
      body.insert(body.end(), tail.data(), tail.data() + tail.size());
      keep(to, LinkFrame::data, std::move(body));
    });
  }
  void multicast_unreliable(const MemberSet&, const Slice&, const Slice&) override { SPINDLE_CHECK(false); }
  void send(LinkFrame type, const MemberSet& to, ByteView content) override {
    meter.not_counted([&] { keep(to, type, {content.begin(), content.end()}); });
  }
  void arrived(const Frame& frame) {
    const Slice received = context.read_arena.copy(frame.content);
    const FrameHandler& handler = handlers.at(frame.type);
    meter.counted([&] { SPINDLE_CHECK(handler(now, LinkId{}, received)); });
  }

  // OrderedMessages
  void deliver(Time, const Delivery&) override { ++delivered; }
  void horizon_advanced(Time, std::uint64_t) override {}
  void transitional(Time, const MemberSet&) override {}
  void furthest_reached(Time) override {}
  void view_installed(Time, const View&, const MemberSet&) override {}

  void keep(MemberSet to, LinkFrame type, std::vector<std::uint8_t> content) {
    to.erase(order.view().self);
    sent.push_back({std::move(to), type, std::move(content)});
  }

  Meter& meter;
  Silence silence;
  Context context;
  std::map<LinkFrame, FrameHandler> handlers;
  Order order;
  Time now{1s};
  std::vector<Frame> sent;
  std::size_t delivered = 0;
};

OrderLayers::OrderLayers(Meter& meter, std::size_t bytes) : meter_(meter), payload_(bytes) {
  for (std::size_t i = 0; i < kLayers; ++i) {
    layers_.push_back(std::make_unique<Layer>(meter, view_of(static_cast<MemberIndex>(i))));
  }
}

OrderLayers::~OrderLayers() = default;

void OrderLayers::round() {
  for (const auto& layer : layers_) {
    layer->now += 100us;
    layer->delivered = 0;
    meter_.counted([&] { send(*layer); });
  }
  bool more = true;
  while (more) {
    more = false;
    for (const auto& layer : layers_) more = pass_on(*layer) || more;
    for (const auto& layer : layers_) meter_.counted([&] { layer->order.flush(layer->now); });
  }
  for (const auto& layer : layers_) SPINDLE_CHECK(layer->delivered == kMessages);
}

void OrderLayers::send(Layer& layer) {
  const MemberSet everybody = MemberSet::first(kLayers);
  OutgoingMessage message;
  message.service = Service::agreed;
  message.destinations = &everybody;
  message.sender = &sender_;
  // As the daemon does it: small messages are one piece.
  const Slice chunk = layer.context.arena.copy(payload_);
  message.chunks = std::span(&chunk, 1);
  for (std::size_t i = 0; i < kMessages / kLayers; ++i) layer.order.originate(layer.now, message);
  layer.order.handle_time(layer.now);
  layer.order.flush(layer.now);
}

bool OrderLayers::pass_on(Layer& from) {
  const std::vector<Layer::Frame> frames = std::exchange(from.sent, {});
  for (const Layer::Frame& frame : frames) {
    frame.to.for_each([&](MemberIndex member) { layers_[member]->arrived(frame); });
  }
  return !frames.empty();
}

}  // namespace spindled::bench
